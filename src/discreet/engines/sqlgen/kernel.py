"""Write a query as statements that return exact integers.

The rows are not trusted here: keys are made canonical before grouping, values are clamped as integers after their expression, a
person's rows are bounded by a total order of that person's own rows, and FILTER applies after the bound. Sums are returned as
DECIMAL(38, 0), so that no double is involved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.algebra.query import Key, Measure, MeasureKind, Query
from discreet.catalog import Type
from discreet.engines.sqlgen.common_subexpressions import Levels
from discreet.engines.sqlgen.condition_size import is_heavy
from discreet.engines.sqlgen.contribution_bounds import Cut
from discreet.engines.sqlgen.dialects import duckdb as dialect
from discreet.engines.sqlgen.render import Prepared, Renderer, checked, ids

_SMALL = 2**62
_MOST_POSITIONS = 64
"""The most declared texts that are grouped by position."""


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL, its list parameters, and the prepared public tables that it reads."""

    sql: str
    values: Mapping[str, list[Any]] = field(repr=False)
    tables: tuple[Prepared, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The statements of one grouping set: the integers, and a histogram for each quantile, by the index of its measure.

    Columns of the integers: the keys, one per measure that is not a quantile, and the number of people if a key is private.
    """

    keys: tuple[int, ...]
    counts_people: bool
    integers: Statement
    histograms: Mapping[int, Statement]


def groupings(query: Query, *, salt: str) -> list[Grouping]:
    """Write the statements of every grouping set."""
    rows = _Rows(query, salt=salt)
    return [rows.grouping(keys) for keys in query.sets]


def coded_rows(query: Query, *, salt: str) -> Statement:
    """Write the bounded rows of a query whose keys all have declared values: per key the index of the value, `c0`, `c1`, …

    Rows with an undeclared value are dropped.
    """
    return _Rows(query, salt=salt).coded()


class _Rows:
    """Write the bounded rows: the person `o`, keys `k0 …`, arguments of measures `x1 …`, conditions `f1 …`."""

    def __init__(self, query: Query, *, salt: str) -> None:
        self._query = query
        self._renderer = Renderer()
        self._levels = self._renderer.levels()
        self._operands: dict[str, str] = {}
        keys = [self._key(index, key) for index, key in enumerate(query.keys)]
        self._measured = [self._aggregate(measure) for measure in query.measures]
        parts = ["o", *keys, *(f"{text} AS {name}" for text, name in self._operands.items())]
        order = ids(query.rows) if query.needs_bounding else []
        relation = self._renderer.relation(query.rows, {"o", *order, *self._levels.used})
        closed = query.drops_undeclared and is_heavy([key.expression for key in query.keys], query.rows)
        source = f"SELECT {', '.join([*parts, *order])} FROM {self._levels.source(f'({relation})', closed=closed)}"
        self._cut = Cut(query, salt=salt)
        if query.needs_bounding:
            self._sql = self._cut.of(f"({source})")
        else:
            self._sql = self._cut.declared(f"({source})") if query.drops_undeclared else f"({source})"

    def grouping(self, keys: tuple[int, ...]) -> Grouping:
        measures = self._query.measures
        quantiles = [index for index, measure in enumerate(measures) if measure.kind is MeasureKind.QUANTILE]
        histograms = {index: self._statement(self._histogram(keys, index)) for index in quantiles}
        private = any(self._query.keys[index].values is None for index in keys)
        integers = self._integers(keys, private=private, ordered=bool(quantiles))
        return Grouping(keys, private, self._statement(integers), histograms)

    def coded(self) -> Statement:
        parts = [f"{self._cut.code(index)} AS c{index}" for index in range(len(self._query.keys))]
        return self._statement(f"SELECT {', '.join(parts)} FROM {self._sql}")

    def _statement(self, sql: str) -> Statement:
        return Statement(checked(sql), self._cut.values, tuple(self._renderer.tables.values()))

    # Columns of each row

    def _key(self, index: int, key: Key) -> str:
        name, kind = self._levels.name(key.expression), key.expression.properties.type
        if self._groups_by_position(key):
            return f"{dialect.position_among(name, [str(value) for value in key.values or ()])} AS k{index}"
        return f"{dialect.canonical(name, kind)} AS k{index}"

    def _groups_by_position(self, key: Key) -> bool:
        """Whether a key is grouped by its position among the declared texts, which counts people faster. An undeclared value is then
        the same as a missing one.
        """
        values = key.values or ()
        if not 0 < len(values) <= _MOST_POSITIONS or len(set(values)) < len(values) or None in values:
            return False
        counts_people = any(measure.kind is MeasureKind.PEOPLE for measure in self._query.measures)
        return counts_people and not self._query.drops_undeclared and key.expression.properties.type is Type.TEXT

    def _shown(self, index: int) -> str:
        return f"CAST(k{index} AS VARCHAR)" if self._groups_by_position(self._query.keys[index]) else f"k{index}"

    def _operand(self, text: str, letter: str = "x") -> str:
        """Return the name of an expression that is computed once per row, however many measures read it."""
        return self._operands.setdefault(text, f"{letter}{len(self._operands) + 1}")

    def _steps(self, measure: Measure, at: int) -> str:
        text = self._renderer.steps(self._levels, self._query.rows, measure.values[at], measure.steps[at])
        return self._operand(text)

    def _aggregate(self, measure: Measure) -> _Folds:
        where = (
            None
            if measure.where is None
            else self._operand(f"coalesce({self._levels.text(measure.where)}, false)", "f")
        )
        match measure.kind:
            case MeasureKind.PRESENT:
                return _Folds(measure.kind, self._operand(self._levels.text(measure.values[0])), where)
            case MeasureKind.DISTINCT:
                names = [self._operand(_canonical_value(self._levels, value)) for value in measure.values]
                present = " AND ".join(f"{name} IS NOT NULL" for name in names)
                return _Folds(
                    measure.kind,
                    names[0] if len(names) == 1 else f"row({', '.join(names)})",
                    " AND ".join(part for part in (present, where) if part),
                )
            case MeasureKind.TOTAL:
                return _Folds(measure.kind, _centred(self._steps(measure, 0), measure.centres[0]), where)
            case MeasureKind.SQUARES | MeasureKind.PRODUCTS:
                last = len(measure.steps) - 1
                first, second = (_centred(self._steps(measure, at), measure.centres[at]) for at in (0, last))
                return _Folds(measure.kind, _product(first, second, measure), where)
            case MeasureKind.QUANTILE:
                bins = measure.bins
                name = dialect.bin_of(self._steps(measure, 0), factor=bins.factor, first=bins.first, last=bins.last)
                return _Folds(measure.kind, name, where)
        return _Folds(measure.kind, None, where)

    # Groups

    def _integers(self, keys: tuple[int, ...], *, private: bool, ordered: bool) -> str:
        names, shown = [f"k{index}" for index in keys], [self._shown(index) for index in keys]
        folds = [fold for fold in self._measured if fold.kind is not MeasureKind.QUANTILE]
        if private and all(fold.kind is not MeasureKind.DISTINCT for fold in folds):
            return _by_people(folds, names, shown, self._sql) + _sorted(names, ordered=ordered)
        parts = [*shown, *(fold.over_rows for fold in folds), *(["count(DISTINCT o)"] if private else [])]
        return f"SELECT {', '.join(parts) or 'count(*)'} FROM {self._sql}{_grouped(names)}{_sorted(names, ordered=ordered)}"

    def _histogram(self, keys: tuple[int, ...], index: int) -> str:
        """Write group indexes (in the order of the keys), candidate indexes and row counts. Groups are numbered before FILTER drops rows."""
        fold = self._measured[index]
        names = [f"k{at}" for at in keys]
        value = fold.value if fold.where is None else f"CASE WHEN {fold.where} THEN {fold.value} END"
        counted = f"SELECT {', '.join([*names, f'{value} AS bin'])}, count(*) AS n FROM {self._sql} GROUP BY ALL"
        order = ", ".join(f"{name} NULLS LAST" for name in names)
        number = f"dense_rank() OVER (ORDER BY {order}) - 1" if names else "CAST(0 AS BIGINT)"
        return f"SELECT g, bin, n FROM (SELECT {number} AS g, bin, n FROM ({counted})) WHERE bin IS NOT NULL ORDER BY g, bin"


@dataclass(frozen=True, slots=True)
class _Folds:
    """How one measure aggregates rows: `value` of each row for which `where` holds."""

    kind: MeasureKind
    value: str | None
    where: str | None

    @property
    def _kept(self) -> str:
        return "" if self.where is None else f" FILTER (WHERE {self.where})"

    @property
    def over_rows(self) -> str:
        """Aggregate the rows of a group directly."""
        if self.kind is MeasureKind.PEOPLE:
            return f"count(DISTINCT o){self._kept}"
        if self.kind is MeasureKind.DISTINCT:
            return f"count(DISTINCT {self.value}){self._kept}"
        return self.of_person if self._is_count else _exactly(self.of_person)

    @property
    def _is_count(self) -> bool:
        return self.kind in (MeasureKind.ROWS, MeasureKind.PRESENT)

    @property
    def of_person(self) -> str:
        """Aggregate the rows of one person in a group."""
        if self.kind is MeasureKind.ROWS:
            return f"count(*){self._kept}"
        if self.kind is MeasureKind.PRESENT:
            return f"count({self.value}){self._kept}"
        if self.kind is MeasureKind.PEOPLE:
            return "true" if self.where is None else f"bool_or({self.where})"
        return f"sum({self.value}){self._kept}"

    def over_people(self, name: str) -> str:
        """Aggregate the per-person results of a group."""
        if self.kind is MeasureKind.PEOPLE:
            return f"count(*) FILTER (WHERE {name})"
        return f"CAST(coalesce(sum({name}), 0) AS BIGINT)" if self._is_count else _exactly(f"sum({name})")


def _by_people(folds: Sequence[_Folds], names: list[str], shown: list[str], rows: str) -> str:
    """Group by person first: the number of people of a group is then a row count. Faster if there are many groups."""
    own = [f"{fold.of_person} AS a{at}" for at, fold in enumerate(folds)]
    people = f"SELECT {', '.join([*names, *own]) or '1'} FROM {rows} GROUP BY {', '.join([*names, 'o'])}"
    parts = [*shown, *(fold.over_people(f"a{at}") for at, fold in enumerate(folds)), "count(*)"]
    return f"SELECT {', '.join(parts)} FROM ({people}){_grouped(names)}"


def _grouped(names: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(names)}" if names else ""


def _sorted(names: Sequence[str], *, ordered: bool) -> str:
    return f" ORDER BY {', '.join(f'{name} NULLS LAST' for name in names)}" if names and ordered else ""


def _exactly(total: str) -> str:
    return f"CAST(coalesce({total}, 0) AS DECIMAL(38, 0))"


def _centred(name: str, centre: int) -> str:
    return f"({name} - {dialect.integer(centre)})" if centre else name


def _product(first: str, second: str, measure: Measure) -> str:
    """Write a product of two integers in the coarser unit, in 128 bits if 64 could be too few."""
    reach = [
        max(abs(steps.low - centre), abs(steps.high - centre))
        for steps, centre in zip(measure.steps, measure.centres, strict=True)
    ]
    wide = "BIGINT" if reach[0] * reach[-1] + (1 << measure.coarser) < _SMALL else "HUGEINT"
    return dialect.shifted(f"(CAST({first} AS {wide}) * {second})", measure.coarser)


def _canonical_value(levels: Levels, value: Any) -> str:
    return dialect.canonical(levels.name(value), value.properties.type)
