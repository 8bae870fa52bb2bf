"""Mistakes of the kernel and of the renderer: rows of different people would meet, limits not be compared, numbers not be what they are."""

import re
from fractions import Fraction

from discreet.algebra import registry
from discreet.algebra.aggregates import Aggregate, Fold, Frame, Order, RowFunction, Window
from discreet.algebra.expressions import Literal, call
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind
from discreet.algebra.relations import Filter, Join, JoinKind, Mark, PerPerson, Windowed
from discreet.catalog import Type
from discreet.engines.sqlgen import contribution_bounds, kernel, render, window_clause
from discreet.engines.sqlgen.contribution_bounds import Cut
from discreet.engines.sqlgen.dialects import duckdb as dialect
from discreet.engines.sqlgen.kernel import _Folds, _Rows
from discreet.engines.sqlgen.render import Renderer
from tests.reference.mutants.noticing import (
    ROWS,
    Mutants,
    answers_as_meant,
    asked,
    grid,
    pays_for,
    table,
    tells_rows_apart,
    total,
)

MUTANTS = Mutants()
PERSON, VISIT, WARD, ZIP, COST, AGE, OK, DAY, BIG, X, FAR = range(11)


def without_conditions(patch, part, node=(Join, Mark)):
    """Joins or marks that leave out the conditions which have `part` in them."""
    real = Renderer._matching

    def matching(self, asked_node, *given):
        conditions = real(self, asked_node, *given)
        return [text for text in conditions if not (isinstance(asked_node, node) and part in text)]

    patch.setattr(Renderer, "_matching", matching)


def changed_parts(patch, before, after):
    """The columns of both sides of a join, with parts of their text replaced."""
    real = render._both
    patch.setattr(render, "_both", lambda *given: (re.sub(before, after, text) for text in real(*given)))


def visits_and_people(how, *measures):
    return lambda c: asked(Join(table(c, "visits"), table(c, "people"), how, (), None), *measures)


# Whose rows


@MUTANTS.caught_by(answers_as_meant(visits_and_people(JoinKind.INNER)))
def joins_of_everybody_with_everybody(patch):
    without_conditions(patch, ".o = ", Join)


def marked(catalog):
    rows = Mark(table(catalog, "visits"), table(catalog, "people"), (), None)
    return asked(Filter(rows, rows.field(len(rows.columns) - 1)))


@MUTANTS.caught_by(answers_as_meant(marked))
def marks_by_anybodys_rows(patch):
    without_conditions(patch, ".o = ", Mark)


def grouped(catalog):
    visits = table(catalog, "visits")
    rows = PerPerson(visits, (visits.field(WARD),), (Aggregate(Fold.ROWS, None),))
    return asked(rows, keys=[rows.field(2)])


@MUTANTS.caught_by(answers_as_meant(grouped))
def groups_of_everybody(patch):
    real = Renderer._per_person

    def together(self, relation, kept):
        before, _, after = real(self, relation, kept).rpartition("GROUP BY o, ")
        return before.replace("FROM (SELECT o", "FROM (SELECT min(o) AS o", 1) + "GROUP BY " + after

    patch.setattr(Renderer, "_per_person", together)


def windowed(window_of):
    def query(catalog):
        visits = table(catalog, "visits")
        rows = Windowed(visits, (window_of(visits),))
        return asked(rows, keys=[rows.field(len(visits.columns)), visits.field(PERSON)])

    return query


def within_ward(visits):
    return Window(Aggregate(Fold.ROWS, None), None, 0, (visits.field(WARD),), (), None)


@MUTANTS.caught_by(answers_as_meant(windowed(within_ward)))
def windows_over_everybody(patch):
    real = window_clause.rows_of
    patch.setattr(window_clause, "rows_of", lambda *given: real(*given).replace("PARTITION BY o, ", "PARTITION BY "))


def first_by_age(visits):
    return Window(RowFunction.FIRST, visits.field(ZIP), 0, (), (Order(visits.field(AGE)),), None)


@MUTANTS.caught_by(answers_as_meant(windowed(first_by_age)))
def places_where_ties_fall_the_other_way(patch):
    real = window_clause.by
    patch.setattr(window_clause, "by", lambda names: [key.replace(" NULLS", " DESC NULLS") for key in real(names)])


