"""Randomized response: coin flips, Warner's, and k-ary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.local.client import Direct
from discreet.local.draws import Codes, Draws, Flags
from discreet.local.protocols.base import PureProtocol, Reports, Tally, chance_of


class DirectResponse(PureProtocol[Direct]):
    """A report supports the value it names."""

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        told = chance_of(self.randomizer.keep)
        return told, (1 - told) / (self.randomizer.size - 1)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        told = draws.chance(self.randomizer.keep, codes.size)
        others = draws.below(self.randomizer.size - 1, codes.size)
        others += others >= codes
        return np.where(told, codes, others).astype(np.uint64)

    def legal(self, reports: Reports) -> Flags:
        return reports < self.randomizer.size

    def tally(self, reports: Reports) -> Tally:
        return np.bincount(reports.astype(np.int64), minlength=self.randomizer.size)

    def support(self, tally: Tally, codes: Codes) -> NDArray[np.int64]:
        return tally[codes]
