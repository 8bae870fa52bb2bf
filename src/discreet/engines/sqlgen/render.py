"""Render relations as SELECTs in one walk over the tree. Joins, groups and windows always equate or partition by the person here.

Every relation has the columns `o` (its person, unless it is public), `i1 …` (its ids) and `c1 …` (its columns), with `s1 …` (stored
grid steps) and `u1 …` (stored repeat numbers) beside columns that have them; only those that are read are rendered. Public relations
that are joined with protected rows are prepared as tables beforehand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from discreet.algebra.aggregates import Aggregate, Fold
from discreet.algebra.expressions import Expression, Field, Literal
from discreet.algebra.grids import Grid
from discreet.algebra.relations import (
    Filter,
    Join,
    JoinKind,
    Mark,
    PerPerson,
    Project,
    Relation,
    Scan,
    UnionAll,
    Windowed,
)
from discreet.engines.duckdb.snapshot import DATA, WORK
from discreet.engines.sqlgen import window_clause
from discreet.engines.sqlgen.common_subexpressions import Levels, Sides
from discreet.engines.sqlgen.condition_size import is_heavy
from discreet.engines.sqlgen.dialects import duckdb as dialect
from discreet.errors import TooLarge

LONGEST_STATEMENT = 200_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """A public relation as a table, its rows numbered (`nth`) within the join columns. The name is a digest of the whole definition."""

    sql: str
    keys: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{WORK}.p{hashlib.sha256(self.sql.encode()).hexdigest()[:40]}"


def prepared(relation: Relation, keys: Iterable[int]) -> Prepared:
    """Write a public relation, computed alone and in a total order before any protected row is read."""
    positions = tuple(sorted(set(keys)))
    window = window_clause.window([f"c{at + 1}" for at in positions], window_clause.by(ids(relation)))
    rows = Renderer().relation(relation)
    return Prepared(checked(f"SELECT *, row_number() OVER ({window}) AS nth FROM ({rows})"), positions)


def checked(statement: str) -> str:
    """Return the statement, or refuse one that is too long."""
    if len(statement) > LONGEST_STATEMENT:
        raise TooLarge("The query is too long.", next_step="Split it into several queries.")
    return statement


class Renderer:
    """Renders one statement; `tables` collects the prepared public relations that it reads."""

    def __init__(self) -> None:
        self.tables: dict[str, Prepared] = {}
        self._aliases, self._values = _names("t"), _names("v")

    def relation(self, relation: Relation, need: Collection[str] | None = None) -> str:
        """Render a SELECT of the relation's rows with the needed columns (default: all)."""
        names = columns(relation)
        kept = [name for name in names if need is None or name in need]
        match relation:
            case Scan():
                return _scan(relation, kept)
            case Filter():
                closed = is_heavy([relation.condition], relation.rows)
                return self._keep(
                    relation.condition, kept, lambda need: self.relation(relation.rows, need), closed=closed
                )
            case Project():
                return self._compute(relation, kept)
            case Join():
                return self._join(relation, kept)
            case Mark():
                return self._mark(relation, kept)
            case PerPerson():
                return self._per_person(relation, kept)
            case Windowed():
                return self._windowed(relation, kept)
        return self._stack(relation, kept)

    def levels(self) -> Levels:
        return Levels(lambda: next(self._values))

    def steps(self, levels: Levels, rows: Relation, value: Expression, steps: Grid) -> str:
        """Write a value as grid steps: the stored ones if there are any, clamped in any case."""
        if isinstance(value, Field) and rows.columns[value.at].step == steps.step:
            name = levels.column("s", value.at)
        else:
            name = levels.computed(value, lambda name: dialect.steps_of(name, value.properties.type, steps))
        return dialect.clamped(name, steps.low, steps.high)

    # Rows of one relation

    def _keep(
        self, condition: Expression, kept: list[str], below: Callable[[Collection[str]], str], *, closed: bool
    ) -> str:
        levels = self.levels()
        text = levels.text(condition)
        source = levels.source(f"({below({*kept, *levels.used})})", closed=closed)
        return f"{_select(kept)} FROM {source} WHERE {text}"

    def _compute(self, relation: Project, kept: list[str]) -> str:
        levels = self.levels()
        parts = [name for name in kept if name[0] in "oi"]
        need = set(parts)
        for at, expression in enumerate(relation.expressions, start=1):
            if f"c{at}" in kept:
                parts.append(f"{levels.text(expression)} AS c{at}")
            if isinstance(expression, Field):
                parts += [
                    f"{levels.column(letter, expression.at)} AS {letter}{at}"
                    for letter in "su"
                    if f"{letter}{at}" in kept
                ]
        return f"{_select(parts)} FROM {levels.source(f'({self.relation(relation.rows, need | levels.used)})')}"

    def _stack(self, relation: UnionAll, kept: list[str]) -> str:
        kinds = relation.shape.ids[1:]
        selects, start = [], 0
        plain = [name for name in kept if name[0] != "i"]
        for number, part in enumerate(relation.parts):
            own = range(start, start + len(part.shape.ids))
            texts = [
                f"i{at - start + 1}" if at in own else dialect.literal(kind, None) for at, kind in enumerate(kinds)
            ]
            texts = [dialect.integer(number), *texts]
            named = [f"{text} AS i{at}" for at, text in enumerate(texts, start=1) if f"i{at}" in kept]
            below = self.relation(part, {*plain, *(ids(part) if named else ())})
            selects.append(f"{_select([*named, *plain])} FROM ({below})")
            start += len(part.shape.ids)
        return " UNION ALL ".join(selects)

    # Two relations

    def _join(self, join: Join, kept: list[str]) -> str:
        if join.on is None or join.how is not JoinKind.INNER:
            return self._pairs(join, kept, join.on)
        closed = is_heavy([join.on], join.left, join.right)
        every = columns(join)
        return self._keep(
            join.on, kept, lambda need: self._pairs(join, [name for name in every if name in need], None), closed=closed
        )

    def _pairs(self, join: Join, kept: list[str], on: Expression | None) -> str:
        a, b = join.left, join.right
        names = next(self._aliases), next(self._aliases)
        sides = (self.levels(), self.levels())
        conditions = [*self._matching(join, a, b, names, sides), *_uniquely(join, names, sides)]
        if on is not None:
            conditions.append(Sides(width=len(a.columns), names=names, levels=sides).text(on))
        parts = list(_both(join, kept, names, sides))
        closed = _is_heavy_between(join, a, b, on)
        left = self._side(a, [at for key, _ in join.keys for at in _places(key)], sides[0], meets=b, closed=closed)
        right = self._side(b, [at for _, key in join.keys for at in _places(key)], sides[1], meets=a, closed=closed)
        words = {JoinKind.INNER: "JOIN", JoinKind.LEFT: "LEFT JOIN", JoinKind.FULL: "FULL JOIN"}
        return f"{_select(parts)} FROM {left} AS {names[0]} {words[join.how]} {right} AS {names[1]} ON {_every(conditions)}"

    def _mark(self, mark: Mark, kept: list[str]) -> str:
        shown = f"c{len(mark.columns)}"
        if shown not in kept:
            return self.relation(mark.rows, kept)
        names = next(self._aliases), next(self._aliases)
        sides = (self.levels(), self.levels())
        conditions = self._matching(mark, mark.rows, mark.others, names, sides)
        if mark.on is not None:
            conditions.append(Sides(width=len(mark.rows.columns), names=names, levels=sides).text(mark.on))
        closed = _is_heavy_between(mark, mark.rows, mark.others, mark.on)
        positions = [at for _, key in mark.keys for at in _places(key)]
        others = self._side(mark.others, positions, sides[1], meets=mark.rows, closed=closed)
        plain = [name for name in kept if name != shown]
        rows = sides[0].source(f"({self.relation(mark.rows, {*plain, *sides[0].used})})")
        found = f"EXISTS (SELECT 1 FROM {others} AS {names[1]} WHERE {_every(conditions)}) AS {shown}"
        select = _select([*(f"{names[0]}.{name}" for name in plain), found])
        if closed:  # outer columns in a subquery are expanded already while it is bound
            return f"WITH {names[0]} AS MATERIALIZED (SELECT * FROM {rows}) {select} FROM {names[0]}"
        return f"{select} FROM {rows} AS {names[0]}"

    def _side(self, relation: Relation, keys: Sequence[int], levels: Levels, *, meets: Relation, closed: bool) -> str:
        """Render one side of a join. A public side that is joined with protected rows is a prepared table."""
        if not relation.is_public or meets.is_public:
            return levels.source(f"({self.relation(relation, levels.used)})", closed=closed)
        table = prepared(relation, keys)
        self.tables[table.name] = table
        return levels.source(table.name, closed=closed)

    def _matching(
        self, node: Join | Mark, a: Relation, b: Relation, names: tuple[str, str], sides: tuple[Levels, Levels]
    ) -> list[str]:
        """Write the join condition: the person, the keys, and the limit of public rows per row."""
        conditions = []
        if not a.is_public and not b.is_public:
            conditions.append(f"{names[0]}.o = {names[1]}.o")
            for levels in sides:
                levels.used.add("o")
        conditions += [
            f"{_of(names[0], sides[0], ours)} = {_of(names[1], sides[1], theirs)}" for ours, theirs in node.keys
        ]
        if a.is_public != b.is_public:
            conditions.append(f"{names[0] if a.is_public else names[1]}.nth <= {node.fan_out}")
        return conditions

    # Groups and windows of one owner

    def _per_person(self, relation: PerPerson, kept: list[str]) -> str:
        levels, owner = self.levels(), [] if relation.is_public else ["o"]
        levels.used.update(owner)
        keys = [(levels.name(key), f"k{at}") for at, key in enumerate(relation.keys, start=1)]
        names = [*owner, *(name for _, name in keys)]
        start = len(names) + 1
        asked = [
            (f"c{at}", aggregate) for at, aggregate in enumerate(relation.aggregates, start=start) if f"c{at}" in kept
        ]
        raw, done = self._folds([aggregate for _, aggregate in asked], levels, relation.rows)
        inner = [*owner, *(f"{key} AS {name}" for key, name in keys), *raw] or [
            "count(*) AS z"
        ]  # one row, even if no column of it is read
        source = levels.source(f"({self.relation(relation.rows, levels.used)})")
        groups = f" GROUP BY {', '.join(names)}" if names else ""
        grouped = f"{_select(inner)} FROM {source}{groups}"
        outer = [*owner, *(f"{name} AS i{at}" for at, (_, name) in enumerate(keys, start=1))]
        outer += [f"{name} AS c{at}" for at, name in enumerate(names, start=1)]
        outer += [f"{text} AS {name}" for text, (name, _) in zip(done, asked, strict=True)]
        return f"{_select([part for part in outer if part.split()[-1] in kept])} FROM ({grouped})"

    def _folds(
        self, aggregates: Sequence[Aggregate], levels: Levels, rows: Relation, window: str = ""
    ) -> tuple[list[str], list[str]]:
        """Return the folds that the engine computes, by name, and each aggregate in terms of them."""
        raw, done = [], []
        for aggregate in aggregates:
            name, count = next(self._values), next(self._values)
            where = None if aggregate.where is None else levels.text(aggregate.where)
            value = None if aggregate.value is None else levels.name(aggregate.value)
            if aggregate.value is not None and aggregate.steps is not None:
                value = self.steps(levels, rows, aggregate.value, aggregate.steps)
            raw.append(f"{dialect.folded(aggregate.fold, value, where)}{window} AS {name}")
            if aggregate.fold is Fold.AVERAGE:
                raw.append(f"{dialect.folded(Fold.PRESENT, value, where)}{window} AS {count}")
            step = None if aggregate.steps is None else aggregate.steps.step
            done.append(dialect.finished(aggregate.fold, name, count, step))
        return raw, done

    def _windowed(self, relation: Windowed, kept: list[str]) -> str:
        rows, levels = relation.rows, self.levels()
        inner, outer = [], []
        for at, window in enumerate(relation.windows, start=len(rows.columns) + 1):
            if f"c{at}" not in kept:
                continue
            text = f" OVER ({window_clause.rows_of(window, rows, levels, ids(rows))})"
            if isinstance(window.operation, Aggregate):
                raw, (value,) = self._folds([window.operation], levels, rows, text)
                inner += raw
            else:
                value = next(self._values)
                inner.append(f"{window_clause.row_function(window, levels)}{text} AS {value}")
            outer.append(f"{value} AS c{at}")
        plain = [name for name in columns(rows) if name in kept]
        source = levels.source(f"({self.relation(rows, {*plain, *levels.used})})")
        return f"{_select([*plain, *outer])} FROM ({_select([*plain, *inner])} FROM {source})"


