"""The distribution of a number on a grid, from reports through a window that is wide: square wave.

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
    """How many people are at each place: by the pseudo-inverse of the channel, unbiased, or by maximum likelihood."""

    @cached_property
    def _levels(self) -> tuple[float, float]:
        """The chance of one place inside the window and of one outside."""
        r = self.randomizer
        inside = chance_of(r.keep)
        return float(inside / r.width), float((1 - inside) / r.steps)

    @cached_property
    def channel(self) -> Floats:
        """The chance of each output (row) for a person at each place (column). Its columns are independent."""
        r = self.randomizer
        distance = np.arange(r.outputs)[:, None] - np.arange(r.steps + 1)
        high, low = self._levels
        return np.where((distance >= 0) & (distance < r.width), high, low)

    @cached_property
    def inverse(self) -> Floats:
        """The pseudo-inverse of the channel: one row for each place."""
        return np.asarray(np.linalg.pinv(self.channel), np.float64)

    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        return (self.inverse @ tally)[codes]

    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """From the multinomial covariance of each person's report; `codes` are all places where there are people."""
        people = np.zeros(self.randomizer.steps + 1)
        np.add.at(people, codes, counts)
        return self._variance(self.channel @ people, people)[codes]

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Unbiased, as the variance is linear in the counts of outputs and of people."""
        return np.maximum(self._variance(tally.astype(np.float64), self.inverse @ tally), 0)[codes]

    def _variance(self, outputs: Floats, people: Floats) -> Floats:
        """Σ_x n_x (Σ_y a_y² P(y|x) - (Σ_y a_y P(y|x))²) for each row a of the inverse; the last sum is 1 or 0."""
        return self.inverse**2 @ outputs - people

    @property
    def influence(self) -> float:
        return float(np.abs(self.inverse).max())

    def smoothed(self, tally: Tally, reports: int) -> Floats:
        """Expectation maximisation with smoothing: counts that are not negative and sum to the reports.

        After each round of expectation maximisation, neighbours are averaged with weights 1, 2, 1, so that the fit
        cannot chase the noise. On grids of fewer than about 64 places that also wears down what is really there.
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
        """The channel times a vector of places, by running sums."""
        high, low = self._levels
        r = self.randomizer
        sums = np.concatenate([np.zeros(r.width), np.cumsum(people), np.full(r.width - 1, people.sum())])
        return (high - low) * (sums[r.width :] - sums[: -r.width]) + low * people.sum()

    def _positions_of(self, outputs: Floats) -> Floats:
        """The transposed channel times a vector of outputs, by running sums."""
        high, low = self._levels
        sums = np.concatenate([[0.0], np.cumsum(outputs)])
        return (high - low) * (sums[self.randomizer.width :] - sums[: -self.randomizer.width]) + low * outputs.sum()


def _with_neighbours(people: Floats) -> Floats:
    """(1, 2, 1) / 4, reflected at both ends: nobody is lost."""
    around = np.concatenate([people[:1], people, people[-1:]])
    return (around[:-2] + 2 * people + around[2:]) / 4


def window_protocol(randomizer: Window) -> WindowResponse:
    """The twin of a window: for a mean or for a distribution, as the task says."""
    return (SquareWave if randomizer.spec["protocol"] == "square-wave" else PiecewiseMean)(randomizer)
