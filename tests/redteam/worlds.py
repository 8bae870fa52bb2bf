"""Pairs of neighbouring worlds that once told a person's secret, and the questions that asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine

HEAD = '[source]\npath = "."\n[budget]\nepsilon = 1000\ndelta = 1e-3\n'


@dataclass(frozen=True)
class Case:
    """Two worlds that differ in one person, and questions about them; a refusal is as good as a bounded answer."""

    name: str
    catalog: str
    one: dict
    other: dict
    queries: tuple[str, ...]
    details: dict = field(default_factory=dict)

    def engines(self):
        catalog = parse_catalog(HEAD + self.catalog)
        return catalog, [DuckEngine(catalog, salt="fixed", frames=frames) for frames in (self.one, self.other)]


def table(**columns):
    return pa.table({name: pa.array(values, kind) for name, (values, kind) in columns.items()})


def texts(names, rows):
    return pa.table({name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(names)})


_SICK = """
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.sick = { type = "boolean" }
columns.age = { type = "integer", lower = 0, upper = 120 }
"""


def _sick(rows):
    ids, sick, ages = zip(*rows, strict=True)
    return {"t": table(id=(ids, pa.int64()), sick=(sick, pa.bool_()), age=(ages, pa.int64()))}


_CROWD = [(number, False, 50) for number in range(300)]
_TARGET = (5000, True, 37)

BRACKETS = Case(
    "operators bind as they are meant, however they are spelled",
    _SICK,
    _sick([*_CROWD, _TARGET]),
    _sick(_CROWD),
    (
        "SELECT COUNT(*) FROM t WHERE TRUE IN (SELECT u.sick OR u.sick OR u.sick FROM t u WHERE u.id = t.id)",
        "SELECT COUNT(*) FROM t WHERE TRUE IN (SELECT u.age < 0 OR (u.id = 5000 AND u.sick) OR u.sick FROM t u WHERE u.id = t.id)",
        'SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.id = t.id AND NOT "or"("or"(u.age >= 0, u.sick), u.age < 0))',
        'SELECT COUNT(*) FROM t JOIN t u ON u.id = t.id AND NOT "or"("or"(u.age >= 0, u.sick), u.age < 0)',
        'SELECT SUM((SELECT COUNT(*) FROM t u WHERE u.id = t.id AND NOT "or"("or"(u.age >= 0, u.sick), u.age < 0))) FROM t',
        'SELECT COUNT(*) FROM t WHERE "case"(sick, sick)',
        "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.id = t.id AND NOT ((u.age >= 0 OR u.sick) OR u.age < 0))",
    ),
)

_NOTES = """
[tables.visits]
privacy_unit = "person"
columns.person = { type = "integer" }
columns.visit = { type = "integer" }
columns.cost = { type = "real", lower = 0, upper = 10 }
[tables.notes]
privacy_unit = { column = "visit", references = "visits.visit" }
columns.visit = { type = "integer" }
columns.score = { type = "integer", lower = 0, upper = 4 }
"""


def _together(people):
    """A visit that several people made together, and one note on it."""
    return {
        "visits": table(person=(people, pa.int64()), visit=([7] * len(people), pa.int64()), cost=([1.0] * len(people), pa.float64())),
        "notes": table(visit=([7], pa.int64()), score=([4], pa.int64())),
    }  # fmt: skip


SHARED_ROWS = Case(
    "a condition with OR does not let go of the person",
    _NOTES,
    _together(list(range(1, 51))),
    _together(list(range(2, 51))),
    (
        "SELECT COUNT(*) FROM notes n JOIN visits v ON (n.score >= 0 OR v.cost > 5) WHERE n.visit = v.visit",
        "SELECT COUNT(*) FROM notes n JOIN visits v ON n.score >= 0 OR v.cost > 5 WHERE n.visit = v.visit",
        "SELECT COUNT(*) FROM notes n JOIN visits v ON n.visit = v.visit",
    ),
)

_CITIES = """
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.income = { type = "real", lower = 0, upper = 200000 }
[tables.cities]
public = true
columns.city = { type = "text" }
columns.code = { type = "integer" }
"""


def _cities(ids):
    return {
        "t": table(id=(ids, pa.int64()), income=([200000.0] * len(ids), pa.float64())),
        "cities": table(
            city=([f"c{number}" for number in range(1000)], pa.string()), code=(list(range(1000)), pa.int64())
        ),
    }


PUBLIC_KEYS = Case(
    "a public row is met as often as was counted",
    _CITIES,
    _cities([1, 2]),
    _cities([1]),
    (
        "SELECT COUNT(*), SUM(t.income) FROM t JOIN cities c ON c.code = (SELECT MAX(x.code) FROM cities x WHERE x.city = c.city)",
        "SELECT COUNT(*), SUM(t.income) FROM t JOIN cities c ON c.code = c.code",
        "SELECT COUNT(*) FROM t JOIN cities c ON c.code = CASE WHEN EXISTS (SELECT 1 FROM cities x WHERE x.city = c.city) THEN 5 ELSE 5 END",
        'SELECT COUNT(*) FROM t JOIN cities c ON c.code = t.id AND NOT "or"("or"(t.id >= 0, TRUE), t.id < 0)',
        "SELECT COUNT(*) FROM t CROSS JOIN cities",
    ),
)

_POSTS = """
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.post = { type = "integer" }
[tables.posts]
public = true
columns.post = { type = "integer" }
"""


def _posts(count):
    large = 2**61
    near = [large + away for away in range(-200, 200)]
    return {
        "t": table(id=(list(range(count)), pa.int64()), post=([large] * count, pa.int64())),
        "posts": table(post=(near, pa.int64())),
    }


WHOLE_NUMBERS = Case(
    "whole numbers stay whole numbers",
    _POSTS,
    _posts(5),
    _posts(4),
    tuple(
        f"SELECT COUNT(*) FROM t JOIN posts p ON p.post = {key}"
        for key in ("FLOOR(t.post)", "CEIL(t.post)", "t.post", "COALESCE(FLOOR(t.post), 0)", "ROUND(t.post)")
    ),
)

_DATES = """
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.until = { type = "date" }
"""


def _dates(values):
    return {"t": table(id=(list(range(len(values))), pa.int64()), until=(values, pa.string()))}


LAST_DAYS = Case(
    "two groups of the engine are never one here",
    _DATES,
    _dates(["9999-12-31"] * 300 + ["infinity"]),
    _dates(["9999-12-31"] * 300),
    ("SELECT until, COUNT(*) FROM t GROUP BY until", "SELECT until, COUNT(DISTINCT id) FROM t GROUP BY until"),
    {"delta": 1e-6},
)

_FRAIL = """
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.n = { type = "integer" }
columns.age = { type = "integer", lower = 0, upper = 120 }
columns.d = { type = "date" }
columns.city = { type = "text" }
columns.sick = { type = "boolean" }
"""
_FRAIL_NAMES = ("id", "n", "age", "d", "city", "sick")
_FRAIL_CROWD = [(str(number), "1", "50", "2020-01-01", "12", "false") for number in range(100)]
_FRAIL_TARGET = ("5000", str(2**62), "37", "5881580-07-10", "alice-ssn-123", "true")

FAILURES = Case(
    "nothing fails on one person's row",
    _FRAIL,
    {"t": texts(_FRAIL_NAMES, [*_FRAIL_CROWD, _FRAIL_TARGET])},
    {"t": texts(_FRAIL_NAMES, _FRAIL_CROWD)},
    (
        "SELECT SUM(CASE WHEN sick THEN 2147483647 ELSE 0 END * 2) FROM t",
        "SELECT SUM(CASE WHEN sick THEN 2147483647 ELSE 0 END + CASE WHEN sick THEN 1 ELSE 0 END) FROM t",
        "SELECT SUM(SIGN(age - 49) + 2147483647) FROM t",
        "SELECT COUNT(*) FROM t WHERE sick AND d > '20200101'",
        "SELECT COUNT(*) FROM t WHERE CASE WHEN sick THEN '20200101' ELSE d END > d",
        "SELECT COUNT(*) FROM t WHERE sick AND d IN ('2020-W01-1')",
        "SELECT SUM(LEAST(DATE_DIFF('day', CAST('5877642-06-25 (BC)' AS DATE), d) * DATE_DIFF('day', CAST('5877642-06-25 (BC)' AS DATE), d), 5)) FROM t",
        "SELECT COUNT(*) FROM t WHERE DATE_DIFF('day', DATE '0001-01-01', d) * DATE_DIFF('day', DATE '0001-01-01', d) = 7",
        "SELECT COUNT(*) FROM t WHERE CASE WHEN sick THEN d ELSE '20200101' END > d",
        "SELECT COUNT(*) FROM t WHERE COALESCE(CASE WHEN sick THEN NULL ELSE d END, '20200101') > d",
        "SELECT COUNT(*) FROM t WHERE CHARINDEX('a', city, n) > 1",
        "SELECT COUNT(*) FROM t WHERE CHARINDEX('', city, n) > 1",
        "SELECT COUNT(*) FROM t WHERE CHARINDEX('a', city, CASE WHEN sick THEN 9000000000 ELSE 1 END) = 3",
        "SELECT COUNT(*) FROM t WHERE CHARINDEX('a', city, city) > 1",
        "SELECT COUNT(*) FROM t WHERE LOCATE('a', city, n) > 1",
        "SELECT COUNT(*) FROM t WHERE INSTR(city, 'a', n) > 1",
        "SELECT COUNT(*) FROM t WHERE CHARACTER_LENGTH(city) > 3",
        "SELECT COUNT(*) FROM t WHERE LENGTH(city) > 3",
        "SELECT COUNT(*) FROM t WHERE FLOOR(n, 2) > 3",
        "SELECT COUNT(*) FROM t WHERE CEIL(n * 1.5, 300) > 3",
        'SELECT COUNT(*) FROM t WHERE "FLOOR"(n * 1.5, n) > 3',
        "SELECT COUNT(*) FROM t WHERE LEFT(city, n) = 'a'",
        "SELECT COUNT(*) FROM t WHERE DATE_DIFF('day', d, DATE '2020-01-01') > 1",
        "SELECT COUNT(*) FROM t WHERE DATEDIFF(d, DATE '2020-01-01') > 1",
        "SELECT COUNT(*) FROM t WHERE TRIM(city, n) = 'a'",
        "SELECT COUNT(*) FROM t WHERE LOG(n, sick) > 1",
        "SELECT COUNT(*) FROM t WHERE ROUND(n, n) > 1",
        "SELECT COUNT(*) FROM t WHERE ROUND(n, -2) > 1",
        "SELECT COUNT(*) FROM t WHERE EXTRACT(week FROM d) > 1",
        "SELECT COUNT(*) FROM t WHERE DATE_TRUNC('week', d) > d",
        "SELECT COUNT(*) FROM t WHERE TIMESTAMP_TRUNC(d, DAY, city) > d",
        "SELECT COUNT(*) FROM t WHERE STARTS_WITH(city, 'a')",
        "SELECT COUNT(*) FROM t WHERE SUBSTRING(city FROM n FOR n) = 'a'",
        "SELECT SUM(LEAST(GREATEST(LN(age - 40), 0), 2)) FROM t",
        "SELECT COUNT(*) FROM t WHERE n * n * n > 0 OR n + n + n > 0 OR POW(n, n) > 0 OR EXP(n) > 0",
    ),
)

_WIDE = """
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.v = { type = "integer", lower = 0, upper = 2147483647, granularity = 1 }
"""


def _wide(values):
    return {"t": table(id=(list(range(len(values))), pa.int64()), v=(values, pa.int64()))}


OVERFLOW = Case(
    "no step of a histogram overflows",
    _WIDE,
    _wide([5] * 100 + [2147483647]),
    _wide([5] * 100),
    tuple(f"SELECT {aggregate}(v) FROM t" for aggregate in ("MEDIAN", "MAX", "SUM", "AVG", "STDDEV")),
)

_REALS = """
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.x = { type = "real" }
"""


def _reals(rows):
    ids, values = zip(*rows, strict=True)
    return {"t": table(id=(ids, pa.int64()), x=(values, pa.float64()))}


def zero_keys(person):
    """0.0 and -0.0 are one group; which of them is shown must not depend on one more person."""
    base = [(number, 0.25) for number in range(1, 301)]
    return Case(
        f"zero has no sign ({person})",
        _REALS,
        _reals([*base, (person, -0.25)]),
        _reals(base),
        ("SELECT x * 0 AS k, COUNT(*) FROM t GROUP BY 1", "SELECT ROUND(x) AS k, COUNT(*) FROM t GROUP BY 1", "SELECT 0 / x AS k, COUNT(*) FROM t GROUP BY 1"),
        {"delta": 1e-6},
    )  # fmt: skip


_PEOPLE = """
[tables.t]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.age = { type = "integer", lower = 0, upper = 120 }
columns.income = { type = "real", lower = 0, upper = 200000 }
"""


def _people(rows):
    ids, ages, incomes = zip(*rows, strict=True)
    return {"t": table(id=(ids, pa.int64()), age=(ages, pa.int64()), income=(incomes, pa.float64()))}


_BASE = [(number + 1000, 50, 1000.0) for number in range(1, 301)]

UNIONS = [
    Case(
        f"the sides of a union are not shifted (income {income})",
        _PEOPLE,
        _people([*_BASE, (4711, 66, income)]),
        _people(_BASE),
        (
            "SELECT SUM(r) AS s FROM (SELECT id, age AS p, age AS r, income + 0 AS q FROM t UNION ALL SELECT id, age + 0 AS p, age AS r, income AS q FROM t)",
            "SELECT COUNT(*) AS c FROM (SELECT id, COUNT(*) OVER (PARTITION BY id) AS n FROM (SELECT age AS p, id, age + 0 AS q FROM t UNION ALL SELECT age + 0 AS p, id, age AS q FROM t)) WHERE n > 100",
        ),
    )
    for income in (1e9, 1e15, float("inf"))
]  # fmt: skip

_STEPS = """
[tables.a]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.x = { type = "real", lower = 0, upper = 8, granularity = 1 }
[tables.b]
privacy_unit = "id"
columns.id = { type = "integer" }
columns.x = { type = "real", lower = 0, upper = 1, granularity = 1 }
"""


def _steps(ids):
    eights = table(id=(ids, pa.int64()), x=([8.0] * len(ids), pa.float64()))
    return {"a": eights, "b": eights}


def union_steps(count, target):
    """Equal values with other hidden steps: which row is first must not depend on others."""
    return Case(
        f"ties of a union are broken by its own rows ({count}, {target})",
        _STEPS,
        _steps([*range(1, count + 1), target]),
        _steps(list(range(1, count + 1))),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 1) SUM(x) FROM (SELECT id, x FROM a UNION ALL SELECT id, x FROM b)",
            "SELECT SUM(x) FROM (SELECT id, x, ROW_NUMBER() OVER (PARTITION BY id ORDER BY x) AS r FROM (SELECT id, x FROM a UNION ALL SELECT id, x FROM b)) WHERE r = 1",
            "SELECT SUM(x) FROM (SELECT id, x FROM (SELECT id, x FROM a UNION ALL SELECT id, x FROM b) QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY x) = 1)",
        ),
    )


CASES = [
    BRACKETS, SHARED_ROWS, PUBLIC_KEYS, WHOLE_NUMBERS, LAST_DAYS, FAILURES, OVERFLOW, *UNIONS,
    *(zero_keys(person) for person in (-60, -7, -1, 0)),
    *(union_steps(count, target) for count in (20, 300) for target in (0, -7, 1001)),
]  # fmt: skip
