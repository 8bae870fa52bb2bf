"""An engine beside the interpreter: the same questions, the same data, and where they part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from discreet.algebra.expressions import Call, Expression, Field, Literal
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query
from discreet.algebra.relations import Relation
from discreet.catalog import Type
from tests.reference.interpreter import Cell, Interpreter
from tests.reference.random_queries import Queries
from tests.reference.snapshot import snapshot_of
from tests.reference.worlds import World, random_world

SALT = "salt"
Cells = dict[tuple[Any, ...], Cell]
_PYTHON = {Type.INTEGER: int, Type.REAL: float, Type.TEXT: str, Type.BOOLEAN: bool}


def from_exact_rows(rows: Sequence[Any]) -> list[Cells]:
    """What an engine gives, as the interpreter writes it; the number of people is None where it was not asked for."""
    return [_cells(exact) for exact in rows]


def _cells(exact: Any) -> Cells:
    count = _length(exact)
    keys = list(zip(*(column.to_pylist() for column in exact.keys), strict=True)) if exact.keys else [()] * count
    if len(set(keys)) != len(keys):
        message = "a group stands twice"
        raise AssertionError(message)
    cells: Cells = {}
    for place, key in enumerate(keys):
        measures: Cell = [_whole(column[place]) for column in exact.measures]
        for number in exact.histograms:
            measures[number] = Counter()
        cells[key] = [*measures, None if exact.people is None else _whole(exact.people[place])]
    for number, (groups, bins, counts) in exact.histograms.items():
        for group, bin_, count in zip(groups, bins, counts, strict=True):
            cells[keys[int(group)]][number][_whole(bin_)] += _whole(count)
    return cells


def _length(exact: Any) -> int:
    if exact.keys:
        return len(exact.keys[0])
    return len(exact.measures[0]) if exact.measures else 1


def _whole(value: Any) -> int:
    """Integers, and nothing that went through a double."""
    assert isinstance(value, int | np.integer), type(value)
    return int(value)


def differences(query: Query, expected: list[Cells], given: list[Cells]) -> list[str]:
    """Where two answers part; people are compared where the engine was to count them, and groups that are not declared are nobody's: the
    release drops them.
    """
    wrong = []
    for numbers, ours, theirs in zip(query.sets, expected, given, strict=True):
        private = any(query.keys[number].values is None for number in numbers)
        declared = [query.keys[number].values for number in numbers]
        for key in sorted({*ours, *theirs}, key=repr):
            if any(values is not None and value not in values for value, values in zip(key, declared, strict=True)):
                continue
            a, b = ours.get(key), theirs.get(key)
            if a is not None and b is not None and b[-1] is None and not private:
                a = [*a[:-1], None]
            if a != b or (a is not None and not _alike(key, ours, theirs)):
                wrong.append(f"set {numbers} group {key!r}: interpreter {a}, engine {b}")
    return wrong


def _alike(key: tuple[Any, ...], ours: Cells, theirs: Cells) -> bool:
    """Whether equal keys have equal types: True is not 1, and 0.0 not -0.0."""
    a, b = (next(other for other in cells if other == key) for cells in (ours, theirs))
    return repr(a) == repr(b)


@dataclass(frozen=True)
class Disagreement:
    """A question that two answer differently, with the smallest part of it that they already differ about."""

    seed: int
    number: int
    query: Query
    what: str
    least: str

    def __str__(self) -> str:
        return f"seed {self.seed} question {self.number}: {self.what}\n  least: {self.least}"


class Bench:
    """One world with an engine and the interpreter on it."""

    def __init__(self, world: World, engine: Any, *, salt: str = SALT) -> None:
        self.world, self.engine = world, engine
        self.oracle = Interpreter(snapshot_of(world.catalog, world.rows, salt=salt), salt=salt)

    def wrong(self, query: Query) -> list[str]:
        """Where the two part on a question; a failure of the engine is one."""
        expected = self.oracle.answer(query)
        try:
            given = from_exact_rows(self.engine.run(query, cancelled=None))
        except Exception as error:  # noqa: BLE001  whatever it is, it must not happen
            cause = error.__cause__ or error.__context__ or error
            return [f"the engine failed: {type(error).__name__}: {cause}"]
        return differences(query, expected, given)

    def least(self, query: Query) -> str:
        """The smallest relation or expression within a question whose values differ."""
        for relation in relations_in(query.rows):
            if relation.is_public:
                continue
            for expression in _expressions_over(relation, query):
                asked = _values_of(relation, expression)
                if asked is not None and (wrong := self.wrong(asked)):
                    return f"{written(expression)} over {written(relation)}: {wrong[0][:500]}"
        for measure in query.measures:
            alone = Query(rows=query.rows, keys=(), measures=(measure,), limits=ContributionBounds(rows=10**7))
            if wrong := self.wrong(alone):
                return f"{written(measure)} over {written(query.rows)}: {wrong[0][:500]}"
        return self._shrunk(query)

    def _shrunk(self, query: Query) -> str:
        """The question with whatever can be left out left out."""
        smaller = True
        while smaller:
            smaller = False
            for candidate in _smaller(query):
                if self.wrong(candidate):
                    query, smaller = candidate, True
                    break
        return f"{written(query)}: {self.wrong(query)[0][:500]}"


def _smaller(query: Query) -> Iterator[Query]:
    """Questions with one part less, over the same or a lower relation."""
    yield from _fewer_parts(query)
    for at in range(len(query.keys)):
        keys = query.keys[:at] + query.keys[at + 1 :]
        yield replace(query, keys=keys, sets=(tuple(range(len(keys))),))
    for at, measure in enumerate(query.measures):
        if measure.where is not None:
            plain = replace(measure, where=None)
            yield replace(query, measures=(*query.measures[:at], plain, *query.measures[at + 1 :]))
    rows = (Measure(kind=MeasureKind.ROWS),)
    for relation in relations_in(query.rows):
        if relation is not query.rows and not relation.is_public and len(query.measures) == 1:
            yield replace(query, rows=relation, keys=(), measures=rows, sets=((),))
            yield replace(query, rows=relation, keys=(Key(relation.field(0), None),), measures=rows, sets=((0,),))


def _fewer_parts(query: Query) -> Iterator[Query]:
    if len(query.sets) > 1:
        yield from (replace(query, sets=(chosen,)) for chosen in query.sets)
    if len(query.measures) > 1:
        yield replace(query, measures=(Measure(kind=MeasureKind.ROWS),))
        yield from (replace(query, measures=(measure,)) for measure in query.measures)
    if query.limits.groups is not None:
        yield replace(query, limits=ContributionBounds(rows=query.limits.rows))


def _values_of(relation: Relation, expression: Expression) -> Query | None:
    """All values of an expression with how often they stand, uncut."""
    try:
        return Query(
            rows=relation,
            keys=(Key(expression, None),),
            measures=(Measure(kind=MeasureKind.ROWS),),
            limits=ContributionBounds(rows=10**7),
            sets=((0,),),
        )
    except ValueError:
        return None


def _expressions_over(relation: Relation, query: Query) -> Iterator[Expression]:
    """The columns of a relation; then, innermost first, whatever a node directly above it computes."""
    yield from (relation.field(at) for at in range(len(relation.columns)))
    above = [part for part in relations_in(query.rows) if getattr(part, "rows", None) is relation]
    nodes: list[Any] = [*above, query] if query.rows is relation else list(above)
    for node in nodes:
        for found in _outermost(node):
            yield from _innermost_first(found)


def _outermost(node: Any) -> Iterator[Expression]:
    """Expressions in the fields of a node over its `rows`, other relations aside."""
    if isinstance(node, Field | Literal | Call):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from _outermost(part)
    elif is_dataclass(node):
        names = {part.name for part in fields(node)} - {
            "shape",
            "rows",
            "others",
            "left",
            "right",
            "parts",
            "table",
            "person",
            "on",
            "properties",
        }
        names -= {"keys"} if hasattr(node, "others") else set()
        for name in sorted(names):
            yield from _outermost(getattr(node, name))


def _innermost_first(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call):
        for arg in expression.args:
            yield from _innermost_first(arg)
    yield expression


def relations_in(relation: Relation) -> Iterator[Relation]:
    """A relation and all below it, the lowest first."""
    below = [getattr(relation, name) for name in ("rows", "others", "left", "right") if hasattr(relation, name)]
    for part in (*below, *getattr(relation, "parts", ())):
        yield from relations_in(part)
    yield relation


def written(node: Any) -> str:
    """A tree on one line, without properties."""
    if isinstance(node, Field):
        return f"c{node.at}"
    if isinstance(node, Literal):
        return "NULL" if node.value is None else repr(node.value)
    if isinstance(node, Call):
        return f"{node.function.name}({', '.join(map(written, node.args))})"
    if isinstance(node, tuple):
        return f"[{', '.join(map(written, node))}]"
    if hasattr(node, "table"):
        return f"Scan({node.table.name}, most={node.most})"
    if is_dataclass(node):
        parts = {
            part.name: getattr(node, part.name) for part in fields(node) if part.name not in ("shape", "properties")
        }
        return f"{type(node).__name__}({', '.join(f'{name}={written(value)}' for name, value in parts.items() if value is not None and value != ())})"
    return str(node)


def sizes_of(world: World) -> dict[str, int]:
    return {name: len(rows) for name, rows in world.rows.items()}


def world_of(seed: int, number: int) -> World:
    """Worlds in turn: people named by integers and by text, everybody listed in a table in every third."""
    return random_world(seed, text_people=bool(number % 2), is_listed=number % 3 == 2)


def compare(seed: int, count: int, *, per_world: int = 150, stop: int = 20) -> list[Disagreement]:
    """`count` random questions over random worlds, through the engine and the interpreter."""
    from discreet.engines import DuckEngine

    found: list[Disagreement] = []
    for start in range(0, count, per_world):
        place = seed * 1_000_003 + start
        world = world_of(place, start // per_world)
        engine = DuckEngine(world.catalog, salt=SALT, frames=world.frames())
        bench, queries = Bench(world, engine), Queries(place, world.catalog, sizes_of(world))
        for number in range(min(per_world, count - start)):
            query = queries.draw()
            if wrong := bench.wrong(query):
                found.append(Disagreement(place, number, query, wrong[0][:500], bench.least(query)))
                if len(found) >= stop:
                    return found
        engine.close()
    return found
