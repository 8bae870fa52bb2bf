"""How long plans are expected to take beside how long they take: what the rates of `discreet.planning.effort` were set by.

    python -m benchmarks.effort

Tables are generated, of the size that a catalog takes tables to have, so that only the plan differs. CPU seconds over all threads: a quiet
machine with two cores needs about half of them.
"""

from __future__ import annotations

import time

import pyarrow as pa

from discreet.api.local import Curator
from discreet.api.opening import open_curator
from discreet.api.operations.ask import priced_plan
from discreet.api.requests.ask import AskRequest
from discreet.catalog import parse_catalog
from discreet.noise import RandomBits
from discreet.pipeline.release import release
from discreet.planning.effort import SAFETY, seconds_of
from discreet.samples.clinic import CATALOG, clinic

_PAIRS = '\n[tables.numbers]\npublic = true\ncolumns.number = { type = "integer" }\n'
_QUERIES = (
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE cost > 100 AND ward = 'ER' AND date > DATE '2022-01-01'",
    "SELECT ward, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY ward",
    "SELECT date, COUNT(*) FROM visits GROUP BY date",
    "SELECT ward, VARIANCE(cost) FROM visits GROUP BY ward",
    "SELECT COUNT(DISTINCT patient_id) FROM visits",
    "SELECT ward, COUNT(DISTINCT patient_id) FROM visits GROUP BY ward",
    "SELECT MEDIAN(cost) FROM visits",
    "SELECT ward, MEDIAN(cost), APPROX_QUANTILE(cost, 0.9) FROM visits GROUP BY ward",
    "SELECT zip, COUNT(*) FROM patients GROUP BY zip",
    "SELECT sex, AVG(cost) FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY sex",
    "SELECT AVG(cost) FROM visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id AND p.sex = 'F')",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.date < b.date",
    "SELECT COUNT(*) FROM visits CROSS JOIN numbers WHERE cost > number",
    "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)",
    "SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY date) AS n FROM visits) WHERE n = 1",
    "SELECT floor, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY floor",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
    "SELECT COUNT(*) FROM patients WHERE zip LIKE '%60%1%' AND UPPER(zip) <> 'X' AND LENGTH(REPLACE(zip, '0', '12')) > 3",
    "SELECT age, sex, COUNT(*) FROM patients GROUP BY age, sex",
    "SELECT age, MEDIAN(age) FROM patients GROUP BY age",
    "SELECT COUNT(*) FROM visits WHERE cost > 1 UNION ALL SELECT COUNT(*) FROM visits WHERE cost > 2",
)


def open_world() -> Curator:
    """A million visits of a million patients, and a public table of 100 numbers."""
    catalog = CATALOG.replace('path = "ledger.sqlite"', 'path = ":memory:"').replace("epsilon = 5.0", "epsilon = 1e9")
    tables = clinic(patients=10**6, visits=10**6) | {"numbers": pa.table({"number": list(range(100))})}
    return open_curator(catalog=parse_catalog(catalog + _PAIRS), frames=tables)


def main() -> None:
    with open_world() as curator:
        print("expected, taken (CPU seconds), ratio")
        for sql in _QUERIES:
            plan = priced_plan(AskRequest(sql, epsilon=1), curator.context)
            expected, taken = seconds_of(plan) / SAFETY, []
            for _ in range(3):
                began = time.process_time()
                exact = [curator._engine.run(query) for query in plan.queries]  # noqa: SLF001
                release(plan, exact, RandomBits())
                taken.append(time.process_time() - began)
            print(f"{expected:8.3f} {min(taken):8.3f} {expected / min(taken):6.1f}  {sql}")


if __name__ == "__main__":
    main()
