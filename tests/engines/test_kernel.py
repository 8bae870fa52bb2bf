"""Questions to exact integers: cuts, keys, measures."""

from collections import Counter
from contextlib import closing
from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.algebra.aggregates import Aggregate, Fold
from discreet.algebra.expressions import call
from discreet.algebra.grids import Grid
from discreet.algebra.query import Key, Measure, MeasureKind
from discreet.algebra.relations import Filter, PerPerson, Project, Scan, UnionAll
from discreet.algebra.table_scan import scan
from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine
from discreet.engines.exact_rows import whole as whole_numbers
from discreet.engines.sqlgen.kernel import groupings
from tests.engines.small import (
    COST,
    PERSON,
    VISIT,
    WARD,
    D,
    asked,
    cells,
    opened,
    query,
    scanned,
    text,
    total,
    whole,
)
from tests.reference.comparing import Bench, sizes_of
from tests.reference.random_queries import Queries
from tests.reference.worlds import random_world


@pytest.fixture(scope="module")
def engine():
    opening = opened()
    yield opening
    opening.close()


ROWS, PEOPLE = Measure(kind=MeasureKind.ROWS), Measure(kind=MeasureKind.PEOPLE)


def test_groups_have_counts_totals_and_people(engine):
    rows = scanned("visits")
    measures = (
        ROWS,
        total(rows, COST),
        total(rows, COST, centre=4),
        PEOPLE,
        Measure(kind=MeasureKind.PRESENT, values=(rows.field(COST),)),
    )
    given = asked(engine, rows, keys=(Key(rows.field(WARD), ("A", "B", "C", None)),), measures=measures, rows=4)
    # steps of 0.5, clamped to 0 … 8; 9.0 was clamped when it was read
    assert given == {
        ("A",): (3, 8, 0, 2, 2),
        ("B",): (2, 5, -3, 2, 2),
        ("C",): (1, 8, 4, 1, 1),
        (None,): (1, 6, 2, 1, 1),
    }


def test_each_grouping_set_has_its_own_rows(engine):
    rows = scanned("visits")
    keys = (Key(rows.field(WARD), None), Key(rows.field(PERSON), None))
    by_ward, nothing = asked(engine, rows, keys=keys, sets=((0,), ()), rows=4)
    assert by_ward == {("A",): (3, 2), ("B",): (2, 2), ("C",): (1, 1)}  # NULL is no group, so it is in no total either
    assert nothing == {(): (6,)}


def test_without_rows_there_is_one_group_without_keys_and_none_with_keys(engine):
    rows = scanned("visits")
    nobody = Filter(rows, call("lt", rows.field(PERSON), whole(0)))
    median = Measure(
        kind=MeasureKind.QUANTILE, values=(rows.field(COST),), steps=(Grid(Fraction(1, 2), 0, 8),), q=Fraction(1, 2)
    )
    assert asked(engine, nobody, measures=(ROWS, total(rows, COST), PEOPLE, median), rows=4) == {(): (0, 0, 0, 0)}
    for values in (("A",), None):
        assert asked(engine, nobody, keys=(Key(rows.field(WARD), values),), measures=(ROWS, median), rows=4) == {}


def test_filters_come_after_the_cut_and_null_does_not_count(engine):
    rows = scanned("visits")
    dear = Measure(kind=MeasureKind.ROWS, where=call("gt", rows.field(COST), call("real", whole(1))))
    people = Measure(kind=MeasureKind.PEOPLE, where=dear.where)
    for keys in ((), (Key(rows.field(PERSON), None),)):
        given = asked(engine, rows, keys=keys, measures=(dear, people), rows=4)
        assert given == ({(1,): (2, 1, 1), (2,): (0, 0, 1), (3,): (2, 1, 1)} if keys else {(): (4, 2)})


def test_distinct_counts_combinations_without_null(engine):
    rows = scanned("visits")
    wards = Measure(kind=MeasureKind.DISTINCT, values=(rows.field(WARD),))
    pairs = Measure(kind=MeasureKind.DISTINCT, values=(rows.field(WARD), rows.field(COST)))
    assert asked(engine, rows, measures=(wards, pairs, PEOPLE), rows=4) == {(): (3, 5, 3)}
    private = asked(engine, rows, keys=(Key(rows.field(PERSON), None),), measures=(wards, pairs), rows=4)
    assert private == {(1,): (3, 3, 1), (2,): (1, 1, 1), (3,): (1, 1, 1)}


