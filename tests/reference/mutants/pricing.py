"""Mistakes about the price: one person would move more than is paid for."""

from dataclasses import replace

from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.core.loss import Neighbours
from discreet.mechanisms import PermuteAndFlip
from discreet.planning import pricing
from discreet.planning.pricing import Norms, Price
from discreet.postprocessing.plan import Plan
from tests.reference.mutants.noticing import Mutants, pays_for, pays_for_winners

MUTANTS = Mutants()
WINNERS = "SELECT ward FROM visits GROUP BY ward ORDER BY SUM(age) DESC LIMIT {}"


def changed_norms(patch, change):
    real = pricing.norms
    patch.setattr(pricing, "norms", lambda *given: change(real, *given))


def changed_quantiles(patch, **details):
    real = pricing.quantile_of
    patch.setattr(pricing, "quantile_of", lambda measure, **given: real(measure, **{**given, **details}))


@MUTANTS.caught_by(pays_for("SELECT SUM(cost) FROM visits", "replaced"))
def replacement_counted_as_removal(patch):
    changed_norms(patch, lambda real, query, measure, keys, _: real(query, measure, keys, Neighbours.ADD_REMOVE))


@MUTANTS.caught_by(pays_for("SELECT ward, SUM(CASE WHEN cost > 0 THEN 1 ELSE -1 END) FROM visits GROUP BY ward", "replaced", mechanism="gaussian"))  # fmt: skip
def values_of_both_signs_taken_for_positive_ones(patch):
    patch.setattr(Measure, "is_one_signed", property(lambda self: True))


@MUTANTS.caught_by(pays_for("SELECT ward, QUANTILE_CONT(day, 0.9) FROM visits GROUP BY ward", "moved", epsilon=23))
def quantiles_of_groups_priced_like_one(patch):
    changed_quantiles(patch, grouped=False)


@MUTANTS.caught_by(pays_for("SELECT MEDIAN(cost) FROM visits"))
def quantiles_of_one_row(patch):
    changed_quantiles(patch, rows=1)


@MUTANTS.caught_by(pays_for("SELECT zip, COUNT(*) FROM visits GROUP BY zip"))
def selections_paid_for_once(patch):
    real = pricing._with_selection
    patch.setattr(pricing, "_with_selection", lambda *given: replace(real(*given), selections=1))


@MUTANTS.caught_by(pays_for("SELECT ward, COUNT(DISTINCT person) FROM visits GROUP BY ward"))
def people_counted_once_over_all_groups(patch):
    changed_norms(patch, lambda real, query, measure, *given: Norms(1, 1) if measure.kind is MeasureKind.PEOPLE else real(query, measure, *given))  # fmt: skip


@MUTANTS.caught_by(pays_for("SELECT SUM(age) FROM visits", mechanism="gaussian"))
def gaussians_with_the_norm_of_many_groups(patch):
    def spread(real, *given):
        return Norms(real(*given).l1, real(*given).l1)

    changed_norms(patch, spread)


@MUTANTS.caught_by(pays_for("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 2, max_rows_per_group = 1) ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)", mechanism="gaussian"))  # fmt: skip
def totals_with_the_norm_of_their_groups(patch):
    changed_norms(patch, lambda real, query, measure, keys, neighbours: real(query, measure, tuple(range(len(query.keys))), neighbours))  # fmt: skip


@MUTANTS.caught_by(pays_for("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 1) ward, COUNT(*) FROM visits GROUP BY ward"))  # fmt: skip
def groups_that_have_one_row(patch):
    changed_norms(patch, lambda real, query, *given: Norms(query.limits.groups, query.limits.groups))


@MUTANTS.caught_by(pays_for("SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)"))
def rollups_paid_for_once(patch):
    patch.setattr(Plan, "releases", property(lambda self: tuple(part for sets in self.grouping_sets for part in sets[0].releases)))  # fmt: skip


@MUTANTS.caught_by(pays_for("SELECT COUNT(*), SUM(age) FROM visits"))
def the_whole_epsilon_for_each_measure(patch):
    patch.setattr(Price, "share", property(lambda self: self.epsilon))


@MUTANTS.caught_by(pays_for("SELECT COUNT(*) FILTER (WHERE sex = 'F'), SUM(height) FROM people", "listed"))
def filtered_counts_taken_for_public_ones(patch):
    real = Query.counts_all_people
    patch.setattr(Query, "counts_all_people", lambda query, measure: real(query, replace(measure, where=None)))


@MUTANTS.caught_by(pays_for("SELECT sex, COUNT(*), SUM(height) FROM people GROUP BY sex", "listed"))
def counts_of_groups_taken_for_public_ones(patch):
    _keys_forgotten(patch)


@MUTANTS.caught_by(pays_for("SELECT sex, COUNT(*), SUM(height) FROM people GROUP BY ROLLUP (sex)", "listed"))
def grand_totals_taken_for_public_ones(patch):
    _keys_forgotten(patch)


def _keys_forgotten(patch):
    real = Query.counts_all_people
    patch.setattr(Query, "counts_all_people", lambda query, measure: real(replace(query, keys=(), sets=((),)), measure))


@MUTANTS.caught_by(pays_for_winners(WINNERS.format(2), epsilon=1))
def choices_priced_for_one_draw(patch):
    real = pricing._shares
    patch.setattr(pricing, "_shares", lambda query: real(query) - (query.choose.count - 1))


@MUTANTS.caught_by(pays_for_winners(WINNERS.format(1), epsilon=20))
def choices_that_one_row_moves(patch):
    patch.setattr(pricing, "PermuteAndFlip", lambda **given: PermuteAndFlip(**{**given, "sensitivity": 1}))
