"""Every operator over noisy columns: its value, its NULLs, its interval, and that nothing makes it fail."""

import math
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from discreet.postprocessing.noisy_columns import Column, exact_column, from_python
from discreet.postprocessing.operators import OPERATORS, apply_operator

LEVEL = Fraction(9, 10)


def exact(*values):
    made = from_python(values)
    return exact_column(*made)


def noisy(*values, width=1.0):
    """Numbers that are off by at most `width`."""
    base = exact(*values)
    middle = base.values.astype(float)
    return Column(base.values, base.valid, {"draw": 1}, lambda _: (middle - width, middle + width))


def result(op, *args):
    return apply_operator(op, args).python


def interval(op, *args):
    low, high = apply_operator(op, args).around(LEVEL)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


VALUES = {
    ("+", 2, 3): 5, ("+", 2, 0.5): 2.5, ("-", 2, 3): -1, ("*", 4, 3): 12, ("/", 7, 2): 3.5, ("/", 7, 0): None,
    ("//", -7, 2): -3, ("//", 7, 0): None, ("//", 7.5, 2): 3.0, ("%", -7, 2): -1, ("%", 7, 0): None, ("%", 7.5, 2): 1.5,
    ("neg", 3): -3, ("abs", -3): 3, ("abs", -0.5): 0.5, ("floor", -1.5): -2, ("ceil", -1.5): -1, ("floor", 4): 4,
    ("round", 2.5): 3.0, ("round", -2.5): -3.0, ("round", 1.255, 1): 1.3, ("round", 1234, -2): 1200, ("round", 7, 400): 7,
    ("round", 1.25, 400): 1.25, ("round", 1e300, 2): 1e300, ("round", 5.5, -400): 0.0, ("round", 5, -400): 0,
    ("sqrt", 9): 3.0, ("sqrt", -9): None, ("ln", 1): 0.0, ("ln", 0): None, ("ln", -1): None, ("exp", 0): 1.0,
    ("exp", 1e308): None, ("pow", 2, 10): 1024.0, ("pow", -8, 1 / 3): None, ("pow", 0, -1): None, ("pow", 1e308, 2): None,
    ("=", 1, 1.0): True, ("<>", 1, 2): True, ("<", 1, 2): True, ("<=", 2, 2): True, (">", 1, 2): False, (">=", 1, 2): False,
    ("=", "a", "a"): True, ("<", "a", "b"): True, ("=", None, 1): None, ("=", "a", 1): None, ("<", False, True): True,
    ("=", date(2024, 1, 2), "2024-01-02"): True, ("<", date(2024, 1, 2), date(2024, 1, 3)): True,
    ("<", date(999, 1, 2), "2024-01-02"): True,
    ("and", True, None): None, ("and", False, None): False, ("or", True, None): True, ("or", False, None): None,
    ("not", None): None, ("not", True): False, ("is_null", None): True, ("not_null", None): False, ("is_null", 3): False,
    ("between", 2, 1, 3): True, ("between", 4, 1, None): None, ("between", 0, 1, None): False,
    ("in", 2, 1, 2): True, ("in", 3, 1, None): None, ("in", "a", "b", "a"): True,
    ("case", True, 1, 2): 1, ("case", False, 1, 2): 2, ("case", None, 1, None): None, ("case", False, 1): None,
    ("case", False, 1, True, "text", 2): "text",
    ("coalesce", None, 5): 5, ("coalesce", 4, 5): 4, ("coalesce", None, None): None, ("nullif", 4, 4): None, ("nullif", 4, 5): 4,
    ("least", 3, None, 1.5): 1.5, ("greatest", 3, None, 1): 3, ("least", None, None): None, ("greatest", "a", "b"): "b",
    ("greatest", date(2024, 1, 2), date(2023, 1, 2)): date(2024, 1, 2),
    ("cast_int", 2.5): 2, ("cast_int", 3.5): 4, ("cast_int", 1e300): None, ("cast_int", " -12 "): -12, ("cast_int", "x"): None,
    ("cast_int", True): 1, ("cast_real", 2): 2.0, ("cast_real", "1.5e2"): 150.0, ("cast_real", "nan"): None,
    ("cast_real", "1e999"): None, ("cast_text", 2): "2", ("cast_text", 2.5): "2.5", ("cast_text", True): "true",
    ("cast_text", date(2024, 1, 2)): "2024-01-02", ("cast_text", None): None, ("concat", "a", None, 1): "a1",
    ("+", "a", 1): None, ("neg", "a"): None, ("+", date(2024, 1, 2), 1): None, ("sqrt", None): None,
    ("+", 2**62, 2**62): 2**63, ("*", 2**100, -2): -(2**101), ("*", 2**100, 2**100): 2.0**200, ("-", 1e308, -1e308): None,
    ("*", 10**400, 1): None, ("//", 2**80, 3): 2**80 // 3, ("%", -(2**80), 3): -(2**80 % 3), ("neg", 2**63): -(2**63),
}  # fmt: skip


@pytest.mark.parametrize("call", VALUES, ids=str)
def test_a_value_is_what_sql_says(call):
    op, *args = call
    expected = VALUES[call]
    for width in (1, 3):
        found = result(op, *(exact(*[arg] * width) for arg in args))
        assert found == [expected] * width
        assert all(type(value) is type(expected) for value in found)


def test_every_operator_is_covered():
    assert {op for op, *_ in VALUES} == set(OPERATORS)


