"""The distribution of a number on a grid, from reports through a wide window (square wave).

Citation: Li, Wang, Lopuhaä-Zwakenberg, Škorić, Li 2020 (arXiv:1912.01051), "Estimating numerical distributions under
local differential privacy".
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from discreet.local.device.client import Window
from discreet.local.protocols.draws import Codes
from discreet.local.protocols.numeric import PiecewiseMean, WindowResponse
from discreet.local.protocols.protocol import Floats, Tally, chance_of

_SETTLED = 1e-3
"""Smoothing stops when a round changes the log-likelihood of all reports by less: the paper's threshold."""
_MOST_ROUNDS = 10_000


class SquareWave(WindowResponse):
    """Estimate the number of people at each position: unbiased by a pseudo-inverse, or by maximum likelihood."""

    @cached_property
    def _levels(self) -> tuple[float, float]:
        """The probability of one position inside the window, and of one outside."""
        r = self.randomizer
        inside = chance_of(r.keep)
        return float(inside / r.width), float((1 - inside) / r.steps)

    @cached_property
    def channel(self) -> Floats:
        """The probability of each output (row) for a person at each position (column). Columns are independent."""
        r = self.randomizer
        distance = np.arange(r.outputs)[:, None] - np.arange(r.steps + 1)
        high, low = self._levels
        return np.where((distance >= 0) & (distance < r.width), high, low)

    @cached_property
    def inverse(self) -> Floats:
        """The pseudo-inverse of the channel: one row per position."""
        return np.asarray(np.linalg.pinv(self.channel), np.float64)

    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        return (self.inverse @ tally)[codes]

    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """Return the variance from each report's multinomial covariance; `codes` are all positions with people."""
        people = np.zeros(self.randomizer.steps + 1)
        np.add.at(people, codes, counts)
        return self._variance(self.channel @ people, people)[codes]

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Unbiased, since the variance is linear in the counts of outputs and of people."""
        return np.maximum(self._variance(tally.astype(np.float64), self.inverse @ tally), 0)[codes]

    def _variance(self, outputs: Floats, people: Floats) -> Floats:
        """Σ_x n_x (Σ_y a_y² P(y|x) - (Σ_y a_y P(y|x))²) for each row a of the inverse; the last sum is 1 or 0."""
        return self.inverse**2 @ outputs - people

    @property
    def influence(self) -> float:
        return float(np.abs(self.inverse).max())

    def smoothed(self, tally: Tally, reports: int) -> Floats:
        """Estimate by expectation maximisation with smoothing: non-negative counts that sum to the reports.

        After each round, neighbours are averaged with weights 1, 2, 1, which prevents fitting the noise. On grids of
        fewer than about 64 positions this also smooths real structure.
        """
        positions = self.randomizer.steps + 1
        people = np.full(positions, reports / positions)
        before = -np.inf
        for _ in range(_MOST_ROUNDS if reports else 0):
            expected = self._outputs_of(people)
            likelihood = float(np.dot(tally, np.log(expected)))
            if abs(likelihood - before) < _SETTLED:
                break
            before = likelihood
            people = _with_neighbours(people * self._positions_of(tally / expected))
        return people

    def _outputs_of(self, people: Floats) -> Floats:
        """Multiply the channel by a vector of positions, by running sums."""
        high, low = self._levels
        r = self.randomizer
        sums = np.concatenate([np.zeros(r.width), np.cumsum(people), np.full(r.width - 1, people.sum())])
        return (high - low) * (sums[r.width :] - sums[: -r.width]) + low * people.sum()

    def _positions_of(self, outputs: Floats) -> Floats:
        """Multiply the transposed channel by a vector of outputs, by running sums."""
        high, low = self._levels
        sums = np.concatenate([[0.0], np.cumsum(outputs)])
        return (high - low) * (sums[self.randomizer.width :] - sums[: -self.randomizer.width]) + low * outputs.sum()


def _with_neighbours(people: Floats) -> Floats:
    """Average neighbours with weights (1, 2, 1) / 4, reflected at both ends, which preserves the sum."""
    around = np.concatenate([people[:1], people, people[-1:]])
    return (around[:-2] + 2 * people + around[2:]) / 4


def window_protocol(randomizer: Window) -> WindowResponse:
    """Return the protocol of a window randomizer, for a distribution or for a mean."""
    return (SquareWave if randomizer.spec["protocol"] == "square-wave" else PiecewiseMean)(randomizer)
