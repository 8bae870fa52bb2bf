"""Unary encoding for many people: one coin per value and person."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import Unary
from discreet.local.protocols.bitmaps import no_reports, no_stray_bits, ones_each, packed_reports, people_at_once
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.protocol import PureProtocol, Reports, Tally, chance_of


class UnaryEncoding(PureProtocol[Unary]):
    """A report supports the values whose bits are set. The tally counts the set bits of each value."""

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        return chance_of(self.randomizer.one), chance_of(self.randomizer.zero)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        r = self.randomizer
        reports, step = no_reports(r.bits, codes.size), people_at_once(r.bits)
        for start in range(0, codes.size, step):
            own = codes[start : start + step]
            flags = draws.chance(r.zero, own.size * r.size).reshape(own.size, r.size)
            flags[np.arange(own.size), own] = draws.chance(r.one, own.size)
            reports[start : start + step] = packed_reports(flags)
        return reports

    def legal(self, reports: Reports) -> Flags:
        return no_stray_bits(reports, self.randomizer.bits)

    def tally(self, reports: Reports) -> Tally:
        return ones_each(reports, self.randomizer.bits)

    def support(self, tally: Tally, codes: Codes) -> NDArray[np.int64]:
        return tally[codes].astype(np.int64)
