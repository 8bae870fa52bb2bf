"""Mistakes of constructors: what they derive of rows and values would not hold."""

from dataclasses import replace
from fractions import Fraction

from discreet.algebra import aggregates, expressions, relation_shape, relations
from discreet.algebra.aggregates import Aggregate, Fold, Order, RowFunction, Window
from discreet.algebra.expressions import Literal, call
from discreet.algebra.query import Measure, Query
from discreet.algebra.relations import Filter, Join, JoinKind, PerPerson, Project, UnionAll, Windowed
from discreet.catalog import Type
from tests.reference.mutants.noticing import (
    Mutants,
    keeps_its_promises,
    keeps_its_properties,
    pays_for,
    table,
)

MUTANTS = Mutants()
PERSON, VISIT, WARD, ZIP, COST, AGE = range(6)


def changed_shape(patch, node, change):
    """A constructor that derives something else: `change` gets the node and what was derived."""
    real = node.__post_init__

    def derived(self):
        real(self)
        object.__setattr__(self, "shape", change(self, self.shape))

    patch.setattr(node, "__post_init__", derived)


def changed_columns(patch, change):
    """Columns of a join's side that are derived otherwise."""
    real = relations.joined_columns
    patch.setattr(relations, "joined_columns", lambda relation, **given: change(real, relation, given))


def numbered(catalog, partition=()):
    """Visits with their number, of one person's or of each part."""
    visits = table(catalog, "visits")
    parts = tuple(visits.field(at) for at in partition)
    return Windowed(visits, (Window(RowFunction.ROW_NUMBER, None, 0, parts, (Order(visits.field(VISIT)),), None),))


def met_by_visit(left, right, how):
    """Two relations joined on their columns of visits: the first of notes, the second of others."""
    places = [1 if side.columns[0].properties.person else 0 for side in (left, right)]
    return Join(left, right, how, ((left.field(places[0]), right.field(places[1])),), None)


# How many rows there are


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person"))
def joins_that_do_not_multiply(patch):
    real = Join._of_people
    patch.setattr(Join, "_of_people", lambda self, a, b, columns: replace(real(self, a, b, columns), most_rows=a.most_rows))  # fmt: skip


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM people p FULL JOIN people q ON p.person = q.person AND p.sex <> q.sex"))  # fmt: skip
def full_joins_that_only_multiply(patch):
    real = Join._of_people
    patch.setattr(Join, "_of_people", lambda self, a, b, columns: replace(real(self, a, b, columns), most_rows=(a.most_rows or 1) * (b.most_rows or 1)))  # fmt: skip


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)"))
def unions_that_do_not_add_up(patch):
    changed_shape(patch, UnionAll, lambda self, shape: replace(shape, most_rows=self.parts[0].shape.most_rows))


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward"))
def public_rows_that_do_not_multiply(patch):
    real = Join._with_public
    patch.setattr(Join, "_with_public", lambda self, a, b, columns: replace(real(self, a, b, columns), most_rows=a.most_rows or b.most_rows))  # fmt: skip


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM (SELECT person, ward FROM visits GROUP BY person, ward)"))
def one_row_for_all_groups_of_a_person(patch):
    changed_shape(patch, PerPerson, lambda self, shape: replace(shape, most_rows=1))


@MUTANTS.caught_by(keeps_its_promises(lambda c: met_by_visit(table(c, "notes"), table(c, "visits"), JoinKind.FULL)))
def full_joins_by_a_unique_key_that_keep_one_side(patch):
    patch.setattr(Join, "is_unique_right", property(lambda self: any(relations.is_unique(self.right, key) for _, key in self.keys)))  # fmt: skip


def by_ward_and_zip(catalog):
    visits = table(catalog, "visits")
    groups = PerPerson(visits, (visits.field(WARD), visits.field(ZIP)), ())
    return Join(visits, groups, JoinKind.INNER, ((visits.field(WARD), groups.field(1)),), None)


@MUTANTS.caught_by(keeps_its_promises(by_ward_and_zip))
def groups_met_by_some_of_their_keys_taken_for_one(patch):
    patch.setattr(relations, "_is_grouped_by", lambda relation, keys: isinstance(relation, PerPerson))


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM events"))
def limits_that_are_never_enforced(patch):
    patch.setattr(Query, "needs_bounding", property(lambda self: False))


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM (SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS r FROM visits) WHERE r >= 1"))  # fmt: skip
def a_number_from_one_on_taken_for_the_first(patch):
    real = relations.row_number_bound
    patch.setattr(relations, "row_number_bound", lambda condition: 1 if condition.function.name == "ge" else real(condition))  # fmt: skip


# What numbers rows, or stands once


@MUTANTS.caught_by(keeps_its_promises(lambda c: Join(numbered(c), table(c, "events"), JoinKind.INNER, (), None)))
def numbers_that_survive_a_join(patch):
    changed_columns(patch, lambda real, relation, given: tuple(replace(column, properties=replace(column.properties, unique_per_person=old.properties.unique_per_person)) for column, old in zip(real(relation, **given), relation.columns, strict=True)))  # fmt: skip


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM (SELECT v.person, v.r FROM (SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS r FROM visits) v JOIN events e ON v.person = e.person UNION ALL SELECT person, 9 FROM people) WHERE r = 1"))  # fmt: skip
def numbers_that_survive_a_union(patch):
    real = relations.hull
    patch.setattr(
        relations, "hull", lambda several: replace(real(several), unique_per_person=several[0].type is Type.INTEGER)
    )


