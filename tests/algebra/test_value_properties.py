"""What people rely on: which bounds, values and refusals follow from the catalog."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from discreet.algebra.expressions import Expression, Field, Literal, call
from discreet.algebra.functions.function_list import listing
from discreet.algebra.registry import Function, all_functions, function, spelled
from discreet.algebra.value_properties import AS_READ, LONGEST_TEXT, Value, ValueProperties, every_value
from discreet.catalog import Type
from discreet.errors import NotAllowed, TooLarge
from tests.algebra.cases import B, D, N, R, T

# Bounds and domains that people rely on


def column(
    kind: Type, low: float | None = None, high: float | None = None, values: tuple[Value | None, ...] | None = None
) -> Field:
    """A column as a catalog declares it: anything may be NULL."""
    low, high = (None if end is None else Fraction(end) for end in (low, high))
    return Field(
        0,
        ValueProperties(
            type=kind,
            low=low,
            high=high,
            values=values,
            longest=20 if kind is T else None,
            magnitudes=AS_READ if kind is R else None,
        ),
    )


def whole(value: int) -> Literal:
    return Literal(N, value)


def days(first: str, last: str) -> Field:
    return column(D, date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal())


def test_a_clamped_value_is_bounded_even_where_it_is_null() -> None:
    clamped = call("least", call("greatest", column(N), whole(0)), whole(100))
    assert (clamped.properties.bounds, clamped.properties.nullable) == ((0, 100), False)


def test_a_sign_times_a_hundred_plus_a_hundred_has_three_values() -> None:
    shifted = call("add_int", call("mul_int", call("sign", column(R)), whole(100)), whole(100))
    assert every_value(shifted.properties) == (0, 100, 200)
    assert shifted.properties.bounds == (0, 200)


def test_buckets_of_a_bounded_real_are_listed() -> None:
    tens = call("mul_int", call("floor", call("div", column(R, 0, 35), Literal(R, 10.0))), whole(10))
    assert every_value(tens.properties) == (0, 10, 20, 30)


def test_width_buckets_have_no_groups_outside_of_the_bounds() -> None:
    bucket = call("width_bucket", column(R, 0, 99), Literal(R, 0.0), Literal(R, 100.0), whole(4))
    assert every_value(bucket.properties) == (1, 2, 3, 4)


def test_months_between_the_bounds_are_listed() -> None:
    month = call("trunc_month", days("2023-11-15", "2024-02-01"))
    assert every_value(month.properties) == (date(2023, 11, 1), date(2023, 12, 1), date(2024, 1, 1), date(2024, 2, 1))
    text = call("format_date", days("2023-11-15", "2024-02-01"), Literal(T, "%Y-%m"))
    assert every_value(text.properties) == ("2023-11", "2023-12", "2024-01", "2024-02")
    assert call("trunc_month", column(D)).properties.values is None


def test_years_of_dates_without_bounds_are_not_listed() -> None:
    assert every_value(call("year", column(D)).properties) is None
    assert every_value(call("year", days("2020-05-01", "2022-01-01")).properties) == (2020, 2021, 2022)


def test_null_is_a_group_where_it_is_declared_or_written_and_nowhere_else() -> None:
    ward, plain = column(T, values=("a", "b", None)), column(T, values=("a", "b"))
    is_a = call("eq", plain, Literal(T, "a"))
    assert call("upper", ward).properties.values == ("A", "B", None)
    assert call("upper", plain).properties.values == ("A", "B")
    assert call("coalesce", ward, Literal(T, "none")).properties.values == ("a", "b", "none")
    assert call("case", is_a, whole(1), Literal(N, None)).properties.values == (1, None)
    assert call("case", is_a, whole(1), whole(0)).properties.values == (1, 0)
    assert every_value(is_a.properties) == (False, True)
    assert call("concat", ward, Literal(T, "-")).properties.values == ("a-", "b-", "-")


def test_only_a_choice_between_persons_is_a_person() -> None:
    person = Field(0, ValueProperties(type=N, person=True))
    nobody, condition = Literal(N, None), call("eq", person, whole(1))
    assert call("case", condition, person, nobody).properties.person
    assert call("coalesce", person, person).properties.person
    assert call("nullif", person, whole(1)).properties.person
    for other in (
        call("case", condition, person, whole(0)),
        call("coalesce", nobody, nobody),
        call("round_int", person),
        call("least", person, person),
    ):
        assert not other.properties.person


def test_what_cannot_overflow_is_never_null() -> None:
    age = Field(0, ValueProperties(type=N, low=Fraction(0), high=Fraction(120), nullable=False))
    assert not call("add_int", age, whole(1)).properties.nullable
    assert not call("int_div", age, whole(10)).properties.nullable
    assert call("int_div", age, age).properties.nullable
    assert call("mul_int", age, whole(2**62)).properties.nullable


def test_products_of_many_reals_are_brought_back_into_range() -> None:
    grown: Expression = column(R)
    for _ in range(12):
        grown = call("mul", grown, column(R))
        assert grown.properties.magnitudes is not None
        assert max(grown.properties.magnitudes.large, grown.properties.magnitudes.fine) <= 500


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
    long = Field(0, ValueProperties(type=T, longest=LONGEST_TEXT))
    for name, more in (("joined", (long,)), ("concat", (long,)), ("replace", (Literal(T, "a"), Literal(T, "bb")))):
        with pytest.raises(TooLarge):
            call(name, long, *more)


# The registry


def test_every_record_is_documented() -> None:
    told = listing()
    assert len(told) == len(list(all_functions()))
    assert all(group and usage and says for group, usage, says in told)
    assert {usage for _, usage, _ in told} == {record.signature.says for record in all_functions()}


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