def running(visits):
    frame = Frame(None, 0)
    return Window(Aggregate(Fold.SUM, visits.field(AGE)), None, 0, (), (Order(visits.field(WARD)),), frame)


@MUTANTS.caught_by(answers_as_meant(windowed(running)))
def frames_without_an_order_of_ties(patch):
    real = window_clause.rows_of
    patch.setattr(window_clause, "rows_of", lambda asked_window, rows, levels, ids: real(asked_window, rows, levels, []).replace("ROWS", "RANGE"))  # fmt: skip


@MUTANTS.caught_by(answers_as_meant(visits_and_people(JoinKind.FULL, Measure(kind=MeasureKind.PEOPLE))))
def full_joins_that_belong_to_the_left(patch):
    changed_parts(patch, r"coalesce\((t\d+\.o), t\d+\.o\) AS o", r"\1 AS o")


def groups_by_null(catalog):
    people = table(catalog, "people")
    groups = PerPerson(people, (people.field(1),), ())
    return Join(groups, groups, JoinKind.FULL, ((groups.field(1), groups.field(1)),), None)


@MUTANTS.caught_by(tells_rows_apart(groups_by_null))
def full_joins_that_do_not_say_which_side_is_there(patch):
    changed_parts(patch, r"CASE WHEN t\d+\.o IS NULL THEN 2 .* END AS (i\d+)", r"1 AS \1")


# What is compared


@MUTANTS.caught_by(answers_as_meant(lambda c: asked(table(c, "visits", most=1), keys=[table(c, "visits").field(ZIP)])))
def ranks_that_are_not_compared(patch):
    real = render._scan
    patch.setattr(render, "_scan", lambda scan, kept: real(scan, kept).partition(" WHERE r <=")[0])


def by_ward(catalog):
    visits, wards = table(catalog, "visits"), table(catalog, "wards")
    return asked(Join(visits, wards, JoinKind.INNER, ((visits.field(WARD), wards.field(0)),), None, 1))


@MUTANTS.caught_by(answers_as_meant(by_ward))
def public_rows_without_a_limit(patch):
    without_conditions(patch, ".nth <=")


def by_visit(catalog):
    notes, visits = table(catalog, "notes"), table(catalog, "visits")
    return asked(Join(notes, visits, JoinKind.INNER, ((notes.field(0), visits.field(VISIT)),), None))


@MUTANTS.caught_by(answers_as_meant(by_visit))
def unique_keys_met_as_often_as_they_stand(patch):
    patch.setattr(render, "_uniquely", lambda *given: [])


@MUTANTS.caught_by(answers_as_meant(by_visit))
def keys_that_are_not_compared(patch):
    without_conditions(patch, "c2")


# The cut


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FROM events"))
def rows_that_are_not_cut(patch):
    patch.setattr(contribution_bounds, "_first", lambda rows, order, most: rows)


def cut_pairs(catalog):
    visits = table(catalog, "visits")
    rows = Join(visits, visits, JoinKind.INNER, (), None)
    return asked(rows, keys=[rows.field(ZIP), rows.field(len(visits.columns) + ZIP)], limits=ContributionBounds(rows=2))


@MUTANTS.caught_by(answers_as_meant(cut_pairs))
def a_cut_by_the_first_id_alone(patch):
    patch.setattr(Cut, "_sort_keys", lambda self: ["i1 NULLS LAST"])


def cut_groups(catalog):
    visits = table(catalog, "visits")
    rows = PerPerson(visits, (visits.field(ZIP),), (Aggregate(Fold.ROWS, None),))
    return asked(rows, keys=[rows.field(1)], limits=ContributionBounds(rows=1))


@MUTANTS.caught_by(answers_as_meant(cut_groups))
def a_cut_by_values_instead_of_a_hash(patch):
    patch.setattr(Cut, "_sort_keys", lambda self: window_clause.by([f"i{at}" for at in range(1, len(self._kinds) + 1)]))


def filtered(catalog):
    visits = table(catalog, "visits")
    return asked(visits, Measure(kind=MeasureKind.ROWS, where=visits.field(OK)), limits=ContributionBounds(rows=1))


@MUTANTS.caught_by(answers_as_meant(filtered))
def a_filter_before_the_cut(patch):
    real = Cut.of
    patch.setattr(Cut, "of", lambda self, rows: real(self, f"(SELECT * FROM {rows} WHERE f1)"))