AWKWARD = [
    None,
    0,
    1,
    -1,
    2**63,
    -(2**63),
    2**126,
    10**400,
    0.5,
    -0.5,
    1e308,
    -1e308,
    5e-324,
    True,
    "",
    "text",
    "12",
    date(1, 1, 1),
]


@pytest.mark.parametrize("op", OPERATORS)
def test_no_value_makes_an_operator_fail_and_every_result_is_canonical(op):
    operator = OPERATORS[op]
    for count in range(operator.least_arguments, min(operator.most_arguments, 3) + 1):
        grids = np.meshgrid(*[np.arange(len(AWKWARD))] * count, indexing="ij")
        rows = [[AWKWARD[at] for at in grid.reshape(-1)] for grid in grids]
        mixed = [exact(*values) for values in rows]
        columns = (
            [mixed, *([exact(value) for value in given] for given in zip(*rows, strict=True))] if count < 3 else [mixed]
        )
        for args in columns:
            made = apply_operator(op, args)
            for value in made.python:
                assert value is None or type(value) in (int, float, bool, str, date)
                assert not isinstance(value, float) or (math.isfinite(value) and str(value) != "-0.0")
            if made.around is not None:
                made.around(LEVEL)


def test_what_is_computed_together_is_what_is_computed_alone():
    """Columns of one type, and the same values among others."""
    for op in ("+", "-", "*", "/", "//", "%", "<", "="):
        numbers = [3, -7, 0, 2**62, -5]
        pairs = [(a, b) for a in numbers for b in numbers]
        together = result(op, exact(*(a for a, _ in pairs)), exact(*(b for _, b in pairs)))
        alone = [result(op, exact(a), exact(b))[0] for a, b in pairs]
        assert together == alone, op


def test_intervals_follow_the_arguments():
    assert interval("+", noisy(10), noisy(3, width=2)) == [(10, 16)]
    assert interval("-", noisy(10), noisy(3, width=2)) == [(4, 10)]
    assert interval("*", noisy(10), noisy(-3)) == [(-44, -18)]
    assert interval("/", noisy(10), noisy(2)) == [(3, 11)]
    assert interval("/", noisy(10), noisy(1)) == [(-math.inf, math.inf)]
    assert interval("//", noisy(10), noisy(3)) == [(2, 5)]
    assert interval("%", noisy(10), exact(4)) == [(0, 4)]
    assert interval("%", noisy(-10), exact(4)) == [(-4, 0)]
    assert interval("neg", noisy(10)) == [(-11, -9)]
    assert interval("abs", noisy(0.5)) == [(0, 1.5)]
    assert interval("abs", noisy(-4)) == [(3, 5)]
    assert interval("floor", noisy(1.5)) == [(0, 2)]
    assert interval("ceil", noisy(1.5)) == [(1, 3)]
    assert interval("round", noisy(1.26), exact(1)) == [(0.3, 2.3)]
    assert interval("sqrt", noisy(0.5)) == [(0, math.sqrt(1.5))]
    assert interval("ln", noisy(0.5)) == [(-math.inf, math.log(1.5))]
    assert interval("exp", noisy(0)) == [(math.exp(-1), math.exp(1))]
    assert interval("pow", noisy(0), exact(2)) == [(0, 1)]
    assert interval("pow", noisy(-2), exact(3)) == [(-27, -1)]
    assert interval("pow", noisy(3), exact(0.5)) == [(math.sqrt(2), 2)]
    assert interval("pow", noisy(0), exact(0.5)) == [(-math.inf, math.inf)]
    assert interval("least", noisy(3), exact(2.5)) == [(2, 2.5)]
    assert interval("greatest", noisy(3), exact(2.5), exact(None)) == [(2.5, 4)]
    assert interval("cast_int", noisy(2.4)) == [(1, 3)]
    assert interval("cast_real", noisy(2)) == [(1, 3)]


def test_an_interval_of_a_choice_covers_every_result_that_noise_could_have_chosen():
    condition = apply_operator(">", [noisy(5), exact(3)])
    assert interval("case", condition, exact(1), exact(0)) == [(0, 1)]
    assert interval("case", exact(True), noisy(7), noisy(100)) == [(6, 8)]
    assert interval("case", condition, exact("many"), noisy(3)) == [(2, 4)]
    assert apply_operator("case", [condition, exact("many"), exact("few")]).around is None


def test_a_number_that_cannot_be_null_keeps_its_interval_in_coalesce():
    assert interval("coalesce", noisy(5), exact(0)) == [(4, 6)]
    shaky = apply_operator("/", [noisy(5), noisy(10)])
    assert not shaky.steady
    assert interval("coalesce", shaky, exact(100)) == [(4 / 11, 100)]


def test_noise_below_zero_has_the_root_zero():
    assert result("sqrt", noisy(-3)) == [0.0]


def test_whether_something_is_null_is_noise_only_where_noise_decides_it():
    assert not apply_operator("is_null", [noisy(3)]).is_noisy
    assert apply_operator("is_null", [apply_operator("nullif", [noisy(3), exact(3)])]).is_noisy


def test_the_same_draw_is_counted_once_and_others_besides():
    other = Column(np.array([1]), np.array([True]), {"other": 1}, lambda _: (np.zeros(1), np.ones(1)))
    assert dict(apply_operator("+", [noisy(3), noisy(4)]).events) == {"draw": 1}
    assert dict(apply_operator("+", [noisy(3), other]).events) == {"draw": 1, "other": 1}
