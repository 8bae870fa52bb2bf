"""DuckDB's formulas beside the same in Python."""

import math
import random
from datetime import date, datetime
from fractions import Fraction

import duckdb
import pytest

from discreet.algebra.grids import Grid
from discreet.catalog import Type
from discreet.engines.sqlgen.dialects import duckdb as dialect

CONNECTION = duckdb.connect()
STEPS = [
    (Type.REAL, Grid(Fraction(1, 2), 0, 8)), (Type.REAL, Grid(Fraction(1, 1024), -(2**52), 2**52)), (Type.REAL, Grid(Fraction(4), -3, -3)),
    (Type.INTEGER, Grid(Fraction(1), -5, 5)), (Type.INTEGER, Grid(Fraction(4), -2, 3)), (Type.INTEGER, Grid(Fraction(2) ** 40, -(2**20), 2**20)),
    (Type.INTEGER, Grid(Fraction(1, 4), -9, 9)), (Type.DATE, Grid(Fraction(1), 700_000, 740_000)), (Type.DATE, Grid(Fraction(8), 80_000, 91_000)),
    (Type.BOOLEAN, Grid(Fraction(1), 0, 1)),
]  # fmt: skip
EXTREMES = {
    Type.REAL: [0.0, 0.25, 0.24, -0.25, 3.9, 1e30, -1e30, 2.0**-100, 0.49999999999999994, 4503599627370495.5, None],
    Type.INTEGER: [0, 1, 2, -2, -3, 100, 2**63 - 1, -(2**63 - 1), 2**39, -(2**39), None],
    Type.DATE: [date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(2020, 2, 29), None],
    Type.BOOLEAN: [True, False, None],
}


def given(sql):
    return CONNECTION.execute(f"SELECT {sql}").fetchone()[0]


def in_python(value, kind, steps):
    if value is None:
        return None
    if kind is Type.REAL:
        inside = min(max(value, float(steps.low * steps.step)), float(steps.high * steps.step))
        whole = math.floor(inside / float(steps.step) + 0.5)
    else:
        number = value.toordinal() if kind is Type.DATE else int(value)
        whole = math.floor(number / steps.step + Fraction(1, 2))
    return min(max(whole, steps.low), steps.high)


@pytest.mark.parametrize(("kind", "steps"), STEPS)
def test_steps_are_clamped_rounded_up_at_the_half_and_clamped_again(kind, steps):
    rng = random.Random(7)
    reals = [rng.uniform(-9, 9) for _ in range(50)] if kind is Type.REAL else []
    values = [
        *EXTREMES[kind],
        *reals,
        *([rng.randint(-(10**6), 10**6) for _ in range(50)] if kind is Type.INTEGER else []),
    ]
    for value in values:
        formula = dialect.clamped("w", steps.low, steps.high)
        named = f"(SELECT {formula} FROM (SELECT {dialect.steps_of('v', kind, steps)} AS w FROM (SELECT {dialect.literal(kind, value)} AS v)))"
        assert given(named) == in_python(value, kind, steps), value


@pytest.mark.parametrize(
    "value", [0, 1, -1, 2**53 + 1, 2**62, 2**63 + 1025, -(2**63) - 1025, 3 * 2**70 + 2**17 + 1, 10**37 + 1, -(10**37)]
)
def test_a_wide_integer_becomes_the_double_next_to_it(value):
    assert given(f"(SELECT {dialect.nearest_double('v')} FROM (SELECT {value}::HUGEINT AS v))") == float(value)


@pytest.mark.parametrize("product", [-5, -4, -3, -1, 0, 1, 3, 4, 5, 2**70])
def test_products_are_rounded_down_at_the_half_below_zero_too(product):
    assert given(dialect.shifted(f"({product}::HUGEINT)", 3)) == (product + 4) >> 3


def test_bins_are_counted_from_the_first_candidate():
    for factor, first, last in ((1, -3, 5), (4, -2, 7), (5, 3, 9)):
        for steps in range(-40, 60):
            expected = min(max((steps + factor // 2) // factor, first), last) - first
            assert given(dialect.bin_of(f"({steps}::BIGINT)", factor=factor, first=first, last=last)) == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Type.INTEGER, 5), (Type.INTEGER, -(2**63 - 1)), (Type.REAL, 0.1), (Type.REAL, 2.0**-100), (Type.REAL, -1e30), (Type.TEXT, "O'x \\ \" -- ; $1 {0} é𝄞\n"),
        (Type.TEXT, ""), (Type.DATE, date(1, 1, 1)), (Type.DATE, date(9999, 12, 31)), (Type.TIMESTAMP, datetime(1, 1, 1)),
        (Type.TIMESTAMP, datetime(9999, 12, 31, 23, 59, 59, 999_999)), (Type.TIMESTAMP, datetime(1969, 12, 31, 23, 59, 59, 5)), (Type.BOOLEAN, True), (Type.BOOLEAN, False),
        *((kind, None) for kind in Type),
    ],
)  # fmt: skip
def test_a_constant_means_itself_and_has_its_type(kind, value):
    literal = dialect.literal(kind, value)
    assert given(literal) == value
    assert given(f"typeof({literal})") == dialect.TYPES[kind]


def test_canonical_values_are_the_only_form():
    assert repr(given(dialect.canonical("(-0.0::DOUBLE)", Type.REAL))) == "0.0"
    for value in ("'nan'", "'inf'", "'-inf'"):
        assert given(dialect.canonical(f"({value}::DOUBLE)", Type.REAL)) is None
    assert given(dialect.canonical("((-9223372036854775808)::BIGINT)", Type.INTEGER)) is None
    for value in ("'infinity'", "'10000-01-01'", "'0044-03-15 (BC)'"):
        assert given(dialect.canonical(f"({value}::DATE)", Type.DATE)) is None
        assert given(dialect.canonical(f"({value}::TIMESTAMP)", Type.TIMESTAMP)) is None


def test_a_name_in_quotes_is_one_name():
    assert dialect.quoted('a"b') == '"a""b"'
