"""Nasty values, and a record over columns of them, run on the engine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache

import duckdb
import pyarrow as pa

from discreet.algebra.expressions import Call, Expression, Field, Literal
from discreet.algebra.registry import Function
from discreet.algebra.value_properties import (
    AS_READ,
    LARGEST_INTEGER,
    LONGEST_TEXT,
    Magnitudes,
    Value,
    ValueProperties,
    every_value,
)
from discreet.catalog import Type

N, R, T, D, M, B = Type.INTEGER, Type.REAL, Type.TEXT, Type.DATE, Type.TIMESTAMP, Type.BOOLEAN
MOST_ROWS = 1_500

# Values

FAMILY = "👩‍👩‍👧"
POOLS: dict[Type, list[Value]] = {
    N: [0, 1, -1, 2, 3, -7, 10, 13, 29, 2020, 4096, 4097, 10**6, -(10**6) - 1, 2**31, 2**53 + 1, -(2**62), 2**62, LARGEST_INTEGER, -LARGEST_INTEGER, LARGEST_INTEGER - 4, 5 * 10**17],
    R: [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1 / 3, -7.25, 3.0, 100.0, 69.31471805599449, 69.4, -69.4, 0.49999999999999994, -0.49999999999999994,
        1e15 + 0.5, 2.0**63, -(2.0**63), 2.0**63 - 1024, 2.0**100, -(2.0**100), 2.0**-100, -(2.0**-100), 123456.789, 1.005],
    T: ["", " ", "  x ", "A", "aBc", "ß", "İı", "ſK", "ÉΣς", "ẾӀ", "Ա", f"a{FAMILY}é e\u0301", "x" * LONGEST_TEXT, "😀" * LONGEST_TEXT, "%_\\", "it's", "a,b,,c",
        "12", "+5", " -7 ", "1_0", "0x1F", "12\n", "1" * 18, "1" * 19, "-0", "1e5", "1e400", "1e-400", "-1e-40", ".5", "5.", ".", "0.1", "1e+05", "nan", "inf", "٣",
        "2020-02-29", " 2021-02-28 ", "2021-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "2020-1-1", "2020-02-29 23:59:59.5", "2020-02-29T10:00", "2020-02-29 24:00:00", "0001-01-01 00:00:00.000001", "2020-02-29 10:00Z", "yes", "NO", "t", "yeſ", "True", "on", "\n", "\u00a0x"],
    D: [date.min, date.max, date(1970, 1, 1), date(1969, 12, 31), date(2020, 2, 29), date(2021, 2, 28), date(2021, 3, 1), date(2024, 12, 30), date(2020, 1, 31), date(2021, 1, 3), date(1600, 7, 4)],
    M: [datetime.min, datetime.max, datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(2020, 2, 29, 12, 30, 15, 120_000), datetime(2021, 1, 3, 0, 0, 59), datetime(1, 1, 1, 0, 59, 59), datetime(9999, 12, 31, 23)],
    B: [False, True],
}  # fmt: skip
FAR = [2.0**500, -(2.0**500), 2.0**-500, -(2.0**-500), 3.7, 0.0]
"""As far as an expression goes before it is brought back."""
SMALL: dict[Type, list[list[Value]]] = {
    N: [[-7, -3, -1, 0, 1, 2, 7], [1, 2, 3, 12, 30], [0, 4, 9], [-5], [2020, 2021], [LARGEST_INTEGER - 1, LARGEST_INTEGER], [2**40, 2**41], [-(10**6), 5 * 10**5]],
    R: [[0.0, 0.1, 0.5, 1.0, 2.5, 100.0], [-2.5, -0.1, 0.0, 1.5], [0.3, 3.7, 9.99], [-8.0, -1.0], [2.0], [0.5], [3.0], [2.0**-100, 2.0**-90], [1e6, 2.0**40, 2.0**70], [-70.0, 70.0, 10.0]],
    T: [["", "a", "Ab", "é ß"], ["12", "-5", "x", " 7"], ["1.5", "1e3", "2020-02-29"], ["yes", "no", "maybe"], ["a,b", ",", "abcabc"]],
    D: [[date(2020, 1, 31), date(2020, 2, 29), date(2021, 2, 28)], [date(2023, 12, 31), date(2024, 1, 1)], [date.min, date(1, 3, 1)], [date(9998, 12, 31), date.max]],
    M: [[datetime(2020, 2, 29, 22, 30), datetime(2020, 3, 1, 1, 15, 30, 5)], [datetime.min, datetime(1, 1, 1, 2)], [datetime(9999, 12, 31, 22), datetime.max], [datetime(1969, 12, 31, 23, 59, 59, 999_999)]],
    B: [[False, True], [True]],
}  # fmt: skip
CONSTANTS: dict[str, list[dict[int, Value]]] = {
    "round_to": [{1: n} for n in (-15, -2, 0, 1, 2, 15)],
    "round_int_to": [{1: n} for n in (-18, -3, -1, 0, 2)],
    "width_bucket": [{1: 0.0, 2: 100.0, 3: 10}, {1: -1.0, 2: 0.3, 3: 7}, {1: 1.0, 2: 2.0**100, 3: 1}],
    "like": [{1: p} for p in ("", "%", "a%", "%_", "_%", "%a%b%", "__", "\\%", "%\\", "%😀", "it's", "_b_")],
    "ilike": [{1: p} for p in ("%A%", "É%", "_B_", "ß", "%ԱΣ")],
    "replace": [{1: ",", 2: ""}, {1: "x", 2: "yy"}, {1: "ab", 2: "b"}, {1: "😀", 2: "é"}],
    "split_part": [{1: ",", 2: 2}, {1: "xx", 2: 1}, {1: "😀", 2: 4096}, {1: "a", 2: 3}],
    "format_date": [{1: f} for f in ("%Y-%m", "%y%m%d %j|%u", "%B %b %A %a %% {0}", "%H:%M:%S", "it's")],
    "format_timestamp": [{1: f} for f in ("%Y-%m-%d %H", "%H:%M:%S %% %j")],
}  # fmt: skip
ARROW = {N: pa.int64(), R: pa.float64(), T: pa.string(), D: pa.date32(), M: pa.timestamp("us"), B: pa.bool_()}
ENGINE = {N: "BIGINT", R: "DOUBLE", T: "VARCHAR", D: "DATE", M: "TIMESTAMP", B: "BOOLEAN"}
PYTHON = {N: int, R: float, T: str, D: date, M: datetime, B: bool}


# Calls

Columns = list[list[Value | None]]


def signatures(record: Function) -> Iterator[list[Type]]:
    """The least number of arguments and one round more, with every type for the type variable."""
    shape = record.signature
    least = len(shape.takes) + len(shape.last)
    for count in (least, least + shape.repeats) if shape.repeats else (least,):
        parameters = shape.parameters(count)
        assert parameters is not None
        for variable in sorted(shape.among, key=lambda kind: kind.value) if None in parameters else [N]:
            yield [variable if kind is None else kind for kind in parameters]


def rows(columns: Sequence[Sequence[Value | None]]) -> list[tuple[Value | None, ...]]:
    """All combinations, or as many of them, evenly."""
    total = math.prod(map(len, columns))
    step = max(1, total // MOST_ROWS)
    step += 1 - step % 2
    return list(itertools.islice(itertools.product(*columns), 0, None, step))


def literal_sql(kind: Type, value: Value | None) -> str:
    if value is None:
        return f"CAST(NULL AS {ENGINE[kind]})"
    if kind is T:
        return "'" + str(value).replace("'", "''") + "'"
    if kind is B:
        return "true" if value else "false"
    text = repr(value) if kind is R else str(value)
    return f"CAST('{text}' AS {ENGINE[kind]})"


def sql_of(record: Function, args: Sequence[Expression], names: Sequence[str]) -> str:
    template = record.engines["duckdb"]
    assert template is not None
    parts = [
        literal_sql(arg.type, arg.value) if isinstance(arg, Literal) else name
        for arg, name in zip(args, names, strict=True)
    ]
    return template.format(*parts) if isinstance(template, str) else template(parts, args)


def number_of(value: object) -> Fraction:
    """What bounds are compared with: days since the year 0, microseconds since 1970."""
    if isinstance(value, datetime):
        return Fraction((value - datetime(1970, 1, 1)) // timedelta(microseconds=1))
    return Fraction(value.toordinal() if isinstance(value, date) else value)  # type: ignore[arg-type]


def facts_of(
    kind: Type, values: Sequence[Value | None], *, bounds: bool, listed: bool, magnitudes: Magnitudes = AS_READ
) -> ValueProperties:
    """ValueProperties that hold for the values of a column."""
    given = [value for value in values if value is not None]
    low = high = None
    if bounds and kind in (N, R, D, M):
        numbers = [number_of(v) for v in given]
        low, high = min(numbers), max(numbers)
    return ValueProperties(
        type=kind, low=low, high=high, values=tuple(values) if listed else None, nullable=None in values,
        longest=max(len(str(v)) for v in given) if kind is T else None, magnitudes=magnitudes if kind is R else None,
    )  # fmt: skip


class Rows(list[tuple[Value | None, ...]]):
    """Equal where they print alike: 0.0 is not -0.0, and 1 is not True."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and repr(self) == repr(other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(repr(self))