def test_histograms_belong_to_the_groups_beside_them(engine):
    rows = scanned("visits")
    median = Measure(
        kind=MeasureKind.QUANTILE,
        values=(rows.field(COST),),
        steps=(Grid(Fraction(1, 2), 0, 8),),
        q=Fraction(1, 2),
        where=call("ne", rows.field(WARD), text("B")),
    )
    made = query(rows, keys=(Key(rows.field(WARD), None),), measures=(ROWS, median), rows=4)
    (exact,) = engine.run(made)
    groups, bins, counts = exact.histograms[1]
    names = exact.keys[0].to_pylist()
    found = Counter(
        {(names[group], int(place)): int(count) for group, place, count in zip(groups, bins, counts, strict=True)}
    )
    assert found == {("A", 2): 1, ("A", 6): 1, ("C", 8): 1}
    assert set(names) == {"A", "B", "C", None}


def test_people_are_counted_by_the_places_of_declared_texts_whatever_their_order_and_letters():
    """Those that are not declared are in no group of one that is; histograms belong to the groups beside them."""
    odd = ["it's", "", "B", "A", "ß\n"]
    with closing(
        opened(visits=[(at, at, ward, 1.0, D) for at, ward in enumerate([*odd, "A", "C", None, "a", " B"])])
    ) as given:
        rows = scanned("visits")
        median = Measure(kind=MeasureKind.QUANTILE, values=(rows.field(COST),), steps=(Grid(Fraction(1, 2), 0, 8),), q=Fraction(1, 2))  # fmt: skip
        made = query(rows, keys=(Key(rows.field(WARD), tuple(odd)),), measures=(PEOPLE, ROWS, median), rows=4)
        assert "ENUM" in groupings(made, salt="s")[0].integers.sql
        (exact,) = given.run(made)
        counted = {key: counts for (key,), counts in cells(exact).items() if key is not None}
        groups, _, rows_of_groups = exact.histograms[2]
        names = exact.keys[0].to_pylist()
    assert counted == {ward: (1 + (ward == "A"),) * 2 + (0,) for ward in odd}
    assert {names[group]: int(count) for group, count in zip(groups, rows_of_groups, strict=True)} == {
        None: 4, **{ward: counts[0] for ward, counts in counted.items()}
    }  # fmt: skip


# Cuts


def events(engine, *, keys, **limits):
    rows = scanned("events")
    return asked(engine, rows, keys=tuple(Key(rows.field(at), values) for at, values in keys), **limits)


def test_a_person_keeps_the_first_rows_by_rank_after_undeclared_keys_are_dropped(engine):
    ranks = engine._data.execute("SELECT c2 FROM data.events WHERE o = 1 ORDER BY r").fetchall()
    declared = [kind for (kind,) in ranks if kind in ("x", "y", "z")]
    expected = Counter(declared[:2]) + Counter(["x"])
    assert {key: count for (key,), (count,) in events(engine, keys=((1, ("x", "y", "z")),), rows=2).items()} == expected


def test_null_is_a_group_only_where_it_is_declared(engine):
    assert (None,) not in events(engine, keys=((1, ("x",)),), rows=1)
    assert events(engine, keys=((1, (None,)),), rows=1) == {(None,): (1,)}
    assert (None,) not in events(engine, keys=((1, None),), rows=1)


def test_a_person_is_in_the_first_groups_only_and_has_the_first_rows_of_each(engine):
    given = events(engine, keys=((1, ("x", "y", "z")),), rows=9, groups=2, rows_per_group=1)
    assert sum(count for (count,) in given.values()) == 3  # two of person 1, one of person 2
    assert max(count for (count,) in given.values()) <= 2
    assert events(engine, keys=((1, ("x",)),), rows=9, groups=2, rows_per_group=2) == {("x",): (3,)}
    assert (
        sum(
            count
            for (count,) in events(engine, keys=((1, ("x", "y", "z")),), rows=1, groups=3, rows_per_group=2).values()
        )
        == 2
    )


