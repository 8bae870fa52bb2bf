"""Hadamard response for many people: parities by counting bits, decoding by fast Walsh-Hadamard transforms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import Hadamard
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.protocol import Floats, Protocol, Reports, Tally, chance_of

_AT_ONCE = 1 << 14
_NUMBERS_AT_ONCE = 1 << 15


def parity(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return whether the number of set bits is odd, which gives the sign of an entry of the Hadamard matrix."""
    return (np.bitwise_count(words) & 1).astype(np.int64)


def walsh_hadamard(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Multiply each row by the Hadamard matrix, exactly: log2(columns) rounds of sums and differences."""
    columns = rows.shape[1]
    small = bool(np.abs(rows).sum(axis=1).max(initial=0) < 2**31)  # then no sum or difference ever overflows
    result = rows.astype(np.int32 if small else np.int64)
    step = max(1, _NUMBERS_AT_ONCE // columns)
    for start in range(0, len(rows), step):
        part = result[start : start + step]
        other = np.empty_like(part)
        for _ in range(columns.bit_length() - 1):  # sums of neighbours go left, differences go right
            np.add(part[:, 0::2], part[:, 1::2], out=other[:, : columns // 2])
            np.subtract(part[:, 0::2], part[:, 1::2], out=other[:, columns // 2 :])
            part, other = other, part
        result[start : start + step] = part
    return result.astype(np.int64, copy=False)


class HadamardResponse(Protocol[Hadamard]):
    """A value's estimate compares the two halves of its block: the reports with sign +1 in its row and those with -1.

    The reports of people with other values are equally likely in both halves: rows of the matrix are orthogonal, and
    people of other blocks report all columns of this block with equal probability. So
    (reports with +1 - reports with -1) / (agree - oppose) is unbiased for any values of the others.
    """

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The probability of the value's own half of its block (agree), and of the other half (oppose).

        Half of any other block has the same probability as the latter.
        """
        r = self.randomizer
        agree = chance_of(r.keep)
        return agree, (1 - agree) * r.half / (r.outputs - r.half)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        reports = np.empty(codes.size, np.uint64)
        for start in range(0, codes.size, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            reports[part] = self._encode(codes[part].astype(np.int64), draws)
        return reports

    def _encode(self, codes: NDArray[np.int64], draws: Draws) -> NDArray[np.int64]:
        r = self.randomizer
        block, row = self._positions(codes)
        truthful = draws.chance(r.keep, codes.size)
        agreeing, others = draws.below(r.half, codes.size), draws.below(r.outputs - r.half, codes.size)
        index = np.where(truthful, agreeing, others)
        lowest = row & -row
        below = index & (lowest - 1)
        column = ((index ^ below) << 1) | below  # insert a bit at the row's lowest bit to get the right parity
        column += lowest * (parity(column & row) ^ ~truthful)
        inside = block * r.columns + column
        if r.blocks == 1:
            return inside
        elsewhere = others - r.half
        elsewhere += r.columns * (elsewhere >= block * r.columns)
        return np.where(truthful | (others < r.half), inside, elsewhere)

    def _positions(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the block of each code, and its row in the block."""
        block, row = np.divmod(codes.astype(np.int64), self.randomizer.columns - 1)
        return block, row + 1

    def legal(self, reports: Reports) -> Flags:
        return np.asarray(reports < self.randomizer.outputs)

    def tally(self, reports: Reports) -> Tally:
        return np.bincount(reports.astype(np.int64), minlength=self.randomizer.outputs)

    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        agree, oppose = self.chances
        block, row = self._positions(codes)
        needed, positions = np.unique(block, return_inverse=True)
        sums = walsh_hadamard(tally.astype(np.int64).reshape(-1, self.randomizer.columns)[needed])
        return sums[positions, row] / float(agree - oppose)

    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """Depends on the number of people in each block; people without a listed code count as spread over the rest."""
        r = self.randomizer
        agree, oppose = self.chances
        block, _ = self._positions(codes)
        listed = np.bincount(block, minlength=r.blocks)
        sizes = np.minimum(r.columns - 1, np.maximum(0, r.size - np.arange(r.blocks) * (r.columns - 1)))
        unlisted, rest = np.maximum(0, sizes - listed), max(0.0, reports - float(counts.sum()))
        people = np.bincount(block, counts, r.blocks) + rest * unlisted / max(1, unlisted.sum())
        in_block = people * float(agree + oppose) + (reports - people) * float(2 * oppose)
        return self._variance(in_block[block], counts)

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """The reports in the block replace their expected number."""
        block, _ = self._positions(codes)
        in_block = tally.reshape(-1, self.randomizer.columns).sum(axis=1)
        return self._variance(in_block[block], np.clip(self.estimate(tally, reports, codes), 0, reports))

    def _variance(self, in_block: Floats | Tally, counts: Floats) -> Floats:
        """Each report in the block moves the estimate by ±1 / (agree - oppose); each holder's mean effect is 1."""
        agree, oppose = self.chances
        return in_block * float(1 / (agree - oppose) ** 2) - counts

    @property
    def influence(self) -> float:
        agree, oppose = self.chances
        return float(1 / (agree - oppose))
