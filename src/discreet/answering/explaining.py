"""What a plan would read, measure and cost, told without a look at a protected row."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.algebra.after import KeyOf, Pairs, Release, Stacked, View
from discreet.algebra.question import Kind, Measure, Question
from discreet.algebra.relations import Join, Mark, Relation, Scan, Stack
from discreet.answering.face import CONFIDENCE, GroupFacts, MeasureFacts
from discreet.answering.plan import Plan, Priced
from discreet.catalog import Catalog
from discreet.exact import exact
from discreet.mechanisms import Gaussian, Mechanism, Quantile


def tables_of(plan: Plan) -> tuple[str, ...]:
    """The tables that are read, protected ones first."""
    scans = [scan for question in plan.questions for scan in _scans(question.rows)]
    ordered = sorted(scans, key=lambda scan: scan.table.is_public)
    return tuple(dict.fromkeys(scan.table.name for scan in ordered))


def _scans(relation: Relation) -> Iterator[Scan]:
    match relation:
        case Scan():
            yield relation
        case Join():
            yield from _scans(relation.left)
            yield from _scans(relation.right)
        case Stack():
            for part in relation.parts:
                yield from _scans(part)
        case Mark():
            yield from _scans(relation.rows)
            yield from _scans(relation.others)
        case _:
            yield from _scans(relation.rows)


def person_of(plan: Plan, catalog: Catalog) -> str:
    """The column that names the person."""
    units = [catalog.tables[name].unit for name in tables_of(plan)]
    return next(unit.column for unit in units if unit is not None)


def bounding_of(plan: Plan) -> str:
    """How a person's rows are bounded."""
    said = []
    for question in plan.questions:
        limits = question.limits
        rows = f"at most {limits.rows} rows"
        if limits.groups is not None:
            rows += f", in {limits.groups} groups of {limits.rows_per_group}"
        how = "cut by this question, after its WHERE" if question.is_cut else "bounded in the snapshot, before its WHERE"
        said.append(f"{rows}: {how}")
    return "; ".join(dict.fromkeys(said))


def keys_of(plan: Plan) -> tuple[GroupFacts, ...]:
    """Every key with its public values, under the name that the answer gives it."""
    names = dict(_key_names(plan.view))
    return tuple(
        GroupFacts(names.get((number, at), f"key {at + 1}"), None if key.values is None else len(key.values))
        for number, question in enumerate(plan.questions)
        for at, key in enumerate(question.keys)
    )


def _key_names(view: View) -> Iterator[tuple[tuple[int, int], str]]:
    """(question, key) and the name of the column that shows it."""
    if isinstance(view, Release):
        yield from (((view.question, after.key), name) for name, after in view.columns if isinstance(after, KeyOf))
    elif isinstance(view, Pairs):
        yield from _key_names(view.left)
        yield from _key_names(view.right)
    elif isinstance(view, Stacked):
        for table in view.tables:
            yield from _key_names(table)
    else:
        yield from _key_names(view.table)


def groups_of(plan: Plan) -> int | None:
    """How many groups appear in all, where that is public."""
    counts = [question.groups_in(keys) for question in plan.questions for keys in question.sets]
    return None if None in counts else sum(count or 0 for count in counts)


def measures_of(plan: Plan) -> tuple[MeasureFacts, ...]:
    """Every measure of every grouping, with its sensitivity and its noise."""
    return tuple(
        _measure(question, part, index)
        for question, parts in zip(plan.questions, plan.priced, strict=True)
        for part in parts
        for index, mechanisms in enumerate(part.mechanisms)
        if mechanisms
    )


def _measure(question: Question, part: Priced, index: int) -> MeasureFacts:
    measure, mechanism = question.measures[index], part.mechanisms[index][0]
    by = tuple(f"key {key + 1}" for key in part.keys)
    name = type(mechanism).__name__
    if isinstance(mechanism, Quantile):
        moves = float(exact(mechanism.selection.sensitivity)) / exact(mechanism.q).limit_denominator(10**9).denominator
        return MeasureFacts(measure.kind.value, by, name, moves, None, None, float(mechanism.error(CONFIDENCE)))
    unit = unit_of(measure)
    return MeasureFacts(
        measure.kind.value,
        by,
        name,
        float(exact(mechanism.sensitivity)) * unit,  # type: ignore[attr-defined]  # every other mechanism here has one
        _scale(mechanism) * unit,
        float(exact(mechanism.error(CONFIDENCE))) * unit,
    )


def _scale(mechanism: Mechanism) -> float:
    return float(mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale)  # type: ignore[attr-defined]


def unit_of(measure: Measure) -> float:
    """What one step of a measure is worth."""
    return float(measure.steps[0].step) if measure.kind is Kind.TOTAL else 1.0