def test_many_declared_values_go_beside_the_statement():
    many = (*(f"v{number}" for number in range(500)), None)
    engine = opened(events=[(1, "v7", 1), (1, "w", 2), (2, None, 3), (3, "v499", 4)])
    rows = scanned("events")
    made = query(rows, keys=(Key(rows.field(1), many),), rows=1)
    (grouping,) = groupings(made, salt="s")
    assert "v499" not in grouping.integers.sql
    engine.bind(made)
    assert cells(engine.run(made)[0]) == {("v7",): (1,), ("v499",): (1,), (None,): (1,)}
    engine.close()


def test_rows_of_a_union_are_told_apart_and_cut_together(engine):
    rows = scanned("visits")
    twice = UnionAll((rows, Project(rows, tuple(rows.field(at) for at in range(5)))))
    assert asked(engine, twice, rows=8) == {(): (14,)}
    assert asked(engine, twice, measures=(ROWS, PEOPLE), rows=3) == {
        (): (8, 3)
    }  # 3 of person 1, both of 2, 3 of person 3


def test_rows_whose_ids_are_values_are_cut_by_a_hash(engine):
    rows = scanned("visits")
    wards = PerPerson(rows, (rows.field(WARD),), (Aggregate(Fold.ROWS, None),))
    given = asked(engine, wards, keys=(Key(wards.field(1), None),), rows=1)
    assert sum(count for count, _ in given.values()) == 3  # NULL is dropped before
    assert all(count == people for count, people in given.values())


# Exact integers

WIDE = parse_catalog("""
[source]
path = "."
[budget]
epsilon = 1
[tables.t]
privacy_unit = "p"
columns.p = { type = "integer" }
columns.x = { type = "real", lower = -4503599627370496, upper = 4503599627370496, granularity = 1 }
columns.k = { type = "integer", values = [1, 2] }
""")


def test_sums_beyond_64_bits_are_exact():
    people = 3000
    frame = pa.table(
        {
            "p": range(people),
            "x": [4503599627370496.0 - (number % 7) for number in range(people)],
            "k": [1 + number % 2 for number in range(people)],
        }
    )
    engine = DuckEngine(WIDE, salt="s", frames={"t": frame})
    rows = scan(WIDE.tables["t"], WIDE)
    steps = Grid(Fraction(1), -(2**52), 2**52)
    squares = Measure(kind=MeasureKind.SQUARES, values=(rows.field(1),), steps=(steps,), centres=(-(2**52),), coarser=0)
    products = Measure(
        kind=MeasureKind.PRODUCTS,
        values=(rows.field(1), rows.field(0)),
        steps=(steps, Grid(Fraction(1), 0, 10)),
        centres=(2**52, 10),
        coarser=2,
    )
    far = Measure(kind=MeasureKind.TOTAL, values=(rows.field(1),), steps=(steps,), centres=(-(2**52),))
    expected: dict[int, list[int]] = {1: [0, 0, 0], 2: [0, 0, 0]}
    for number in range(people):
        value, cell = 2**52 - number % 7, expected[1 + number % 2]
        cell[0] += (value + 2**52) ** 2
        cell[1] += ((value - 2**52) * (min(number, 10) - 10) + 2) >> 2
        cell[2] += value + 2**52
    for values in ((1, 2), None):
        given = asked(engine, rows, keys=(Key(rows.field(2), values),), measures=(squares, products, far), rows=1)
        assert {key: list(cell[:3]) for (key,), cell in given.items()} == expected
        assert given[1,][0] > 2**100
    engine.close()


def test_a_decimal_column_is_read_without_a_double():
    values = [0, 1, -1, 2**62, -(2**63), 2**63 - 1]
    column = pa.array(values, pa.decimal128(38, 0))
    assert whole_numbers(column).tolist() == values
    assert whole_numbers(column).dtype == "int64"
    assert whole_numbers(column.slice(2, 3)).tolist() == values[2:5]
    wide = [*values, 2**63, -(2**63) - 1, 10**37, -(10**37)]
    assert whole_numbers(pa.array(wide, pa.decimal128(38, 0))).tolist() == wide


