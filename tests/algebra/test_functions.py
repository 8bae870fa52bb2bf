"""Every record against the engine, on nasty values: no error, canonical results of the right type, within the facts that were derived."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

from discreet.algebra.expressions import Call, Expression, Field, Literal, call
from discreet.algebra.facts import AS_READ, LARGEST_INTEGER, LONGEST_TEXT, Facts, Reach, Value, every_value
from discreet.algebra.functions import letters
from discreet.algebra.functions.listing import listing
from discreet.algebra.registry import Function, every_function, function, spelled
from discreet.catalog import Type
from discreet.errors import NotAllowed, TooLarge

N, R, T, D, B = Type.INTEGER, Type.REAL, Type.TEXT, Type.DATE, Type.BOOLEAN
MOST_ROWS = 1_500
NAMES = [record.name for record in every_function()]

# Values

FAMILY = "👩‍👩‍👧"
POOLS: dict[Type, list[Value]] = {
    N: [0, 1, -1, 2, 3, -7, 10, 13, 29, 2020, 4096, 4097, 10**6, -(10**6) - 1, 2**31, 2**53 + 1, -(2**62), 2**62, LARGEST_INTEGER, -LARGEST_INTEGER, LARGEST_INTEGER - 4, 5 * 10**17],
    R: [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1 / 3, -7.25, 3.0, 100.0, 69.31471805599449, 69.4, -69.4, 0.49999999999999994, -0.49999999999999994,
        1e15 + 0.5, 2.0**63, -(2.0**63), 2.0**63 - 1024, 2.0**100, -(2.0**100), 2.0**-100, -(2.0**-100), 123456.789, 1.005],
    T: ["", " ", "  x ", "A", "aBc", "ß", "İı", "ſK", "ÉΣς", "ẾӀ", "Ա", f"a{FAMILY}é e\u0301", "x" * LONGEST_TEXT, "😀" * LONGEST_TEXT, "%_\\", "it's", "a,b,,c",
        "12", "+5", " -7 ", "1_0", "0x1F", "12\n", "1" * 18, "1" * 19, "-0", "1e5", "1e400", "1e-400", "-1e-40", ".5", "5.", ".", "0.1", "1e+05", "nan", "inf", "٣",
        "2020-02-29", " 2021-02-28 ", "2021-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "2020-1-1", "yes", "NO", "t", "yeſ", "True", "on", "\n", "\u00a0x"],
    D: [date.min, date.max, date(1970, 1, 1), date(1969, 12, 31), date(2020, 2, 29), date(2021, 2, 28), date(2021, 3, 1), date(2024, 12, 30), date(2020, 1, 31), date(2021, 1, 3), date(1600, 7, 4)],
    B: [False, True],
}  # fmt: skip
FAR = [2.0**500, -(2.0**500), 2.0**-500, -(2.0**-500), 3.7, 0.0]
"""As far as an expression goes before it is brought back."""
SMALL: dict[Type, list[list[Value]]] = {
    N: [[-7, -3, -1, 0, 1, 2, 7], [1, 2, 3, 12, 30], [0, 4, 9], [-5], [2020, 2021], [LARGEST_INTEGER - 1, LARGEST_INTEGER], [2**40, 2**41], [-(10**6), 5 * 10**5]],
    R: [[0.0, 0.1, 0.5, 1.0, 2.5, 100.0], [-2.5, -0.1, 0.0, 1.5], [0.3, 3.7, 9.99], [-8.0, -1.0], [2.0], [0.5], [3.0], [2.0**-100, 2.0**-90], [1e6, 2.0**40, 2.0**70], [-70.0, 70.0, 10.0]],
    T: [["", "a", "Ab", "é ß"], ["12", "-5", "x", " 7"], ["1.5", "1e3", "2020-02-29"], ["yes", "no", "maybe"], ["a,b", ",", "abcabc"]],
    D: [[date(2020, 1, 31), date(2020, 2, 29), date(2021, 2, 28)], [date(2023, 12, 31), date(2024, 1, 1)], [date.min, date(1, 3, 1)], [date(9998, 12, 31), date.max]],
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
}  # fmt: skip
ARROW = {N: pa.int64(), R: pa.float64(), T: pa.string(), D: pa.date32(), B: pa.bool_()}
ENGINE = {N: "BIGINT", R: "DOUBLE", T: "VARCHAR", D: "DATE", B: "BOOLEAN"}
PYTHON = {N: int, R: float, T: str, D: date, B: bool}


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


def facts_of(
    kind: Type, values: Sequence[Value | None], *, bounds: bool, listed: bool, reach: Reach = AS_READ
) -> Facts:
    """Facts that hold for the values of a column."""
    given = [value for value in values if value is not None]
    low = high = None
    if bounds and kind in (N, R, D):
        numbers = [Fraction(v.toordinal() if isinstance(v, date) else v) for v in given]  # type: ignore[arg-type]
        low, high = min(numbers), max(numbers)
    return Facts(
        type=kind, low=low, high=high, values=tuple(values) if listed else None, nullable=None in values,
        longest=max(len(str(v)) for v in given) if kind is T else None, reach=reach if kind is R else None,
    )  # fmt: skip


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
        """The rows, and what the engine makes of them."""
        given = rows(self.columns)
        names = [f"c{at}" for at in range(len(self.kinds))]
        arrays = [
            pa.array(column, ARROW[kind]) for column, kind in zip(zip(*given, strict=True), self.kinds, strict=True)
        ]
        engine.register("given", pa.table([*arrays, pa.array(range(len(given)))], names=[*names, "place"]))
        engine.execute("CREATE OR REPLACE TEMP TABLE t AS SELECT * FROM given ORDER BY place")
        sql = sql_of(self.record, self.call.args, names)
        answers = engine.execute(f"SELECT {sql} AS v, typeof({sql}) AS kind FROM t ORDER BY place").fetchall()
        assert {told for _, told in answers} == {ENGINE[self.call.facts.type]}
        return given, [value for value, _ in answers]

    def check_elsewhere(self, engine: duckdb.DuckDBPyConnection) -> None:
        """The same in a condition, where the engine rewrites, and of constants, which it folds."""
        given, values = self.run(engine)
        sql, is_truth = (
            sql_of(self.record, self.call.args, [f"c{at}" for at in range(len(self.kinds))]),
            self.call.facts.type is B,
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
        """Results are canonical and within the facts; gives all that there were."""
        facts, (given, values) = self.call.facts, self.run(engine)
        for row, value in zip(given, values, strict=True):
            if value is None:
                assert facts.nullable, (self.record, row)
                continue
            assert is_canonical(facts, value), (self.record, row, value)
            if facts.type in (N, R, D):
                number = Fraction(value.toordinal() if isinstance(value, date) else value)  # type: ignore[arg-type]
                assert facts.low is None or facts.low <= number, (self.record, row, value, facts)
                assert facts.high is None or number <= facts.high, (self.record, row, value, facts)
            known = every_value(facts)
            is_listed = all(at in self.constants or self._is_listed(at, part) for at, part in enumerate(row))
            assert not is_listed or known is None or value in known, (self.record, row, value)
        return set(values)

    def _is_listed(self, at: int, part: Value | None) -> bool:
        """Whether a part of a row is a value that its column may have as a group: NULL only where it is listed."""
        return part is not None or None in (self.call.args[at].facts.values or ())


def is_canonical(facts: Facts, value: object) -> bool:
    if type(value) is not PYTHON[facts.type]:
        return False
    if isinstance(value, float):
        reach = facts.reach
        assert reach is not None
        return repr(value) != "-0.0" and (
            value == 0 or Fraction(2) ** -reach.fine <= abs(Fraction(value)) <= Fraction(2) ** reach.large
        )
    if isinstance(value, str):
        return "\0" not in value and len(value) <= min(facts.longest or 0, LONGEST_TEXT)
    return abs(value) <= LARGEST_INTEGER if isinstance(value, int) else True


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(config={"threads": 1})
    yield connection
    connection.close()


@pytest.fixture(scope="module", params=[1, 2])
def threaded(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(config={"threads": request.param})
    yield connection
    connection.close()


def nasty(kind: Type, *, longest: int) -> list[Value | None]:
    return [None, *(value for value in POOLS[kind] if kind is not T or len(str(value)) <= longest)]


# Every record


@pytest.mark.parametrize("name", NAMES)
def test_no_value_makes_a_function_fail_or_give_what_is_not_canonical(
    threaded: duckdb.DuckDBPyConnection, name: str
) -> None:
    record, engine = function(name), threaded
    for kinds in signatures(record):
        for constants in CONSTANTS.get(name, [{}]):
            try:
                case = Case(
                    record,
                    kinds,
                    [nasty(k, longest=LONGEST_TEXT) for k in kinds],
                    constants=constants,
                    bounds=False,
                    listed=False,
                )
            except TooLarge:
                case = Case(
                    record,
                    kinds,
                    [nasty(k, longest=20) for k in kinds],
                    constants=constants,
                    bounds=False,
                    listed=False,
                )
            case.check(engine)
            case.check_elsewhere(engine)
            if R in kinds:
                far = [[None, *FAR] if kind is R else nasty(kind, longest=9) for kind in kinds]
                Case(record, kinds, far, constants=constants, bounds=False, listed=False, reach=Reach(500, 500)).check(
                    engine
                )


@pytest.mark.parametrize("name", NAMES)
def test_results_are_within_bounds_and_values_that_were_derived(engine: duckdb.DuckDBPyConnection, name: str) -> None:
    record = function(name)
    for kinds in signatures(record):
        choices = list(itertools.product(*(SMALL[kind] for kind in kinds)))
        for number, chosen in enumerate(
            choices[:: max(1, len(choices) // (24 if None not in record.signature.takes else 6)) | 1]
        ):
            constants = CONSTANTS.get(name, [{}])
            some = constants[number % len(constants)]
            bare: Columns = [list(column) for column in chosen]
            Case(record, kinds, bare, constants=some, bounds=True, listed=False).check(engine)
            Case(record, kinds, [[*column, None] for column in bare], constants=some, bounds=True, listed=False).check(
                engine
            )
            Case(record, kinds, [[*column, None] for column in bare], constants=some, bounds=True, listed=True).check(
                engine
            )
            case = Case(record, kinds, bare, constants=some, bounds=True, listed=True)
            values, results = case.call.facts.values, case.check(engine)
            if values is not None and name not in ("case", "coalesce", "least", "greatest", "nullif"):
                assert set(values) == results - {None}


# Bounds and domains that people rely on


def column(
    kind: Type, low: float | None = None, high: float | None = None, values: tuple[Value | None, ...] | None = None
) -> Field:
    """A column as a catalog declares it: anything may be NULL."""
    low, high = (None if end is None else Fraction(end) for end in (low, high))
    return Field(
        0,
        Facts(
            type=kind,
            low=low,
            high=high,
            values=values,
            longest=20 if kind is T else None,
            reach=AS_READ if kind is R else None,
        ),
    )


def whole(value: int) -> Literal:
    return Literal(N, value)


def days(first: str, last: str) -> Field:
    return column(D, date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal())


def test_a_clamped_value_is_bounded_even_where_it_is_null() -> None:
    clamped = call("least", call("greatest", column(N), whole(0)), whole(100))
    assert (clamped.facts.bounds, clamped.facts.nullable) == ((0, 100), False)


def test_a_sign_times_a_hundred_plus_a_hundred_has_three_values() -> None:
    shifted = call("add_int", call("mul_int", call("sign", column(R)), whole(100)), whole(100))
    assert every_value(shifted.facts) == (0, 100, 200)
    assert shifted.facts.bounds == (0, 200)


def test_buckets_of_a_bounded_real_are_listed() -> None:
    tens = call("mul_int", call("floor", call("div", column(R, 0, 35), Literal(R, 10.0))), whole(10))
    assert every_value(tens.facts) == (0, 10, 20, 30)


def test_width_buckets_have_no_groups_outside_of_the_bounds() -> None:
    bucket = call("width_bucket", column(R, 0, 99), Literal(R, 0.0), Literal(R, 100.0), whole(4))
    assert every_value(bucket.facts) == (1, 2, 3, 4)


def test_months_between_the_bounds_are_listed() -> None:
    month = call("trunc_month", days("2023-11-15", "2024-02-01"))
    assert every_value(month.facts) == (date(2023, 11, 1), date(2023, 12, 1), date(2024, 1, 1), date(2024, 2, 1))
    text = call("format_date", days("2023-11-15", "2024-02-01"), Literal(T, "%Y-%m"))
    assert every_value(text.facts) == ("2023-11", "2023-12", "2024-01", "2024-02")
    assert call("trunc_month", column(D)).facts.values is None


def test_years_of_dates_without_bounds_are_not_listed() -> None:
    assert every_value(call("year", column(D)).facts) is None
    assert every_value(call("year", days("2020-05-01", "2022-01-01")).facts) == (2020, 2021, 2022)


def test_null_is_a_group_where_it_is_declared_or_written_and_nowhere_else() -> None:
    ward, plain = column(T, values=("a", "b", None)), column(T, values=("a", "b"))
    is_a = call("eq", plain, Literal(T, "a"))
    assert call("upper", ward).facts.values == ("A", "B", None)
    assert call("upper", plain).facts.values == ("A", "B")
    assert call("coalesce", ward, Literal(T, "none")).facts.values == ("a", "b", "none")
    assert call("case", is_a, whole(1), Literal(N, None)).facts.values == (1, None)
    assert call("case", is_a, whole(1), whole(0)).facts.values == (1, 0)
    assert every_value(is_a.facts) == (False, True)
    assert call("concat", ward, Literal(T, "-")).facts.values == ("a-", "b-", "-")


def test_only_a_choice_between_persons_is_a_person() -> None:
    person = Field(0, Facts(type=N, person=True))
    nobody, condition = Literal(N, None), call("eq", person, whole(1))
    assert call("case", condition, person, nobody).facts.person
    assert call("coalesce", person, person).facts.person
    assert call("nullif", person, whole(1)).facts.person
    for other in (
        call("case", condition, person, whole(0)),
        call("coalesce", nobody, nobody),
        call("round_int", person),
        call("least", person, person),
    ):
        assert not other.facts.person


def test_what_cannot_overflow_is_never_null() -> None:
    age = Field(0, Facts(type=N, low=Fraction(0), high=Fraction(120), nullable=False))
    assert not call("add_int", age, whole(1)).facts.nullable
    assert not call("int_div", age, whole(10)).facts.nullable
    assert call("int_div", age, age).facts.nullable
    assert call("mul_int", age, whole(2**62)).facts.nullable


def test_products_of_many_reals_are_brought_back_into_range() -> None:
    grown: Expression = column(R)
    for _ in range(12):
        grown = call("mul", grown, column(R))
        assert grown.facts.reach is not None
        assert max(grown.facts.reach.large, grown.facts.reach.fine) <= 500


@pytest.mark.parametrize("power", [2.0, 3.0, 0.5, -1.0])
@pytest.mark.parametrize("values", [[-2.5, -0.1, 0.0, 1.5], [0.0, 0.2, 9.0], [0.5, 40.0], [-8.0, -1.0]])
def test_powers_are_within_their_bounds(engine: duckdb.DuckDBPyConnection, power: float, values: list[float]) -> None:
    Case(function("pow"), [R, R], [list(values), [power]], constants={1: power}, bounds=True, listed=False).check(
        engine
    )


def test_a_remainder_of_reals_may_fall_below_zero_by_a_rounding(engine: duckdb.DuckDBPyConnection) -> None:
    columns: Columns = [[0.0, 22.799999999999997], [0.3]]
    assert min(Case(function("mod"), [R, R], columns, constants={}, bounds=True, listed=False).check(engine)) < 0  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("int_of_text", "1" * 18, int("1" * 18)),
        ("int_of_text", "1" * 19, None),
        ("int_of_text", " +5 ", 5),
        ("int_of_text", "5\n", None),
        ("real_of_text", "-.5e+1", -5.0),
        ("real_of_text", "1e31", None),
        ("real_of_text", "1e-31", 0.0),
        ("date_of_text", "2020-02-30", None),
        ("date_of_text", "0000-12-31", None),
        ("bool_of_text", " YES", True),
        ("bool_of_text", "on", None),
    ],
)
def test_texts_are_read_by_one_grammar(
    engine: duckdb.DuckDBPyConnection, name: str, text: str, value: Value | None
) -> None:
    case = Case(function(name), [T], [[text]], constants={}, bounds=True, listed=True)
    assert case.check(engine) == {value}


# Refusals


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("like", (column(T), column(T))),
        ("like", (column(T), Literal(T, "%%%%%"))),
        ("like", (column(T), Literal(T, "%_%"))),
        ("like", (column(T), Literal(T, None))),
        ("replace", (column(T), Literal(T, ""), Literal(T, "x"))),
        ("split_part", (column(T), Literal(T, ","), whole(0))),
        ("format_date", (column(D), Literal(T, "%Q"))),
        ("format_date", (column(D), Literal(T, "100%"))),
        ("format_date", (column(D), Literal(T, ""))),
        ("round_to", (column(R), column(N))),
        ("round_to", (column(R), whole(16))),
        ("width_bucket", (column(R), Literal(R, 1.0), Literal(R, 1.0), whole(3))),
        ("width_bucket", (column(R), Literal(R, 0.0), Literal(R, 1.0), whole(10**6))),
        ("add", (column(R), column(N))),
        ("least", (column(B), column(B))),
    ],
)
def test_arguments_that_are_not_constants_or_do_not_fit_are_refused(name: str, args: tuple[Expression, ...]) -> None:
    with pytest.raises(NotAllowed):
        call(name, *args)


def test_a_text_that_could_become_too_long_is_refused() -> None:
    long = Field(0, Facts(type=T, longest=LONGEST_TEXT))
    for name, more in (("joined", (long,)), ("concat", (long,)), ("replace", (Literal(T, "a"), Literal(T, "bb")))):
        with pytest.raises(TooLarge):
            call(name, long, *more)


# Letters, and what rounds


def test_every_character_has_the_same_case_in_python_and_on_the_engine(engine: duckdb.DuckDBPyConnection) -> None:
    """Beside a character that sends a text past the way for ASCII."""
    points = (
        "SELECT '漢' || chr(CAST(i AS INTEGER)) AS c FROM range(1, 1114112) r(i) WHERE i NOT BETWEEN 55296 AND 57343"
    )
    pairs = dict(zip(letters.CAPITALS, letters.SMALL, strict=True))
    for name, expected in (("lower", pairs), ("upper", {small: capital for capital, small in pairs.items()})):
        sql = sql_of(function(name), [column(T)], ["c"])
        changed = engine.execute(f"SELECT c, v FROM (SELECT c, {sql} AS v FROM ({points})) WHERE v <> c").fetchall()
        assert {before[1]: after[1:] for before, after in changed} == expected
    assert (letters.lower("ÀßΣ"), letters.upper("àßς")) == ("àßσ", "Àßς")


def test_pairs_of_letters_are_those_below_u0530_that_go_there_and_back() -> None:
    pairs = {
        c: c.lower()
        for c in map(chr, range(0x530))
        if len(c.lower()) == 1 and c.lower() != c and ord(c.lower()) < 0x530
    }
    assert {c: s for c, s in pairs.items() if s.upper() == c} == dict(zip(letters.CAPITALS, letters.SMALL, strict=True))


def test_logarithms_and_powers_are_float32(engine: duckdb.DuckDBPyConnection) -> None:
    for name in ("ln", "log10", "log2", "exp", "pow"):
        count = 2 if name == "pow" else 1
        values = Case(
            function(name), [R] * count, [nasty(R, longest=0)] * count, constants={}, bounds=False, listed=False
        ).check(engine)
        assert all(struct.unpack("f", struct.pack("f", v))[0] == v for v in values if v is not None)


# The registry


def test_every_record_is_documented() -> None:
    told = listing()
    assert len(told) == len(NAMES)
    assert all(group and usage and says for group, usage, says in told)
    assert {usage for _, usage, _ in told} == {record.signature.says for record in every_function()}


def test_words_of_sql_lead_to_records() -> None:
    for word in ("+", "-", "*", "/", "//", "%", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT", "IS NULL", "IS NOT NULL", "IS DISTINCT FROM",
                 "IS NOT DISTINCT FROM", "BETWEEN", "IN", "LIKE", "ILIKE", "CASE", "||", "CAST", "POW", "POWER", "CEIL", "CEILING", "STRPOS", "INSTR",
                 "POSITION", "DATE_DIFF", "DATEDIFF", "DATE_TRUNC", "EXTRACT", "DATE_PART", "STRFTIME", "TO_CHAR"):  # fmt: skip
        assert spelled(word), word


def test_a_record_with_a_part_missing_is_none() -> None:
    record = function("eq")
    fields = {name: getattr(record, name) for name in record.__dataclass_fields__}
    with pytest.raises(ValueError, match="not complete"):
        Function(**{**fields, "engines": {}})
    with pytest.raises(TypeError):
        Function(**{name: value for name, value in fields.items() if name != "says"})
