"""The meanings of functions at the places where engines differ, computed by hand."""

from datetime import date, datetime

import pytest

from discreet.algebra.registry import all_functions
from tests.reference.functions import EVERY, meanings

M = 2**63 - 1
CASES = [
    ("between", (7, None, 5), False), ("between", (4, None, 5), None), ("between", (None, 1, 2), None),
    ("in", (1, None, 1), True), ("in", (2, None, 1), None), ("in", (2, 3, 1), False),
    ("same", (None, None), True), ("differs", (None, 1), True), ("lt", (False, True), True), ("lt", ("Z", "a"), True),
    ("and", (None, False), False), ("and", (None, True), None), ("or", (None, True), True), ("or", (None, False), None), ("not", (None,), None),
    ("case", (None, 1, True, 2, 3), 2), ("case", (False, 1, None), None), ("nullif", (1, None), 1), ("nullif", (1, 1), None),
    ("least", (None, 3, 2), 2), ("greatest", (None, None), None), ("coalesce", (None, "", "a"), ""), ("to_int", (True,), 1),
    ("add_int", (M, 1), None), ("add_int", (M, 0), M), ("sub_int", (-M, 1), None), ("mul_int", (2**32, 2**31), None), ("mul_int", (-(2**32), 2**31), None),
    ("int_div", (-7, 2), -3), ("int_div", (7, -2), -3), ("int_div", (1, 0), None), ("mod_int", (-7, 2), -1), ("mod_int", (7, -2), 1), ("mod_int", (1, 0), None),
    ("div", (1.0, 0.0), None), ("div", (1.0, 4.0), 0.25), ("mod", (-7.5, 2.0), -1.5), ("mod", (1e300, 1.0), None), ("mod", (1.0, 0.0), None),
    ("int", (0.5,), 0), ("int", (1.5,), 2), ("int", (2.5,), 2), ("int", (2.0**63,), None), ("int", (-(2.0**63),), None),
    ("round", (0.5,), 1), ("round", (-2.5,), -3), ("round", (0.49999999999999994,), 0), ("floor", (-0.5,), -1), ("ceil", (-0.5,), 0), ("ceil", (1e19,), None), ("trunc", (-1.9,), -1),
    ("round_to", (2.345, 2), 2.35), ("round_to", (1234.0, -2), 1200.0), ("round_to", (-0.001, 2), 0.0), ("round_int_to", (-150, -2), -200), ("round_int_to", (M, -1), None), ("round_int_to", (149, 3), 149),
    ("sqrt", (-1.0,), None), ("sqrt", (2.0,), 2.0**0.5), ("ln", (0.0,), None), ("ln", (1.0,), 0.0), ("exp", (1e9,), 2.0**100), ("exp", (-1e9,), 0.0), ("exp", (0.0,), 1.0),
    ("exp", (1.0,), 2.7182817459106445), ("pow", (-8.0, 0.5), None), ("pow", (0.0, -1.0), None), ("pow", (0.0, 0.0), 1.0), ("pow", (-2.0, 3.0), -8.0), ("pow", (2.0, 101.0), None), ("pow", (2.0, -101.0), 0.0),
    ("within", (2.0**101,), None), ("within", (2.0**-101,), 0.0), ("within", (2.0**100,), 2.0**100),
    ("width_bucket", (-1.0, 0.0, 10.0, 5), 0), ("width_bucket", (0.0, 0.0, 10.0, 5), 1), ("width_bucket", (9.99, 0.0, 10.0, 5), 5), ("width_bucket", (10.0, 0.0, 10.0, 5), 6),
    ("lower", ("ÀÉΩЖß",), "àéωжß"), ("upper", ("àéωжß",), "ÀÉΩЖß"), ("lower", ("İ",), "İ"), ("length", ("𝄞é",), 2),
    ("substring", ("abc", 0, 2), None), ("substring", ("abc", 2, 9), "bc"), ("substring", ("abc", 1, -1), None), ("substring_from", ("abc", 4), ""), ("left", ("abc", -1), None), ("right", ("abc", 0), ""), ("right", ("abc", 9), "abc"),
    ("trim", (" \u00a0a\t ",), "\u00a0a\t"), ("position", ("abc", "c"), 3), ("position", ("abc", "d"), 0), ("position", ("abc", ""), 1), ("position", ("é𝄞c", "c"), 3),
    ("like", ("a\nb", "a%b"), True), ("like", ("a\\b", "a\\b"), True), ("like", ("𝄞", "_"), True), ("like", ("A", "a"), False), ("ilike", ("É", "é%"), True), ("like", ("", "%"), True), ("like", ("ab", "a"), False),
    ("replace", ("aaa", "aa", "b"), "ba"), ("split_part", ("a,b", ",", 3), ""), ("split_part", ("a,b", ",", 2), "b"), ("concat", (None, "a", None), "a"), ("concat", (None,), ""), ("joined", ("a", None), None),
    ("text_of_date", (date(1, 2, 3),), "0001-02-03"), ("text_of_bool", (False,), "false"), ("int_of_text", (" +7 ",), 7), ("int_of_text", ("7\n",), None), ("int_of_text", ("1_0",), None), ("int_of_text", ("1" * 19,), None), ("int_of_text", ("٣",), None),
    ("real_of_text", ("1e400",), None), ("real_of_text", ("-.5",), -0.5), ("real_of_text", (".",), None), ("real_of_text", ("1e-40",), 0.0), ("real_of_text", ("nan",), None), ("real_of_text", ("-0",), 0.0),
    ("date_of_text", ("2021-02-29",), None), ("date_of_text", (" 2020-02-29 ",), date(2020, 2, 29)), ("date_of_text", ("0000-01-01",), None), ("bool_of_text", (" YES",), True), ("bool_of_text", ("on",), None), ("bool_of_text", ("f",), False),
    ("week", (date(2021, 1, 3),), 53), ("isoyear", (date(2021, 1, 3),), 2020), ("dayofweek", (date(2021, 1, 3),), 0), ("isodow", (date(2021, 1, 3),), 7), ("decade", (date(1999, 1, 1),), 199), ("trunc_week", (date(2021, 1, 3),), date(2020, 12, 28)), ("trunc_quarter", (date(2021, 6, 30),), date(2021, 4, 1)),
    ("add_months", (date(2020, 1, 31), 1), date(2020, 2, 29)), ("add_months", (date(9999, 12, 1), 1), None), ("add_days", (date(1, 1, 1), -1), None), ("add_days", (date(2020, 1, 1), 10**6 + 1), None),
    ("weeks_between", (date(2020, 1, 14), date(2020, 1, 1)), -1), ("months_between", (date(2020, 1, 31), date(2020, 2, 1)), 1), ("quarters_between", (date(2020, 12, 31), date(2021, 1, 1)), 1), ("years_between", (date(2020, 12, 31), date(2021, 1, 1)), 1), ("age_years", (date(2020, 2, 29), date(2021, 2, 28)), 0), ("age_years", (date(2021, 2, 28), date(2020, 2, 29)), 0), ("age_years", (date(2000, 5, 1), date(2020, 5, 1)), 20),
    ("hour", (datetime(1969, 12, 31, 23, 59, 59, 1),), 23), ("second", (datetime(1969, 12, 31, 23, 59, 59, 1),), 59), ("trunc_hour", (datetime(1, 1, 1, 0, 59, 59),), datetime(1, 1, 1)), ("date_of_timestamp", (datetime(1969, 12, 31, 23, 59, 59, 1),), date(1969, 12, 31)),
    ("hours_between", (datetime(1969, 12, 31, 23, 59), datetime(1970, 1, 1)), 1), ("hours_between", (datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59)), -1), ("minutes_between", (datetime(1970, 1, 1), datetime(1970, 1, 1, 0, 0, 59)), 0), ("add_seconds", (datetime(9999, 12, 31, 23, 59, 59), 1), None), ("add_seconds", (datetime(1, 1, 1), -1), None), ("add_seconds", (datetime(2020, 1, 1), 10**13), None),
    ("text_of_timestamp", (datetime(2020, 1, 1, 5, 6, 7, 120_000),), "2020-01-01 05:06:07.12"), ("text_of_timestamp", (datetime(2020, 1, 1),), "2020-01-01 00:00:00"), ("timestamp_of_text", (" 2020-01-01T05:06 ",), datetime(2020, 1, 1, 5, 6)), ("timestamp_of_text", ("2020-01-01 24:00",), None), ("timestamp_of_text", ("2021-02-29 10:00",), None), ("timestamp_of_text", ("2020-01-01 05:06:07Z",), None), ("timestamp_of_text", ("2020-01-01",), datetime(2020, 1, 1)),
    ("format_timestamp", (datetime(987, 1, 2, 3, 4, 5), "%Y %H:%M:%S"), "0987 03:04:05"), ("format_date", (date(987, 1, 2), "%Y%%%j %a"), "0987%002 Tue"), ("date", (2021, 2, 29), None), ("date", (2021, 2, 10**12), None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "expected"), CASES)
def test_a_function_means_what_the_specification_says(name, args, expected):
    given = EVERY[name](*args)
    assert (given, type(given)) == (expected, type(expected))
    assert str(given) == str(expected)  # tells -0.0 from 0.0


def test_every_registered_function_has_a_meaning_here():
    assert {record.name for record in all_functions()} <= set(EVERY)


def test_transcendental_values_can_be_asked_of_somebody_else():
    asked = meanings(lambda name, args: (name, args))
    assert asked["ln"](2.0) == ("ln", (2.0,))
    assert asked["pow"](2.0, None) is None
    assert asked["sqrt"](4.0) == 2.0


def test_no_function_fails_on_nulls():
    for record in all_functions():
        count = len(record.signature.takes) + len(record.signature.last)
        EVERY[record.name](*[None] * count)
