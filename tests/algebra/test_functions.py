"""Every record against the engine, on nasty values: no error, canonical results of the right type, within the properties that were derived."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

import duckdb
import pytest

from discreet.algebra.expressions import Field
from discreet.algebra.functions import letters
from discreet.algebra.registry import all_functions, function
from discreet.algebra.value_properties import LONGEST_TEXT, Magnitudes, Value, ValueProperties
from discreet.errors import TooLarge
from tests.algebra.cases import CONSTANTS, FAR, SMALL, Case, Columns, R, T, nasty, signatures, sql_of

NAMES = [record.name for record in all_functions()]


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
                Case(
                    record, kinds, far, constants=constants, bounds=False, listed=False, magnitudes=Magnitudes(500, 500)
                ).check(engine)


@pytest.mark.parametrize("name", NAMES)
def test_results_are_within_bounds_and_values_that_were_derived(engine: duckdb.DuckDBPyConnection, name: str) -> None:
    are_within_what_was_derived(engine, name, choices_each=12)


def are_within_what_was_derived(engine: duckdb.DuckDBPyConnection, name: str, *, choices_each: int) -> None:
    """About so many choices of arguments for each signature, and a quarter of them where a signature takes any type."""
    record = function(name)
    wanted = choices_each if None not in record.signature.takes else choices_each // 4
    for kinds in signatures(record):
        choices = list(itertools.product(*(SMALL[kind] for kind in kinds)))
        for number, chosen in enumerate(choices[:: max(1, len(choices) // wanted) | 1]):
            constants = CONSTANTS.get(name, [{}])
            some = constants[number % len(constants)]
            bare: Columns = [list(column) for column in chosen]
            Case(record, kinds, bare, constants=some, bounds=True, listed=False).check(engine)
            case = Case(record, kinds, bare, constants=some, bounds=True, listed=True)
            values, results = case.call.properties.values, case.check(engine)
            if values is not None and name not in ("case", "coalesce", "least", "greatest", "nullif"):
                assert set(values) == results - {None}
            nullable: Columns = [[*column, None] for column in bare]
            for listed in (False, True):
                Case(record, kinds, nullable, constants=some, bounds=True, listed=listed).check(engine)


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


# Letters, and what rounds


def test_every_character_has_the_same_case_in_python_and_on_the_engine(engine: duckdb.DuckDBPyConnection) -> None:
    """Beside a character that sends a text past the way for ASCII."""
    points = (
        "SELECT '漢' || chr(CAST(i AS INTEGER)) AS c FROM range(1, 1114112) r(i) WHERE i NOT BETWEEN 55296 AND 57343"
    )
    pairs = dict(zip(letters.CAPITALS, letters.SMALL, strict=True))
    for name, expected in (("lower", pairs), ("upper", {small: capital for capital, small in pairs.items()})):
        sql = sql_of(function(name), [Field(0, ValueProperties(type=T, longest=2))], ["c"])
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
