"""Timestamps from the source to the answer: read exactly, in UTC where a zone is written, counted by hour and day, refused by name where they are not known."""

from datetime import date, datetime, timedelta, timezone

import pandas as pd
import pytest

from discreet.catalog import parse_catalog
from discreet.errors import BadCatalog, DiscreetError, NotAllowed
from discreet.results.answer_json import answer_to_json, parameters_from_json, parameters_to_json, read_array
from tests.support.opening import open_curator

CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 1e9
delta = 1e-3
[tables.calls]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.begun = { type = "timestamp", lower = 2024-03-01, upper = 2024-03-02 }
columns.text = { type = "timestamp" }
columns.day = { type = "date" }
"""
BEGUN = [
    datetime(2024, 3, 1, 8, 30),
    datetime(2024, 3, 1, 8, 59, 59, 999_999),
    datetime(2024, 3, 2, 23, 15),
    datetime(2025, 1, 1),
    None,
]
TEXTS = ["2024-03-01 10:00:00", "2024-03-01T10:00:00+02:00", "2024-03-01 08:00:00.5Z", "infinity", "2024-02-30 10:00"]
EXACT = 10**6
"""An epsilon at which noise is nothing."""


@pytest.fixture(scope="module")
def curator():
    frame = pd.DataFrame({"id": range(5), "begun": BEGUN, "text": TEXTS, "day": [date(2024, 3, 1)] * 5})
    with open_curator(catalog=parse_catalog(CATALOG), frames={"calls": frame}) as made:
        yield made


def rows(curator, sql, **details):
    return [tuple(row.values()) for row in curator.ask(sql, epsilon=EXACT, **details).rows]


def count(curator, condition, **details):
    ((counted,),) = rows(curator, f"SELECT COUNT(*) FROM calls WHERE {condition}", **details)
    return counted


def test_hours_of_the_day_are_public_groups(curator):
    hours = rows(curator, "SELECT EXTRACT(hour FROM begun) AS h, COUNT(*) AS n FROM calls GROUP BY h ORDER BY h")
    assert hours == [
        (hour, {8: 2, 23: 2}.get(hour, 0)) for hour in range(24)
    ]  # what lies behind the upper end is brought to it


def test_hours_within_bounds_are_public_groups_and_leave_as_timestamps(curator):
    answer = curator.ask(
        "SELECT DATE_TRUNC('hour', begun) AS h, COUNT(*) AS n FROM calls GROUP BY h ORDER BY h", epsilon=EXACT
    )
    assert len(answer) == 48
    assert [row for row in answer.rows if row["n"]] == [
        {"h": "2024-03-01 08:00:00", "n": 2},
        {"h": "2024-03-02 23:00:00", "n": 2},
    ]
    table = answer.to_arrow()
    assert table["h"][8].as_py() == datetime(2024, 3, 1, 8)
    facts = answer_to_json(answer, 0.95)
    assert facts["types"] == ["timestamp", "integer"]
    assert read_array([row["h"] for row in facts["rows"]], "timestamp").equals(table["h"].combine_chunks())
    after = "SELECT h, n FROM (SELECT DATE_TRUNC('hour', begun) AS h, COUNT(*) AS n FROM calls GROUP BY h) WHERE h > '2024-03-02 22:30:00'"
    assert rows(curator, after) == [("2024-03-02 23:00:00", 2)]


def test_of_days_everything_is_known_that_dates_know(curator):
    assert rows(curator, "SELECT DATE_TRUNC('day', begun) AS d, COUNT(*) FROM calls GROUP BY d ORDER BY d") == [("2024-03-01", 2), ("2024-03-02", 2)]  # fmt: skip
    assert count(curator, "YEAR(begun) = 2024 AND DAY(begun) = 2 AND DAYNAME(begun) = 'Saturday'") == 2
    assert count(curator, "DATE_DIFF('day', day, begun) = 1") == 2
    assert rows(curator, "SELECT MAX(CAST(begun AS DATE)) FROM calls") == [("2024-03-02",)]


def test_a_zone_that_is_written_is_taken_off_and_without_one_nothing_is(curator):
    assert count(curator, "text = '2024-03-01 10:00:00'") == 1
    assert count(curator, "text = TIMESTAMP '2024-03-01 08:00:00'") == 1
    assert count(curator, "text = '2024-03-01 08:00:00.500000'") == 1
    assert count(curator, "text IS NULL") == 2  # an infinite one, and one that does not exist
    east = datetime(2024, 3, 1, 10, tzinfo=timezone(timedelta(hours=2)))
    assert count(curator, "text = ?", parameters=(east,)) == 1
    assert parameters_from_json(parameters_to_json({"t": east, "d": date(2024, 3, 1)})) == {
        "t": east,
        "d": date(2024, 3, 1),
    }


def test_times_are_compared_shifted_and_measured_in_seconds(curator):
    assert count(curator, "begun BETWEEN '2024-03-01' AND TIMESTAMP '2024-03-01 08:30'") == 1
    assert count(curator, "begun < day + INTERVAL 1 DAY") == 2  # a date that meets a timestamp is its midnight
    assert count(curator, "begun + INTERVAL 30 MINUTE >= '2024-03-01 09:00:00'") == 4
    assert count(curator, "DATE_DIFF('hour', begun, text) = 2 AND MINUTE(begun) = 30") == 1
    assert count(curator, "STRFTIME(begun, '%d %H:%M:%S') = '01 08:59:59'") == 1
    assert count(curator, "CAST(CAST(begun AS VARCHAR) AS TIMESTAMP) = begun") == 4
    ((minutes,),) = rows(curator, "SELECT SUM(DATE_DIFF('minute', TIMESTAMP '2024-03-01 00:00:00', begun)) FROM calls")
    assert minutes == 510 + 539 + 2835 + 2879


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(begun) FROM calls",
        "SELECT MEDIAN(begun) FROM calls",
        "SELECT MIN(begun) FROM calls",
        "SELECT COUNT(*) FROM calls WHERE begun - text > 5",
        "SELECT COUNT(*) FROM calls WHERE begun + 1 > text",
        "SELECT COUNT(*) FROM calls WHERE begun + INTERVAL 1 MONTH > text",
        "SELECT COUNT(*) FROM calls WHERE HOUR(day) = 1",
        "SELECT COUNT(*) FROM calls WHERE EXTRACT(epoch FROM begun) > 1",
        "SELECT COUNT(*) FROM calls WHERE begun > CURRENT_TIMESTAMP",
        "SELECT COUNT(*) FROM calls WHERE begun > TIMESTAMP '2024-02-30 10:00:00'",
        "SELECT COUNT(*) FROM calls WHERE begun > '2024-03-01 10:00:00+02'",
        "SELECT COUNT(*) FROM calls WHERE CAST(begun AS TIMESTAMPTZ) > begun",
    ],
)
def test_what_is_not_known_of_timestamps_is_refused_by_name_before_anything_is_paid(curator, sql):
    with pytest.raises(NotAllowed) as refused:
        curator.explain(sql, epsilon=1)
    assert refused.value.next_step


@pytest.mark.parametrize(
    "column",
    [
        'type = "timestamp", lower = 2024-03-02, upper = 2024-03-01T12:00:00',
        'type = "timestamp", lower = 1, upper = 2',
        'type = "timestamp", values = [2024-03-01]',
        'type = "timestamp", lower = 0001-01-01T00:00:00+05:00, upper = 2024-03-01',
        'type = "date", values = [2024-03-01T12:00:00]',
    ],
)
def test_a_catalog_with_ends_or_values_of_another_type_is_refused_with_its_line(column):
    with pytest.raises(BadCatalog, match="Line 12"):
        parse_catalog(CATALOG.replace('type = "timestamp", lower = 2024-03-01, upper = 2024-03-02', column))


def test_a_day_as_an_end_is_whole_and_a_zone_is_taken_off():
    text = CATALOG.replace("lower = 2024-03-01,", "lower = 2024-03-01T02:00:00+02:00,")
    begun = parse_catalog(text).tables["calls"].columns["begun"]
    assert (begun.lower, begun.upper) == (datetime(2024, 3, 1), datetime(2024, 3, 2, 23, 59, 59, 999_999))


def test_synthetic_rows_of_a_timestamp_say_what_to_select_instead(curator):
    with pytest.raises(DiscreetError, match=r"CAST\(t AS DATE\)"):
        curator.plan_synthesis("calls", epsilon=1, delta=1e-9)