@MUTANTS.caught_by(keeps_its_promises(lambda c: met_by_visit(table(c, "notes"), Join(table(c, "visits"), table(c, "events"), JoinKind.INNER, (), None), JoinKind.INNER)))  # fmt: skip
def unique_keys_that_survive_a_join(patch):
    changed_columns(patch, lambda real, relation, given: tuple(replace(column, unique=old.unique) for column, old in zip(real(relation, **given), relation.columns, strict=True)))  # fmt: skip


@MUTANTS.caught_by(keeps_its_promises(lambda c: numbered(c, partition=[WARD])))
def numbers_of_each_part_taken_for_numbers_of_all(patch):
    real = Window.properties
    patch.setattr(Window, "properties", lambda self, most, owned: replace(real(self, most, owned=owned), unique_per_person=self.operation is RowFunction.ROW_NUMBER))  # fmt: skip


def first_number(catalog):
    rows = numbered(catalog)
    number = rows.field(len(rows.columns) - 1)
    return Windowed(rows, (Window(RowFunction.FIRST, number, 0, (), (Order(number),), None),))


@MUTANTS.caught_by(keeps_its_promises(first_number))
def a_value_of_another_row_that_still_numbers(patch):
    real = Window.properties
    patch.setattr(Window, "properties", lambda self, most, owned: self.value.properties if self.value is not None else real(self, most, owned=owned))  # fmt: skip


# Who the owner is, and who has one row


@MUTANTS.caught_by(keeps_its_properties("visits", lambda rows: call("mod_int", rows.field(PERSON), Literal(Type.INTEGER, 2)), "crowded"))  # fmt: skip
def persons_that_survive_arithmetic(patch):
    real = expressions._call_properties
    patch.setattr(expressions, "_call_properties", lambda made, args: replace(real(made, args), person=any(arg.properties.person for arg in args)))  # fmt: skip


@MUTANTS.caught_by(keeps_its_promises(lambda c: Join(table(c, "people"), table(c, "events"), JoinKind.LEFT, (), None)))
def owners_that_are_there_where_a_side_is_missing(patch):
    changed_columns(patch, lambda real, relation, given: real(relation, **{**given, "outer": False}))


@MUTANTS.caught_by(keeps_its_promises(lambda c: Filter(table(c, "people"), call("eq", table(c, "people").field(1), Literal(Type.TEXT, "F"))), "listed"))  # fmt: skip
def everybody_still_there_behind_a_filter(patch):
    changed_shape(patch, Filter, lambda self, shape: replace(shape, each_once=self.rows.shape.each_once))


@MUTANTS.caught_by(pays_for("SELECT COUNT(*), SUM(v.age) FROM people p JOIN visits v ON p.person = v.person", "listed"))
def everybody_still_there_behind_a_join(patch):
    real = Join._of_people
    patch.setattr(Join, "_of_people", lambda self, a, b, columns: replace(real(self, a, b, columns), each_once=a.each_once))  # fmt: skip


@MUTANTS.caught_by(pays_for("SELECT COUNT(*), SUM(h) FROM (SELECT person, height AS h FROM people UNION ALL SELECT person, cost FROM visits)", "listed"))  # fmt: skip
def everybody_still_there_in_a_union(patch):
    changed_shape(patch, UnionAll, lambda self, shape: replace(shape, each_once=True, most_rows=1))


# Values


def ages_and_amounts(catalog):
    visits, events = table(catalog, "visits"), table(catalog, "events")
    return UnionAll((Project(visits, (visits.field(AGE),)), Project(events, (events.field(2),))))


@MUTANTS.caught_by(keeps_its_promises(ages_and_amounts))
def unions_with_the_bounds_of_the_first(patch):
    patch.setattr(relations, "hull", lambda several: several[0])


def summed_ages(catalog):
    visits = table(catalog, "visits")
    return PerPerson(visits, (), (Aggregate(Fold.SUM, visits.field(AGE)),))


@MUTANTS.caught_by(keeps_its_promises(summed_ages, "crowded"))
def sums_with_the_bounds_of_one_row(patch):
    patch.setattr(aggregates, "_summed", lambda low, high, most: (low, high))


@MUTANTS.caught_by(keeps_its_promises(lambda c: table(c, "people")))
def bounds_that_are_no_doubles(patch):
    real = relation_shape.declared_column

    def decimal(column, *given, **more):
        made = real(column, *given, **more)
        ends = {"low": column.lower, "high": column.upper} if isinstance(column.lower, Fraction) else {}
        return replace(made, properties=replace(made.properties, **ends))

    patch.setattr(relations, "declared_column", decimal)


@MUTANTS.caught_by(pays_for("SELECT SUM(0 - amount) FROM events"))
def measures_as_large_as_their_upper_end(patch):
    patch.setattr(Measure, "largest", property(lambda self: max(1, abs(self.ends[1]))))


@MUTANTS.caught_by(pays_for("SELECT VARIANCE(amount) FROM events"))
def squares_that_count_like_one_row(patch):
    patch.setattr(Measure, "largest", property(lambda self: max(1, *map(abs, self._about(0))) if self.steps else 1))
