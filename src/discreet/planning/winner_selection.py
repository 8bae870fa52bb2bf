"""`ORDER BY COUNT(*) DESC LIMIT 1` with mechanism = choose: groups compete, and only the keys of the winners are released and charged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from discreet.algebra.query import Choose, MeasureKind, Query
from discreet.algebra.released_expressions import After, ColumnOf, Estimate, Release, Select, Sorted, View, parts_of
from discreet.errors import NotAllowed
from discreet.sql.reader.queries import Reading

_SCORES = (MeasureKind.ROWS, MeasureKind.PEOPLE, MeasureKind.PRESENT, MeasureKind.TOTAL)
MOST_WINNERS = 100


def as_choice(reading: Reading) -> Reading:
    """Return the query with its groups competing for the LIMIT winners, or refuse it if it has another form."""
    view, shown = _sorted(reading.view)
    release = view.table
    if len(reading.queries) != 1 or not isinstance(release, Release) or release.having is not None:
        raise _not_a_choice()
    query = reading.queries[release.query]
    measure = _score(view, release, query)
    columns = tuple(release.columns[at] for at in shown)
    beside = {number for _, after in columns for number in _measures(after)}
    kept = [index for index in range(len(query.measures)) if index in beside or index == measure]
    renumbered = {index: at for at, index in enumerate(kept)}
    # A number shown with the winners is one more measure with its own cost, even if it is the score itself.
    measures = [query.measures[index] for index in kept]
    if measure in beside:
        measures.append(query.measures[measure])
        renumbered[measure] = len(measures) - 1
    competing = replace(query, measures=tuple(measures), choose=Choose(kept.index(measure), _places(view.limit, query)))
    made = Release(0, tuple((name, _with(after, renumbered)) for name, after in columns))
    return replace(reading, queries=(competing,), view=made)


def _sorted(view: View) -> tuple[Sorted, list[int]]:
    """Return the sorted table, and which of its columns are shown."""
    if isinstance(view, Select) and isinstance(view.table, Sorted) and view.where is None:
        columns = [after.at for _, after in view.columns if isinstance(after, ColumnOf)]
        return view.table, columns
    if isinstance(view, Sorted) and isinstance(view.table, Release):
        return view, list(range(len(view.table.columns)))
    raise _not_a_choice()


def _score(view: Sorted, release: Release, query: Query) -> int:
    """Return the measure that groups compete by: a count or a total that no row can lower."""
    if len(view.order) != 1 or view.limit is None:
        raise _not_a_choice()
    (key, falling) = view.order[0]
    after = release.columns[key.at][1] if isinstance(key, ColumnOf) else key
    private = any(key.values is None for key in query.keys)
    if not falling or private or len(query.sets) != 1 or not query.keys or not isinstance(after, Estimate):
        raise _not_a_choice()
    measure = query.measures[after.measures[0]]
    if after.kind != "measure" or measure.kind not in _SCORES or not measure.is_one_signed:
        raise _not_a_choice()
    return after.measures[0]


def _places(limit: int | None, query: Query) -> int:
    groups = query.groups_in(query.sets[0]) or 0
    count = min(limit or 0, groups)
    if not 1 <= count <= MOST_WINNERS:
        raise NotAllowed("LIMIT must be from 1 to 100 here.", next_step="Write LIMIT 1.")
    return count


def _measures(after: After) -> Iterator[int]:
    return (number for part in parts_of(after) if isinstance(part, Estimate) for number in part.measures)


def _with(after: After, numbers: dict[int, int]) -> After:
    """Return an expression with the new numbers of its measures. Only plain columns may be shown with winners."""
    if isinstance(after, Estimate):
        return replace(after, measures=tuple(numbers[index] for index in after.measures))
    if any(isinstance(part, Estimate) for part in parts_of(after)):
        raise _not_a_choice()
    return after


def _not_a_choice() -> NotAllowed:
    return NotAllowed(
        "mechanism = choose needs groups with declared values, ordered by a count or a total that cannot be negative, and a LIMIT.",
        next_step="Write SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1.",
    )
