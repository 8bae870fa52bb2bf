"""The sparse vector variants that Lyu, Su, Li 2017 show to be broken, by their exact laws.

All claim epsilon 2 (half for the threshold, half for the queries) with sensitivity 1 and one positive, or three.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.mechanisms import AboveThreshold
from tests.support.checks import ratio_within
from tests.support.laws import Law, above_threshold_law, laplace_law

CLAIMED = 2
POSITIVES = 2
# Twelve queries, every one moved by the neighbour; the quiet ones up, the loud ones down.
QUIET, LOUD = 6, 2
HERE = [0] * QUIET + [1] * LOUD
THERE = [1] * QUIET + [0] * LOUD

VariantLaw = Callable[[list[int]], Law]


class LawOfVariant:
    """Each takes the true values and returns the law of the answers."""

    @staticmethod
    def ours(values: list[int]) -> Law:
        mechanism = AboveThreshold(epsilon=CLAIMED, sensitivity=1, threshold=1, positives=POSITIVES)
        return above_threshold_law(
            values,
            threshold=1,
            threshold_scale=mechanism.threshold_scale,
            query_scale=mechanism.query_scale,
            positives=POSITIVES,
        )

    @staticmethod
    def noise_not_scaled_with_positives(values: list[int]) -> Law:
        """Lee and Clifton 2014: query noise of scale 1/epsilon_2 however many positives (and no factor 2)."""
        return above_threshold_law(
            values,
            threshold=1,
            threshold_scale=Fraction(4, CLAIMED),
            query_scale=Fraction(4, 3 * CLAIMED),
            positives=POSITIVES,
        )

    @staticmethod
    def no_noise_on_queries(values: list[int]) -> Law:
        """Stoddard et al. 2014: only the threshold is noisy."""
        return above_threshold_law(
            values, threshold=1, threshold_scale=Fraction(2, CLAIMED), query_scale=None, positives=len(values)
        )

    @staticmethod
    def no_stop_after_the_positives(values: list[int]) -> Law:
        """Chen et al. 2015: noise as for one positive, but positives without end."""
        return above_threshold_law(
            values,
            threshold=1,
            threshold_scale=Fraction(2, CLAIMED),
            query_scale=Fraction(2, CLAIMED),
            positives=len(values),
        )

    @staticmethod
    def noisy_values_shown(values: list[int]) -> Law:
        """Roth's lecture notes 2011: a positive comes with the very noisy value that was compared."""
        query, law = laplace_law(Fraction(4, CLAIMED)), {}
        for noise, chance in laplace_law(Fraction(2, CLAIMED)).items():
            below = chance * sum(p for z, p in query.items() if values[0] + z < 1 + noise) ** 30
            for z, p in query.items():
                shown = values[-1] + z
                if shown >= 1 + noise and abs(shown) < 12:
                    law[shown] = law.get(shown, Fraction(0)) + below * p
        return law


BROKEN: list[VariantLaw] = [
    LawOfVariant.noise_not_scaled_with_positives,
    LawOfVariant.no_noise_on_queries,
    LawOfVariant.no_stop_after_the_positives,
    LawOfVariant.noisy_values_shown,
]


def variant_keeps_epsilon(variant: VariantLaw) -> None:
    """The exact laws on neighbours stay within the claimed epsilon."""
    ratio_within(variant(HERE), variant(THERE), CLAIMED)
