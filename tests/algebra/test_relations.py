"""Relations: what cannot be built, what is derived, and that nothing of it changes."""

import dataclasses
from fractions import Fraction

import pytest

from discreet.algebra.aggregates import Aggregate, Fold, RowFunction, Window
from discreet.algebra.expressions import Call, Field, Literal, call
from discreet.algebra.grids import Grid
from discreet.algebra.query import ContributionBounds, Measure, MeasureKind, Query
from discreet.algebra.registry import ENGINES, Effort, Function, Nulls, Signature, all_functions, function
from discreet.algebra.relations import Filter, Join, JoinKind, Mark, PerPerson, Project, UnionAll, Windowed
from discreet.algebra.table_scan import scan
from discreet.algebra.value_properties import every_value
from discreet.catalog import Type
from discreet.errors import DiscreetError, NotAllowed, TooLarge
from tests.sql.worlds import catalog_of

CATALOG = catalog_of()
VISITS, PEOPLE, EVENTS, NOTES = (
    scan(CATALOG.tables[name], CATALOG) for name in ("visits", "people", "events", "notes")
)
WARDS = scan(CATALOG.tables["wards"], CATALOG, size=3)
NUMBER = Window(RowFunction.ROW_NUMBER, None, 0, (), (), None)


def _repeated(start, step):
    for _ in range(60):
        start = step(start)


def _integer(value):
    return Literal(Type.INTEGER, value)


def test_a_joined_person_is_the_same_person_whatever_is_asked():
    """There is no way to say otherwise: a join of two protected relations has no parameter for its owners."""
    names = {field.name for field in dataclasses.fields(Join) if field.init}
    assert names == {"left", "right", "how", "keys", "on", "fan_out"}
    for relation in (Join(VISITS, PEOPLE, how, (), None) for how in JoinKind):
        assert relation.shape.person == VISITS.shape.person


@pytest.mark.parametrize(
    ("relation", "most"),
    [
        (VISITS, 2),
        (Filter(VISITS, call("gt", VISITS.field(5), _integer(1))), 2),
        (Join(VISITS, PEOPLE, JoinKind.INNER, (), None), 2),
        (Join(VISITS, VISITS, JoinKind.INNER, (), None), 4),
        (Join(VISITS, PEOPLE, JoinKind.FULL, (), None), 3),
        (Join(NOTES, VISITS, JoinKind.INNER, ((NOTES.field(0), VISITS.field(1)),), None), 3),
        (Join(VISITS, NOTES, JoinKind.INNER, ((VISITS.field(1), NOTES.field(0)),), None), 3),
        (Join(VISITS, WARDS, JoinKind.INNER, ((VISITS.field(2), WARDS.field(0)),), None, 2), 4),
        (UnionAll((VISITS, VISITS)), 4),
        (PerPerson(VISITS, (), ()), 1),
        (PerPerson(VISITS, (VISITS.field(2),), ()), 2),
        (EVENTS, 1000),
        (PerPerson(EVENTS, (), ()), 1),
    ],
)
def test_rows_of_a_person_are_derived_by_counting(relation, most):
    assert relation.shape.most_rows == most


def test_a_row_number_bounds_the_rows_that_it_keeps():
    numbered = Windowed(VISITS, (NUMBER,))
    number = numbered.field(len(VISITS.columns))
    for name, value, most in (("eq", 1, 1), ("le", 1, 1), ("lt", 2, 1), ("eq", 2, 1), ("le", 5, 2), ("ge", 1, 2)):
        assert Filter(numbered, call(name, number, _integer(value))).shape.most_rows == most
    assert (
        Filter(numbered, call("or", call("eq", number, _integer(1)), call("gt", number, _integer(1)))).shape.most_rows
        == 2
    )
    within_ward = Windowed(VISITS, (dataclasses.replace(NUMBER, partition=(VISITS.field(2),)),))
    assert Filter(within_ward, call("eq", within_ward.field(8), _integer(1))).shape.most_rows == 2


def test_a_row_number_of_before_a_join_no_longer_numbers_rows():
    numbered = Windowed(VISITS, (NUMBER,))
    joined = Join(numbered, VISITS, JoinKind.INNER, (), None)
    assert Filter(joined, call("eq", joined.field(8), _integer(1))).shape.most_rows == 4
    with_wards = Join(numbered, WARDS, JoinKind.INNER, (), None, 3)
    assert Filter(with_wards, call("eq", with_wards.field(8), _integer(1))).shape.most_rows == 6
    stacked = UnionAll((numbered, numbered))
    assert Filter(stacked, call("eq", stacked.field(8), _integer(1))).shape.most_rows == 4
    grouped = PerPerson(numbered, (numbered.field(8), numbered.field(2)), ())
    assert Filter(grouped, call("eq", grouped.field(1), _integer(1))).shape.most_rows == 2


def test_what_mixes_people_or_public_rows_cannot_be_built():
    for build in (
        lambda: Join(WARDS, VISITS, JoinKind.LEFT, (), None, 1),
        lambda: Join(VISITS, WARDS, JoinKind.FULL, (), None, 3),
        lambda: UnionAll((VISITS, Project(WARDS, ()))),
        lambda: Mark(WARDS, VISITS, (), None),
        lambda: Filter(VISITS, VISITS.field(5)),
        lambda: UnionAll((Project(VISITS, (VISITS.field(5),)), Project(VISITS, (VISITS.field(2),)))),
        lambda: Join(VISITS, PEOPLE, JoinKind.INNER, ((VISITS.field(2), PEOPLE.field(0)),), None),
    ):
        with pytest.raises(NotAllowed):
            build()


