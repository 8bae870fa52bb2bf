"""Subset selection for many people: Floyd's sampling of a set, one step for all people at a time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import Subset
from discreet.local.protocols.bitmaps import (
    no_reports,
    no_stray_bits,
    ones_each,
    packed_reports,
    people_at_once,
    unpacked_reports,
)
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.protocol import PureProtocol, Reports, Tally, chance_of


class SubsetSelection(PureProtocol[Subset]):
    """A report supports the values in its set. The tally counts for each value the sets that contain it."""

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        r = self.randomizer
        truthful = chance_of(r.keep)
        return truthful, (truthful * (r.width - 1) + (1 - truthful) * r.width) / (r.size - 1)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        r = self.randomizer
        reports, step = no_reports(r.bits, codes.size), people_at_once(r.bits)
        for start in range(0, codes.size, step):
            own = codes[start : start + step].astype(np.int64)
            reports[start : start + step] = self._encode(own, draws) if self.wide else self._encode_words(own, draws)
        return reports

    def _encode(self, own: NDArray[np.int64], draws: Draws) -> Reports:
        r, people = self.randomizer, np.arange(own.size)
        truthful = draws.chance(r.keep, own.size)
        flags = np.zeros((own.size, r.size), np.bool_)
        for last in range(r.size - 1 - r.width, r.size - 1):
            picked, fallback = self._others(draws.below(last + 1, own.size), last, own)
            picked = np.where(flags[people, picked], fallback, picked)
            flags[people, picked] = True
            if last == r.size - 1 - r.width:  # a truthful set has one other value fewer
                flags[truthful] = False
        flags[people, own] = truthful
        return packed_reports(flags)

    def _encode_words(self, own: NDArray[np.int64], draws: Draws) -> Reports:
        r = self.randomizer
        bit = np.uint64(1) << np.arange(r.size - 1, -1, -1, dtype=np.uint64)
        truthful = draws.chance(r.keep, own.size)
        chosen = np.zeros(own.size, np.uint64)
        for last in range(r.size - 1 - r.width, r.size - 1):
            picked, fallback = self._others(draws.below(last + 1, own.size), last, own)
            flag = bit[picked]
            chosen |= np.where(chosen & flag, bit[fallback], flag)
            if last == r.size - 1 - r.width:
                chosen[truthful] = 0
        chosen[truthful] |= bit[own[truthful]]
        return chosen

    def _others(
        self, numbers: NDArray[np.int64], last: int, own: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Map `numbers` and `last` to other values: the number of the person's own value stands for the last value."""
        end = self.randomizer.size - 1
        return np.where(numbers == own, end, numbers), np.where(own == last, end, last)

    def legal(self, reports: Reports) -> Flags:
        r, step = self.randomizer, people_at_once(self.randomizer.bits)
        legal = no_stray_bits(reports, r.bits)
        for start in range(0, len(reports), step):
            ones = unpacked_reports(reports[start : start + step], r.bits).sum(axis=1, dtype=np.int64)
            legal[start : start + step] &= ones == r.width
        return legal

    def tally(self, reports: Reports) -> Tally:
        return ones_each(reports, self.randomizer.bits)

    def support(self, tally: Tally, codes: Codes) -> NDArray[np.int64]:
        return tally[codes].astype(np.int64)
