"""Privacy amplification: a release from a secret random sample of the people loses less."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.exact import Number, exact, read_level, rounded_up
from discreet.core.loss import Loss, read_loss
from discreet.mechanisms import curves
from discreet.mechanisms.curves import Floats
from discreet.mechanisms.mechanism import Guarantee, read_guarantee

_PAD = 1 + 1e-12


def subsampled(loss: Loss, *, rate: Number) -> Loss:
    """(ln(1 + rate (e^epsilon - 1)), rate delta): every person is taken with probability `rate`, secretly and afresh.

    Under add-remove. Citation: Balle, Barthe, Gaboardi 2018 (arXiv:1807.01647), theorem 8.

    Args:
        loss: On those who are sampled.
        rate: The chance that a person is among them.
    """
    share, loss = float(read_level(rate, name="rate")), read_loss(loss)
    large = loss.epsilon > 700  # then ln(1 + rate (e^epsilon - 1)) is epsilon + ln(rate), less a hair
    epsilon = loss.epsilon + math.log(share) if large else math.log1p(share * math.expm1(loss.epsilon))
    return Loss(epsilon * _PAD, min(1.0, share * loss.delta * _PAD))


@dataclass(frozen=True, slots=True)
class Subsampled(Guarantee):
    """A guarantee whose input is such a sample: its profile at ln(1 + rate (e^epsilon - 1)) is rate times the old one's.

    Args:
        original: The guarantee on those who are sampled.
        rate: The chance that a person is among them.
    """

    original: Guarantee
    rate: Number

    def __post_init__(self) -> None:
        read_guarantee(self.original)
        read_level(self.rate, name="rate")

    @property
    def delta(self) -> Number:  # type: ignore[override]  # derived here, a constant or a field elsewhere
        return exact(self.rate) * exact(self.original.delta)

    @property
    def pure_epsilon(self) -> float:
        epsilon = self.original.pure_epsilon
        return subsampled(Loss(epsilon), rate=self.rate).epsilon if math.isfinite(epsilon) else math.inf

    @property
    def rho(self) -> float:
        """From the pure epsilon where there is one; otherwise no better than the original's."""
        pure = self.pure_epsilon
        return min(self.original.rho, math.inf if math.isinf(pure) else rounded_up(curves.pure_rho(exact(pure))))

    def _renyi(self, order: float) -> float:
        pure = self.pure_epsilon
        bound = self.original.renyi(order)
        return bound if math.isinf(pure) else min(bound, curves.pure_renyi(pure, order))

    def _deltas(self, epsilons: Floats) -> Floats:
        share = float(exact(self.rate))
        near = np.log1p(np.expm1(np.minimum(epsilons, 1.0)) / share)
        far = epsilons - math.log(share) + np.log1p(-(1 - share) * np.exp(-np.maximum(epsilons, 1.0)))  # no overflow
        before = np.where(epsilons < 1, near, far)
        return np.minimum(1.0, share * self.original.deltas(before) * _PAD)