def declared(catalog):
    visits = table(catalog, "visits")
    return asked(visits, keys=[Key(visits.field(WARD), ("A",))], limits=ContributionBounds(rows=1))


@MUTANTS.caught_by(answers_as_meant(declared))
def undeclared_keys_that_take_a_place(patch):
    patch.setattr(Cut, "_is_declared", lambda self, index, key: "true")


BY_WARD = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) ward, COUNT(*) FROM visits GROUP BY ward"


@MUTANTS.caught_by(pays_for(BY_WARD.format("max_groups_contributed = 1, max_rows_per_group = 1")))
def every_group_of_a_person(patch):
    real = Cut._in_first_groups
    patch.setattr(Cut, "_in_first_groups", lambda self, rows, declared, position, groups, each: real(self, rows, declared, position, 99, each))  # fmt: skip


@MUTANTS.caught_by(pays_for(BY_WARD.format("max_groups_contributed = 1, max_rows_per_group = 1")))
def every_row_of_a_group(patch):
    real = Cut._in_first_groups
    patch.setattr(Cut, "_in_first_groups", lambda self, rows, declared, position, groups, each: real(self, rows, declared, position, groups, 99))  # fmt: skip


# Values and keys


def of_age(measure_of):
    def query(catalog):
        visits = table(catalog, "visits")
        return asked(visits, measure_of(visits.field(AGE)), keys=[visits.field(WARD)])

    return query


@MUTANTS.caught_by(answers_as_meant(of_age(lambda age: total(call("add_int", age, age), grid(1, 3)))))
def values_that_are_not_clamped(patch):
    patch.setattr(dialect, "clamped", lambda name, low, high: name)


@MUTANTS.caught_by(answers_as_meant(of_age(lambda age: total(age, grid(0, 5), centre=2))))
def centres_that_are_forgotten(patch):
    patch.setattr(kernel, "_centred", lambda name, centre: name)


@MUTANTS.caught_by(answers_as_meant(of_age(lambda age: total(age, grid(0, 5), kind=MeasureKind.SQUARES, coarser=1))))
def squares_rounded_down(patch):
    patch.setattr(dialect, "shifted", lambda product, coarser: f"({product} >> {coarser})")


def product(catalog):
    visits = table(catalog, "visits")
    values = (visits.field(AGE), visits.field(COST))
    steps = (grid(0, 5), grid(-2, 6, Fraction(1, 2)))
    return asked(visits, Measure(kind=MeasureKind.PRODUCTS, values=values, steps=steps, centres=(4, 3), coarser=2))


@MUTANTS.caught_by(answers_as_meant(product))
def products_rounded_towards_zero(patch):
    patch.setattr(dialect, "shifted", lambda product, coarser: f"(({product} + {2**coarser // 2}) // {2**coarser})")


@MUTANTS.caught_by(answers_as_meant(of_age(lambda age: total(call("mul_int", age, Literal(Type.INTEGER, 2**40)), grid(0, 2**43), kind=MeasureKind.SQUARES))))  # fmt: skip
def squares_in_64_bits(patch):
    patch.setattr(kernel, "_SMALL", 2**200)


def of_big(catalog):
    visits = table(catalog, "visits")
    return asked(visits, total(visits.field(BIG), grid(-(2**63) + 1, 2**63 - 1)))


@MUTANTS.caught_by(answers_as_meant(of_big))
def totals_by_way_of_doubles(patch):
    patch.setattr(kernel, "_exactly", lambda text: f"CAST(coalesce(CAST({text} AS DOUBLE), 0) AS DECIMAL(38, 0))")


def of_code(catalog):
    people = table(catalog, "people")
    steps = grid(-1_000_000, 5_000_000)
    return asked(
        people, Measure(kind=MeasureKind.QUANTILE, values=(people.field(3),), steps=(steps,), q=Fraction(1, 2))
    )


@MUTANTS.caught_by(answers_as_meant(of_code))
def candidates_rounded_down(patch):
    real = dialect.bin_of
    patch.setattr(dialect, "bin_of", lambda name, *, factor, first, last: real(name, factor=factor, first=first, last=last).replace(f"+ CAST({factor // 2} AS BIGINT)", "+ 0"))  # fmt: skip