def test_an_expression_belongs_to_the_relation_that_it_was_made_for():
    other = PEOPLE.field(1)
    for build in (
        lambda: Project(VISITS, (other,)),
        lambda: Filter(VISITS, call("is_null", Field(99, VISITS.field(0).properties))),
        lambda: PerPerson(VISITS, (other,), ()),
        lambda: Join(VISITS, PEOPLE, JoinKind.INNER, ((PEOPLE.field(1), PEOPLE.field(1)),), None),
        lambda: dataclasses.replace(EVENTS, most=None),  # something bounds the rows of every person
        lambda: dataclasses.replace(EVENTS, most=0),
        lambda: Query(
            rows=WARDS, keys=(), measures=(Measure(kind=MeasureKind.ROWS),), limits=ContributionBounds(rows=1)
        ),
    ):
        with pytest.raises(ValueError):
            build()


def test_public_rows_are_met_a_thousand_times_at_most_and_relations_stay_small():
    with pytest.raises(TooLarge):
        Join(VISITS, WARDS, JoinKind.INNER, (), None, 1001)
    once = Join(VISITS, WARDS, JoinKind.INNER, (), None, 40)
    with pytest.raises(TooLarge):
        Mark(once, WARDS, (), None, 40)
    with pytest.raises(TooLarge):
        Join(Join(WARDS, WARDS, JoinKind.INNER, (), None, 10**4), WARDS, JoinKind.INNER, (), None, 10**4)
    with pytest.raises(TooLarge):
        _repeated(PEOPLE, lambda relation: Join(relation, relation, JoinKind.INNER, (), None))


def test_nothing_changes_once_it_is_built():
    for node in (
        VISITS,
        Filter(VISITS, VISITS.field(6)),
        call("gt", VISITS.field(5), _integer(1)),
        VISITS.shape,
        VISITS.field(0),
    ):
        for field in dataclasses.fields(node):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(node, field.name, None)


def test_a_person_is_followed_by_lineage():
    renamed = Project(VISITS, (VISITS.field(1), VISITS.field(0), call("mod_int", VISITS.field(0), _integer(10))))
    assert [column.properties.person for column in renamed.columns] == [False, True, False]
    joined = Join(PEOPLE, VISITS, JoinKind.LEFT, (), None)
    assert [
        (column.properties.person, column.properties.nullable) for column in (joined.columns[0], joined.columns[3])
    ] == [
        (True, False),
        (True, True),
    ]
    assert call("coalesce", joined.field(0), joined.field(3)).properties.person
    assert not call("coalesce", joined.field(3), _integer(7)).properties.person
    assert (
        not UnionAll((Project(VISITS, (VISITS.field(0),)), Project(VISITS, (VISITS.field(1),))))
        .columns[0]
        .properties.person
    )
    first = Windowed(VISITS, (Window(RowFunction.LAG, VISITS.field(1), 1, (), (), None),))
    assert not first.columns[8].properties.person
    assert not PerPerson(VISITS, (), (Aggregate(Fold.LARGEST, VISITS.field(0)),)).columns[1].properties.person


def test_what_is_summed_of_reals_is_summed_on_a_grid():
    with pytest.raises(ValueError):
        Aggregate(Fold.SUM, VISITS.field(4))
    with pytest.raises(ValueError):
        Aggregate(Fold.SUM, VISITS.field(5), steps=Grid(Fraction(1), 0, 5))
    assert Aggregate(Fold.SUM, VISITS.field(4), steps=Grid(Fraction(1, 2), -2, 6)).properties(2, grouped=True).high == 6


def test_calls_are_of_the_right_types_and_not_too_many():
    with pytest.raises(NotAllowed):
        call("add_int", VISITS.field(5), VISITS.field(4))
    with pytest.raises(TooLarge):
        _repeated(VISITS.field(6), lambda condition: call("not", condition))
    with pytest.raises(TooLarge):
        _repeated(VISITS.field(5), lambda number: call("add_int", number, number))


def test_a_record_with_a_part_missing_fails():
    whole = {field.name: getattr(function("ln"), field.name) for field in dataclasses.fields(Function)}
    Function(**whole)
    for name in whole:
        with pytest.raises(TypeError):
            Function(**{key: value for key, value in whole.items() if key != name})
    for wrong in ({"engines": {}}, {"spelled": ()}, {"says": ""}, {"version": 0}, {"effort": Effort(0)}):
        with pytest.raises(ValueError):
            Function(**{**whole, **wrong})
    with pytest.raises(TypeError):
        Signature(takes=(Type.TEXT,), gives=Type.TEXT)


def test_every_function_is_documented_and_has_a_template_for_every_engine():
    records = list(all_functions())
    assert len(records) > 90
    for record in records:
        assert set(record.engines) == set(ENGINES)
        assert record.says
        assert isinstance(record.nulls, Nulls)


def test_no_expression_leaves_the_doubles():
    product = VISITS.field(4)
    for _ in range(30):
        product = call("mul", product, VISITS.field(4))
        assert product.properties.magnitudes.large <= 500 + 100
    names = []

    def walk(node):
        if isinstance(node, Call):
            names.append(node.function.name)
            for arg in node.args:
                walk(arg)

    walk(product)
    assert "within" in names


def test_values_that_are_declared_are_all_listed_however_many():
    many = tuple(f"v{number}" for number in range(10_001))
    properties = dataclasses.replace(VISITS.columns[2].properties, values=many)
    assert every_value(properties) == many


def test_literals_are_canonical_or_refused():
    for kind, value in (
        (Type.INTEGER, 2**63),
        (Type.REAL, float("nan")),
        (Type.REAL, -0.0),
        (Type.REAL, 1e40),
        (Type.TEXT, "a\0"),
        (Type.INTEGER, True),
    ):
        with pytest.raises(DiscreetError):
            Literal(kind, value)
