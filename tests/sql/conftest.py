"""A catalog of small worlds, and a world in which nothing is clamped or cut, beside a plain DuckDB of the same rows."""

import duckdb
import pytest

from tests.sql.worlds import catalog_of, engine_of, random_world


@pytest.fixture(scope="module")
def catalog():
    return catalog_of()


@pytest.fixture(scope="module")
def tame(catalog):
    world = random_world(7, tame=True)
    plain = duckdb.connect()
    for name, frame in world.frames().items():
        plain.register(name, frame)
    engine = engine_of(world, catalog)
    yield engine, plain
    engine.close()
    plain.close()