def _names(letter: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"{letter}{number}"


def _select(parts: Sequence[str]) -> str:
    """Select at least one column: rows without a needed column still count."""
    return f"SELECT {', '.join(parts) or '1 AS z'}"


def _every(conditions: Sequence[str]) -> str:
    return " AND ".join(conditions) or "true"


def _scan(scan: Scan, kept: list[str]) -> str:
    capped = "" if scan.is_public else f" WHERE r <= {scan.most}"
    parts = ["r AS i1" if name == "i1" else name for name in kept]
    return f"{_select(parts)} FROM {DATA}.{dialect.quoted(scan.table.name)}{capped}"


def ids(relation: Relation) -> list[str]:
    """Return the names of the ids, which distinguish rows of one person."""
    return [f"i{at + 1}" for at in range(len(relation.shape.ids))]


def columns(relation: Relation) -> list[str]:
    """Return the names of all columns that a relation has."""
    numbered = list(enumerate(relation.columns, start=1))
    names = [*([] if relation.is_public else ["o"]), *ids(relation), *(f"c{at}" for at, _ in numbered)]
    names += [f"s{at}" for at, column in numbered if column.step is not None]
    return names + [f"u{at}" for at, column in numbered if column.unique]


def _of(alias: str, levels: Levels, key: Expression) -> str:
    """Rewrite a key of one side as an expression over the joined columns."""
    return levels.name(key) if isinstance(key, Literal) else f"{alias}.{levels.name(key)}"


def _is_heavy_between(node: Join | Mark, a: Relation, b: Relation, on: Expression | None) -> bool:
    """Whether any join condition or key is too large to be pushed down."""
    both = [] if on is None else [on]
    return (
        is_heavy(both, a, b) or is_heavy([key for key, _ in node.keys], a) or is_heavy([key for _, key in node.keys], b)
    )


def _places(key: Expression) -> list[int]:
    return [key.at] if isinstance(key, Field) else []


def _uniquely(join: Join, names: tuple[str, str], sides: tuple[Levels, Levels]) -> list[str]:
    """Of a person's rows that share a key value declared as unique, only the first by rank is joined."""
    if join.left.is_public or join.right.is_public or not (join.is_unique_right or join.is_unique_left):
        return []
    side = int(join.is_unique_right)
    relation = join.right if side else join.left
    keys = [pair[side] for pair in join.keys]
    at = next(key.at for key in keys if isinstance(key, Field) and relation.columns[key.at].unique)
    return [f"{names[side]}.{sides[side].column('u', at)} <= 1"]


def _both(join: Join, kept: list[str], names: tuple[str, str], sides: tuple[Levels, Levels]) -> Iterator[str]:
    """Select the columns of both sides, numbered through; the person comes from the protected side."""
    widths = {"i": len(join.left.shape.ids)}
    for name in kept:
        if name == "o":
            owned = [side for side, relation in enumerate((join.left, join.right)) if not relation.is_public]
            for side in owned:
                sides[side].used.add("o")
            either = ", ".join(f"{names[side]}.o" for side in owned)
            yield f"coalesce({either}) AS o" if join.how is JoinKind.FULL else f"{names[owned[0]]}.o"
            continue
        if join.how is JoinKind.FULL and name == f"i{len(join.shape.ids)}":
            for levels in sides:
                levels.used.add("o")
            yield f"CASE WHEN {names[1]}.o IS NULL THEN 2 WHEN {names[0]}.o IS NULL THEN 3 ELSE 1 END AS {name}"
            continue
        at, width = int(name[1:]) - 1, widths.get(name[0], len(join.left.columns))
        side = int(at >= width)
        yield f"{names[side]}.{sides[side].column(name[0], at - side * width)} AS {name}"