# What is written


def test_stored_steps_are_what_would_be_computed(engine):
    rows = scanned("visits")
    again = Project(rows, (rows.field(WARD), call("add", rows.field(COST), call("real", whole(0)))))
    stored, computed = (
        total(rows, COST),
        Measure(kind=MeasureKind.TOTAL, values=(again.field(1),), steps=(Grid(Fraction(1, 2), 0, 8),), centres=(0,)),
    )
    assert "s4" in groupings(query(rows, measures=(stored,), rows=4), salt="s")[0].integers.sql
    assert "s4" not in groupings(query(again, measures=(computed,), rows=4), salt="s")[0].integers.sql
    assert asked(engine, rows, measures=(stored,), rows=4) == asked(engine, again, measures=(computed,), rows=4)


def test_stored_steps_are_clamped_all_the_same(engine):
    rows = scanned("visits")
    narrow = Measure(
        kind=MeasureKind.TOTAL, values=(rows.field(COST),), steps=(Grid(Fraction(1, 2), 2, 4),), centres=(0,)
    )
    assert asked(engine, rows, measures=(narrow,), rows=4) == {(): (2 + 4 + 4 + 2 + 4 + 4,)}


@pytest.mark.parametrize("most", [1, 2])
def test_the_statement_itself_compares_the_rank(most):
    rows = scanned("visits")
    tight = Scan(rows.table, rows.person, most, rows.unique, 0)
    assert f"r <= {most}" in groupings(query(tight, rows=4), salt="s")[0].integers.sql


def test_no_statement_holds_a_name_of_the_catalogs_columns_or_a_bare_text_of_the_analyst():
    rows = scanned("visits")
    attack = "x'; DROP TABLE visits; --"
    kept = Filter(rows, call("eq", rows.field(WARD), text(attack)))
    made = query(
        kept,
        keys=(Key(kept.field(WARD), ("A", attack)),),
        measures=(total(kept, COST),),
        rows=1,
        groups=1,
        rows_per_group=1,
    )
    (grouping,) = groupings(made, salt="s")
    sql = grouping.integers.sql
    literal = "CAST('" + attack.replace("'", "''") + "' AS VARCHAR)"
    assert literal in sql
    rest = sql.replace(literal, "")
    assert "DROP" not in rest
    assert not [name for name in rows.table.columns if f'"{name}"' in rest or f" {name} " in rest or f".{name}" in rest]


def test_rows_are_the_same_whatever_their_order_and_the_number_of_threads():
    from tests.engines.small import EVENTS, VISITS

    rows = scanned("visits")
    made = query(
        rows,
        keys=(Key(rows.field(WARD), None),),
        measures=(ROWS, total(rows, COST)),
        rows=2,
        groups=1,
        rows_per_group=2,
    )
    answers = []
    for step in (1, -1):
        engine = opened(visits=VISITS[::step], events=EVENTS[::step])
        answers.append(cells(engine.run(made)[0]))
        engine.close()
    assert answers[0] == answers[1]


@pytest.mark.parametrize("seed", range(2))
def test_random_questions_have_the_integers_of_the_reference(seed):
    world = random_world(seed, text_people=bool(seed))
    engine = DuckEngine(world.catalog, salt="salt", frames=world.frames())
    bench, drawn = Bench(world, engine), Queries(seed, world.catalog, sizes_of(world))
    wrong = [found for found in (bench.wrong(drawn.draw()) for _ in range(40)) if found]
    engine.close()
    assert not wrong


def test_a_person_alone_counts_the_same_as_among_others(engine):
    from tests.engines.small import VISITS

    rows = scanned("visits")
    made = query(rows, keys=(Key(rows.field(VISIT), None),), measures=(ROWS, total(rows, COST)), rows=2)
    together = cells(engine.run(made)[0])
    apart: Counter[tuple] = Counter()
    for person in (1, 2, 3):
        alone = opened(visits=[row for row in VISITS if row[0] == person])
        apart.update(cells(alone.run(made)[0]).keys())
        alone.close()
    assert set(apart) == set(together)