@lru_cache(maxsize=1)  # the same rows are asked about again and again, with less or more known of them
def _answers(
    engine: duckdb.DuckDBPyConnection, sql: str, kinds: tuple[Type, ...], given: Rows
) -> tuple[set[str], list[object]]:
    """Which types the engine gives for the rows, and which values."""
    arrays = [pa.array(column, ARROW[kind]) for column, kind in zip(zip(*given, strict=True), kinds, strict=True)]
    names = [f"c{at}" for at in range(len(kinds))]
    engine.register("given", pa.table([*arrays, pa.array(range(len(given)))], names=[*names, "place"]))
    engine.execute("CREATE OR REPLACE TEMP TABLE t AS SELECT * FROM given ORDER BY place")
    answers = engine.execute(f"SELECT {sql} AS v, typeof({sql}) AS kind FROM t ORDER BY place").fetchall()
    return {told for _, told in answers}, [value for value, _ in answers]


class Case:
    """A record over columns of values; a constant takes no column."""

    def __init__(
        self, record: Function, kinds: Sequence[Type], columns: Columns, *, constants: dict[int, Value], **known: object
    ) -> None:
        self.record, self.constants = record, constants
        self.kinds, self.columns = (
            kinds,
            [[constants[at]] if at in constants else column for at, column in enumerate(columns)],
        )
        args: list[Expression] = []
        for at, (kind, column) in enumerate(zip(kinds, self.columns, strict=True)):
            args.append(Literal(kind, constants[at]) if at in constants else Field(at, facts_of(kind, column, **known)))  # type: ignore[arg-type]
        self.call = Call(record, tuple(args))

    def run(self, engine: duckdb.DuckDBPyConnection) -> tuple[list[tuple[Value | None, ...]], list[object]]:
        """The rows, and what the engine makes of them; they are left in the table `t`."""
        given = Rows(rows(self.columns))
        sql = sql_of(self.record, self.call.args, [f"c{at}" for at in range(len(self.kinds))])
        kinds, values = _answers(engine, sql, tuple(self.kinds), given)
        assert kinds == {ENGINE[self.call.properties.type]}
        return given, values

    def check_elsewhere(self, engine: duckdb.DuckDBPyConnection) -> None:
        """The same in a condition, where the engine rewrites, and of constants, which it folds."""
        given, values = self.run(engine)
        sql, is_truth = (
            sql_of(self.record, self.call.args, [f"c{at}" for at in range(len(self.kinds))]),
            self.call.properties.type is B,
        )
        condition = sql if is_truth else f"({sql} IS NOT NULL)"
        where = f"(place >= 0 AND {condition}) OR (CASE WHEN place < 0 THEN {condition} END)"
        ((count,),) = engine.execute(f"SELECT count(*) FROM t WHERE {where}").fetchall()
        assert count == sum(bool(value) if is_truth else value is not None for value in values)
        for at in range(0, len(given), max(1, len(given) // 5)):
            literals = [literal_sql(kind, value) for kind, value in zip(self.kinds, given[at], strict=True)]
            ((folded,),) = engine.execute(f"SELECT {sql_of(self.record, self.call.args, literals)}").fetchall()
            assert repr(folded) == repr(values[at])

    def check(self, engine: duckdb.DuckDBPyConnection) -> set[object]:
        """Results are canonical and within the properties; gives all that there were."""
        properties, (given, values) = self.call.properties, self.run(engine)
        for row, value in zip(given, values, strict=True):
            if value is None:
                assert properties.nullable, (self.record, row)
                continue
            assert is_canonical(properties, value), (self.record, row, value)
            if properties.type in (N, R, D, M):
                number = number_of(value)
                assert properties.low is None or properties.low <= number, (self.record, row, value, properties)
                assert properties.high is None or number <= properties.high, (self.record, row, value, properties)
            known = every_value(properties)
            is_listed = all(at in self.constants or self._is_listed(at, part) for at, part in enumerate(row))
            assert not is_listed or known is None or value in known, (self.record, row, value)
        return set(values)

    def _is_listed(self, at: int, part: Value | None) -> bool:
        """Whether a part of a row is a value that its column may have as a group: NULL only where it is listed."""
        return part is not None or None in (self.call.args[at].properties.values or ())


def is_canonical(properties: ValueProperties, value: object) -> bool:
    if type(value) is not PYTHON[properties.type]:
        return False
    if isinstance(value, float):
        magnitudes = properties.magnitudes
        assert magnitudes is not None
        return repr(value) != "-0.0" and (
            value == 0 or Fraction(2) ** -magnitudes.fine <= abs(Fraction(value)) <= Fraction(2) ** magnitudes.large
        )
    if isinstance(value, str):
        return "\0" not in value and len(value) <= min(properties.longest or 0, LONGEST_TEXT)
    return abs(value) <= LARGEST_INTEGER if isinstance(value, int) else True


def nasty(kind: Type, *, longest: int) -> list[Value | None]:
    return [None, *(value for value in POOLS[kind] if kind is not T or len(str(value)) <= longest)]
