"""Randomized response for many people: coin flips, Warner's, and k-ary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import Direct
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.protocol import PureProtocol, Reports, Tally, chance_of

_AT_ONCE = 1 << 14


class DirectResponse(PureProtocol[Direct]):
    """A report supports the value it names."""

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        truthful = chance_of(self.randomizer.keep)
        return truthful, (1 - truthful) / (self.randomizer.size - 1)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        reports = np.empty(codes.size, np.uint64)
        for start in range(0, codes.size, _AT_ONCE):
            own = codes[start : start + _AT_ONCE].astype(np.int64)
            answers = draws.below(self.randomizer.size - 1, own.size)
            answers += answers >= own
            answers += (own - answers) * draws.chance(self.randomizer.keep, own.size)
            reports[start : start + _AT_ONCE] = answers
        return reports

    def legal(self, reports: Reports) -> Flags:
        return reports < self.randomizer.size

    def tally(self, reports: Reports) -> Tally:
        return np.bincount(reports.astype(np.int64), minlength=self.randomizer.size)

    def support(self, tally: Tally, codes: Codes) -> NDArray[np.int64]:
        return tally[codes]
