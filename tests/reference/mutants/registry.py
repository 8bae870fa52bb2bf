"""Mistakes of the registry: a function would mean something else on the engine, fail for some rows, or promise too much.

A template that gives -0.0 alone is no mistake that anybody could see: the kernel makes keys canonical again, and nothing else tells zeros apart.
It is a mutant of the kernel, together with keys that are not.
"""

from dataclasses import replace

from discreet.algebra import registry
from discreet.algebra.expressions import Literal, call
from discreet.catalog import Type
from tests.reference.mutants.noticing import Mutants, keeps_its_properties, values_as_meant

MUTANTS = Mutants()
PERSON, VISIT, WARD, ZIP, COST, AGE, OK, DAY, BIG, X, FAR = range(11)


def written(patch, name, template):
    """Another template for a function."""
    patch.setitem(registry.function(name).engines, "duckdb", template)


def derived(patch, name, properties):
    """Other properties of a function: `properties` of its arguments and of what was derived."""
    record = registry.function(name)
    changed = replace(record, properties=lambda args, kind: properties(args, record.properties(args, kind)))
    patch.setitem(registry._REGISTRY, name, changed)


def of(name, *parts):
    """A call over columns, by number, and constants."""

    def expression(rows):
        return call(name, *(rows.field(part) if type(part) is int else part for part in parts))

    return expression


def whole(value):
    return Literal(Type.INTEGER, value)


def text(value):
    return Literal(Type.TEXT, value)


# Meanings


@MUTANTS.caught_by(values_as_meant(of("add_int", BIG, BIG)))
def sums_that_fail_beyond_64_bits(patch):
    written(patch, "add_int", "({0} + {1})")


@MUTANTS.caught_by(values_as_meant(of("mul_int", BIG, whole(3))))
def products_that_stay_at_the_end(patch):
    ends = "9223372036854775807"
    written(patch, "mul_int", f"CAST(least(greatest(CAST({{0}} AS HUGEINT) * {{1}}, -{ends}), {ends}) AS BIGINT)")


@MUTANTS.caught_by(values_as_meant(of("div", X, COST)))
def quotients_by_zero_that_are_infinite(patch):
    written(patch, "div", "(({0} / {1}) + CAST(0 AS DOUBLE))")


@MUTANTS.caught_by(values_as_meant(of("sqrt", X)))
def roots_below_zero_that_are_not_null(patch):
    written(patch, "sqrt", "sqrt({0})")


@MUTANTS.caught_by(values_as_meant(of("int_div", BIG, whole(3))))
def whole_quotients_that_round_down(patch):
    written(patch, "int_div", "CAST(floor(CAST({0} AS DECIMAL(38, 0)) / nullif({1}, 0)) AS BIGINT)")


@MUTANTS.caught_by(values_as_meant(of("mod_int", BIG, whole(10))))
def remainders_that_are_never_negative(patch):
    written(patch, "mod_int", "((({0} % {1}) + {1}) % {1})")


@MUTANTS.caught_by(values_as_meant(of("int", X)))
def casts_that_round_halves_away(patch):
    written(patch, "int", "TRY_CAST(round({0}) AS BIGINT)")


@MUTANTS.caught_by(values_as_meant(of("ln", X)))
def logarithms_with_every_bit(patch):
    written(patch, "ln", "(CASE WHEN {0} > 0 THEN ln({0}) END)")


@MUTANTS.caught_by(values_as_meant(of("least", AGE, BIG)))
def the_least_that_is_null_where_one_is(patch):
    written(patch, "least", "(CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN least({0}, {1}) END)")


@MUTANTS.caught_by(values_as_meant(of("in", AGE, whole(1), whole(None))))
def an_in_without_a_third_value(patch):
    written(patch, "in", "coalesce({0} IN ({1}, {2}), false)")


@MUTANTS.caught_by(values_as_meant(of("same", AGE, whole(None))))
def a_null_that_is_not_the_same_as_null(patch):
    written(patch, "same", "coalesce({0} = {1}, false)")


@MUTANTS.caught_by(values_as_meant(of("like", ZIP, text("%\\%"))))
def patterns_with_an_escape(patch):
    written(patch, "like", "({0} LIKE {1} ESCAPE '\\')")


@MUTANTS.caught_by(values_as_meant(of("like", ZIP, text("a%"))))
def patterns_that_do_not_mind_the_case(patch):
    written(patch, "like", "({0} ILIKE {1})")


@MUTANTS.caught_by(values_as_meant(of("lower", ZIP)))
def small_letters_as_the_engine_has_them(patch):
    written(patch, "lower", "lower({0})")


@MUTANTS.caught_by(values_as_meant(of("substring", ZIP, AGE, whole(2))))
def texts_from_before_their_start(patch):
    written(patch, "substring", "substring({0}, {1}, {2})")


@MUTANTS.caught_by(values_as_meant(of("add_months", FAR, whole(1))))
def months_beyond_the_last_year(patch):
    written(patch, "add_months", "CAST(({0} + to_months(CAST({1} AS INTEGER))) AS DATE)")


@MUTANTS.caught_by(values_as_meant(of("concat", ZIP, text(None))))
def texts_that_are_null_where_one_is(patch):
    written(patch, "concat", "({0} || {1})")


# ValueProperties


@MUTANTS.caught_by(keeps_its_properties("events", of("neg_int", 2), "crowded"))
def bounds_that_keep_their_sign(patch):
    derived(patch, "neg_int", lambda args, made: replace(made, low=args[0].low, high=args[0].high, values=None))


@MUTANTS.caught_by(keeps_its_properties("events", of("mul_int", 2, 2), "crowded"))
def products_no_larger_than_their_factors(patch):
    derived(patch, "mul_int", lambda args, made: replace(made, low=args[0].low, high=args[0].high, values=None))


@MUTANTS.caught_by(keeps_its_properties("visits", of("joined", ZIP, ZIP)))
def joined_texts_no_longer_than_the_first(patch):
    derived(patch, "joined", lambda args, made: replace(made, longest=args[0].longest))


@MUTANTS.caught_by(keeps_its_properties("visits", of("nullif", AGE, whole(5))))
def a_nullif_that_is_never_null(patch):
    record = registry.function("nullif")
    changed = replace(record, properties=lambda args, kind: replace(record.properties(args, kind), nullable=False))
    patch.setitem(registry._REGISTRY, "nullif", changed)


@MUTANTS.caught_by(keeps_its_properties("visits", of("add", X, X)))
def sums_within_the_reach_of_their_parts(patch):
    derived(patch, "add", lambda args, made: replace(made, magnitudes=args[0].magnitudes))