def filtered_quantile(catalog):
    visits = table(catalog, "visits")
    where = call("eq", visits.field(WARD), Literal(Type.TEXT, "B"))
    measure = Measure(
        kind=MeasureKind.QUANTILE, values=(visits.field(AGE),), where=where, steps=(grid(0, 5),), q=Fraction(1)
    )
    return asked(visits, measure, keys=[visits.field(WARD)])


@MUTANTS.caught_by(answers_as_meant(filtered_quantile))
def groups_numbered_after_the_filter(patch):
    real = _Rows._histogram
    patch.setattr(_Rows, "_histogram", lambda self, keys, index: real(self, keys, index).replace(" GROUP BY ALL", f" WHERE {self._measured[index].where} GROUP BY ALL"))  # fmt: skip


def two_columns(catalog):
    rows = Join(table(catalog, "visits"), table(catalog, "events"), JoinKind.INNER, (), None)
    amount = rows.field(len(table(catalog, "visits").columns) + 2)
    return asked(rows, total(rows.field(AGE), grid(0, 5)), total(amount, grid(-3, 7)))


@MUTANTS.caught_by(answers_as_meant(two_columns))
def stored_steps_of_another_column(patch):
    real = Renderer.steps

    def other(self, levels, rows, value, steps):
        place = next((at for at, column in enumerate(rows.columns) if column.step == steps.step), value.at)
        return real(self, levels, rows, rows.field(place), steps)

    patch.setattr(Renderer, "steps", other)


def negated(catalog):
    visits = table(catalog, "visits")
    return asked(visits, keys=[call("neg", visits.field(X))])


@MUTANTS.caught_by(answers_as_meant(negated))
def keys_with_two_zeros(patch):
    patch.setitem(registry.function("neg").engines, "duckdb", "(-{0})")
    patch.setattr(dialect, "canonical", lambda name, kind: name)


def averaged(catalog):
    visits = table(catalog, "visits")
    rows = PerPerson(visits, (), (Aggregate(Fold.AVERAGE, visits.field(AGE)),))
    return asked(rows, keys=[rows.field(1)])


@MUTANTS.caught_by(answers_as_meant(averaged))
def averages_over_rows_without_a_value(patch):
    real = dialect.folded
    patch.setattr(dialect, "folded", lambda fold, value, where: real(Fold.ROWS if fold is Fold.PRESENT else fold, value, where))  # fmt: skip


# People


@MUTANTS.caught_by(pays_for("SELECT COUNT(DISTINCT person) FROM visits"))
def people_counted_by_rows(patch):
    real = _Folds.over_rows.fget
    patch.setattr(_Folds, "over_rows", property(lambda self: real(self).replace("count(DISTINCT o)", "count(o)")))


@MUTANTS.caught_by(pays_for("SELECT zip, COUNT(*) FROM visits GROUP BY zip"))
def people_of_a_private_group_counted_by_rows(patch):
    def by_rows(folds, names, _, rows):
        parts = [*names, *(fold.over_rows for fold in folds), "count(*)"]
        return f"SELECT {', '.join(parts)} FROM {rows} GROUP BY {', '.join(names)}"

    patch.setattr(kernel, "_by_people", by_rows)


def people_of_wards(catalog):
    visits = table(catalog, "visits")
    return asked(visits, Measure(kind=MeasureKind.PEOPLE), ROWS, keys=[Key(visits.field(WARD), ("A", None))])


@MUTANTS.caught_by(answers_as_meant(people_of_wards))
def texts_that_are_not_declared_taken_for_missing_ones(patch):
    real = dialect.canonical
    patch.setattr(dialect, "canonical", lambda name, kind: dialect.position_among(name, ["A"]) if kind is Type.TEXT else real(name, kind))  # fmt: skip


def distinct_pairs(catalog):
    visits = table(catalog, "visits")
    return asked(visits, Measure(kind=MeasureKind.DISTINCT, values=(visits.field(AGE), visits.field(OK))), ROWS)


@MUTANTS.caught_by(answers_as_meant(distinct_pairs))
def combinations_with_null_that_count(patch):
    real = _Folds.over_rows.fget
    patch.setattr(_Folds, "over_rows", property(lambda self: f"count(DISTINCT {self.value})" if self.kind is MeasureKind.DISTINCT else real(self)))  # fmt: skip
