"""What analysts ask on an ordinary day: most of it is answered, and what is refused is refused by name."""

from pathlib import Path

import pyarrow as pa
import pytest

from discreet.catalog import Type, parse_catalog
from discreet.engines import DuckEngine
from discreet.errors import QueryRefused
from tests.sql.checking import planned, run

HERE = Path(__file__).parent
QUERIES = [line for line in (HERE / "everyday.sql").read_text().splitlines() if line and not line.startswith("--")]
REFUSED = {"AVG(c_acctbal) FROM customers WHERE c_acctbal > 0": "joins-people", "REGEXP_EXTRACT": "not-allowed"}
_ARROW = {Type.INTEGER: pa.int64(), Type.REAL: pa.float64(), Type.TEXT: pa.string(), Type.DATE: pa.date32(), Type.BOOLEAN: pa.bool_()}  # fmt: skip


@pytest.fixture(scope="module")
def shop():
    catalog = parse_catalog((HERE / "everyday.toml").read_text())
    frames = {
        name: pa.table({column.name: pa.array([], _ARROW[column.type]) for column in table.columns.values()})
        for name, table in catalog.tables.items()
    }
    frames["nation"] = pa.table({"n_nationkey": [0, 1, 2], "n_name": ["A", "B", "C"], "n_regionkey": [0, 0, 1]})
    frames["part"] = pa.table(
        {"p_partkey": [1, 2], "p_brand": ["x", "y"], "p_type": ["PROMO A", "B"], "p_size": [1, 2]}
    )
    engine = DuckEngine(catalog, salt="fixed", frames=frames)
    yield catalog, engine
    engine.close()


@pytest.mark.parametrize("sql", QUERIES)
def test_an_everyday_question_is_answered_or_refused_by_name(sql, shop):
    catalog, engine = shop
    expected = next((code for part, code in REFUSED.items() if part in sql), None)
    if expected is None:
        plan = planned(
            sql, catalog, engine, today=None if "CURRENT_DATE" not in sql else __import__("datetime").date(2024, 6, 1)
        )
        assert run(plan, engine)
        return
    with pytest.raises(QueryRefused) as refusal:
        planned(sql, catalog, engine)
    assert refusal.value.code == expected


def test_at_least_55_of_60_are_answered():
    assert len(QUERIES) == 60
    assert sum(not any(part in sql for part in REFUSED) for sql in QUERIES) >= 55
