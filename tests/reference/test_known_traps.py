"""Trees on which an engine was once wrong: each stays as a question of its own."""

import pytest

from discreet.algebra.expressions import Literal, call
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query
from discreet.algebra.relations import Filter
from discreet.algebra.table_scan import scan
from discreet.catalog import Type
from discreet.engines import DuckEngine
from tests.reference.comparing import SALT, Bench
from tests.reference.worlds import random_world

ROWS = (Measure(kind=MeasureKind.ROWS),)


def text(value):
    return Literal(Type.TEXT, value)


@pytest.fixture(scope="module")
def benches():
    worlds = [random_world(seed) for seed in range(3)]
    made = [Bench(world, DuckEngine(world.catalog, salt=SALT, frames=world.frames())) for world in worlds]
    yield made
    for bench in made:
        bench.engine.close()


def wrong(benches, query_of):
    return [found for bench in benches for found in bench.wrong(query_of(bench.world.catalog))]


def test_a_column_twice_in_greatest_with_limited_groups(benches):
    """DuckDB 2.0.0: "Duplicate named argument" while a CTE that is not materialized is copied."""

    def query(catalog):
        rows = scan(catalog.tables["events"], catalog)
        key = Key(call("greatest", text("a"), rows.field(1), rows.field(1)), None)
        return Query(
            rows=rows,
            keys=(key,),
            measures=ROWS,
            limits=ContributionBounds(rows=2, groups=2, rows_per_group=1),
            sets=((0,),),
        )

    assert wrong(benches, query) == []


CONDITIONS = {
    "in": lambda label: call("in", label, text("n1"), text("b")),
    "like": lambda label: call("like", label, text("n%")),
    "contains": lambda label: call("contains", label, text("n")),
    "starts_with": lambda label: call("starts_with", label, text("n")),
    "eq": lambda label: call("eq", label, text("n1")),
}
LABELS = {
    "case": lambda column: call("case", call("eq", column, text("n1")), text("n1"), text(None)),
    "else": lambda column: call("case", call("eq", column, text("n2")), text(None), text("n1")),
    "nullif": lambda column: call("nullif", text("n1"), column),
}


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_case_of_one_constant_in_a_condition(benches, label, condition):
    """DuckDB 2.0.0: such a filter becomes `column IS NOT NULL`."""

    def query(catalog):
        rows = scan(catalog.tables["notes"], catalog)
        kept = Filter(rows, CONDITIONS[condition](LABELS[label](rows.field(1))))
        return Query(
            rows=kept, keys=(Key(rows.field(1), None),), measures=ROWS, limits=ContributionBounds(rows=3), sets=((0,),)
        )

    assert wrong(benches, query) == []


@pytest.mark.parametrize("label", LABELS)
def test_a_case_of_one_constant_as_a_declared_key_before_a_cut(benches, label):
    def query(catalog):
        rows = scan(catalog.tables["notes"], catalog)
        keys = (Key(rows.field(0), None), Key(LABELS[label](rows.field(1)), ("n1",)))
        return Query(rows=rows, keys=keys, measures=ROWS, limits=ContributionBounds(rows=1), sets=((0, 1),))

    assert wrong(benches, query) == []
