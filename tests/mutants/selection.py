"""Selections with half the noise they need, by their exact laws."""

from __future__ import annotations

from discreet.mechanisms import Exponential, NoisyMax, PermuteAndFlip
from tests.support.laws import Law, exponential_law, noisy_max_law, permute_and_flip_law

EPSILON = 1
HERE, THERE = [0, 0, 0], [1, -1, -1]
"""Neighbours at sensitivity 1 that push the scores apart."""


def _rate(make: type, *, factor: int) -> object:
    return make(sensitivity=1, epsilon=EPSILON, size=3).rate * factor


def exponential(scores: list[int], factor: int = 1) -> Law:
    return exponential_law(scores, _rate(Exponential, factor=factor))


def permute_and_flip(scores: list[int], factor: int = 1) -> Law:
    return permute_and_flip_law(scores, _rate(PermuteAndFlip, factor=factor))


def noisy_max(scores: list[int], factor: int = 1) -> Law:
    return noisy_max_law(scores, 1 / _rate(NoisyMax, factor=factor))
