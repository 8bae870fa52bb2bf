"""Laplace noise in floating point: as on the slide, and as a careful package draws it."""

from __future__ import annotations

from importlib import import_module

import numpy as np


class SlideLaplace:
    """`val + numpy.random.laplace(0.0, scale=sensitivity / epsilon)`, where one person changes the value by 1."""

    def __init__(self, *, epsilon: float, rng: np.random.Generator) -> None:
        self._scale, self._rng = 1 / epsilon, rng

    def answer(self, value: float) -> float:
        """Return a noisy double with all its bits."""
        return value + self._rng.laplace(0.0, self._scale)


class OpendpLaplace:
    """OpenDP's Laplace measurement of a double: exact noise, rounded once."""

    def __init__(self, *, epsilon: float) -> None:
        dp = import_module("opendp.prelude")
        dp.enable_features("contrib")
        self._measure = dp.m.make_laplace(
            dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1 / epsilon
        )

    def answer(self, value: float) -> float:
        """Return a noisy double with all its bits."""
        return float(self._measure(float(value)))
