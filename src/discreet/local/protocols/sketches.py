"""Apple's sketches for many people: the count mean sketch and its one-bit form.

The tally of `cms` has, for each row of the hash table, the number of set bits of each column and the number of reports;
that of `hcms` has the sum of the signs for each row and coordinate. Both are flat arrays that can be added.

Estimates are unbiased, and their variances exact, over the choice of hash functions. Two people with the same value who
use the same row collide with a third value together, so the variance has a term that grows with the squares of counts,
divided by rows times columns. The sum of these squares can be estimated from the tally: see `_pairs`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import WORD, Sketch
from discreet.local.protocols.bitmaps import (
    no_reports,
    no_stray_bits,
    packed_reports,
    people_at_once,
    unpacked_reports,
)
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.hadamard_response import parity, walsh_hadamard
from discreet.local.protocols.hashing import Words, hash_numbers
from discreet.local.protocols.protocol import Floats, Protocol, Reports, Tally, chance_of

_AT_ONCE = 1 << 14
_LOOKED_UP_AT_ONCE = 1 << 16
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class CountMeanSketch(Protocol[Sketch]):
    """A value's estimate is the sum of its column over all rows, minus the expected contribution of other values.

    Fingerprints are SHA-256 and columns differ from row to row, so collisions behave as if independent.
    """

    @property
    def contrast(self) -> Fraction:
        """The probability of the truth minus that of its opposite: the expected sign of a report about +1."""
        return 2 * chance_of(self.randomizer.keep) - 1

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """For `cms`: the probability that the bit of the own column is set, and of another value's column."""
        truthful, columns = chance_of(self.randomizer.keep), self.randomizer.columns
        return truthful, truthful / columns + (1 - truthful) * (columns - 1) / columns

    @cached_property
    def _numbers(self) -> tuple[Words, Words, Words]:
        """Low, high and shift of the hash function of each row."""
        rows, seed = np.arange(self.randomizer.rows), self.randomizer.seed
        return hash_numbers(rows, seed, 0), hash_numbers(rows, seed, 1), hash_numbers(rows, seed, 2)

    def columns_of(self, codes: Codes, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the column of each code in each row; the two arrays are broadcast."""
        codes = codes.astype(np.uint64)
        low, high, shift = (numbers[rows] for numbers in self._numbers)
        total = low * (codes & _LOW)
        total += high * (codes >> _HALF)
        total += shift
        total >>= np.uint64(
            64 - self.randomizer.column_bits
        )  # columns are a power of two: the bucket is the first bits
        return total.view(np.int64)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        r = self.randomizer
        step = _AT_ONCE if r.one_bit else people_at_once(r.bits)
        reports = no_reports(r.bits, codes.size)
        for start in range(0, codes.size, step):
            part = codes[start : start + step]
            reports[start : start + step] = (
                self._encode_signs(part, draws) if r.one_bit else packed_reports(self.flags_of(part, draws))
            )
        return reports

    def _encode_signs(self, codes: Codes, draws: Draws) -> Words:
        r = self.randomizer
        positions = draws.below(r.rows * r.columns, codes.size)  # a row and a coordinate at once
        columns = self.columns_of(codes, positions >> r.column_bits)
        plus = parity(positions & columns) ^ draws.chance(r.keep, codes.size)
        return ((positions << 1) | plus).view(np.uint64)

    def flags_of(self, codes: Codes, draws: Draws) -> Flags:
        """Return reports of `cms` as rows of flags: the bits of the row number, then one flag per column."""
        r, people = self.randomizer, np.arange(codes.size)
        rows = draws.below(r.rows, codes.size)
        flags = np.empty((codes.size, r.bits), np.bool_)
        flags[:, : r.row_bits] = rows[:, None] >> np.arange(r.row_bits - 1, -1, -1) & 1
        flags[:, r.row_bits :] = draws.chance(WORD - r.keep, codes.size * r.columns).reshape(codes.size, r.columns)
        flags[people, r.row_bits + self.columns_of(codes, rows)] = draws.chance(r.keep, codes.size)
        return flags

    def legal(self, reports: Reports) -> Flags:
        return no_stray_bits(reports, self.randomizer.bits) & (self._rows_of(reports) < self.randomizer.rows)

    def _rows_of(self, reports: Reports) -> NDArray[np.int64]:
        """Return the row number of each report: its first bits."""
        r = self.randomizer
        if not self.wide:
            return (reports.astype(np.uint64) >> np.uint64(r.bits - r.row_bits)).astype(np.int64)
        first = np.ascontiguousarray(reports[:, :8]).view(">u8").reshape(-1).astype(np.uint64)
        return (first >> np.uint64(64 - r.row_bits)).astype(np.int64)

    def tally(self, reports: Reports) -> Tally:
        r = self.randomizer
        if r.one_bit:
            minus, plus = np.bincount(reports.astype(np.int64), minlength=2 * r.rows * r.columns).reshape(-1, 2).T
            return np.asarray(plus - minus)
        table = np.zeros((r.rows, r.columns + 1), np.int64)
        rows, step = self._rows_of(reports), people_at_once(r.bits)
        table[:, -1] = np.bincount(rows, minlength=r.rows)
        ends, order = np.cumsum(table[:, -1]), np.argsort(rows, kind="stable")
        for row in np.unique(rows):
            members = order[ends[row] - table[row, -1] : ends[row]]
            for start in range(0, members.size, step):
                flags = unpacked_reports(reports[members[start : start + step]], r.bits)[:, r.row_bits :]
                table[row, :-1] += flags.sum(axis=0, dtype=np.uint16)
        return table.reshape(-1)

    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        r = self.randomizer
        if r.one_bit:
            table = walsh_hadamard(tally.astype(np.int64).reshape(r.rows, r.columns))
            each = self._look_up(table, codes) / float(self.contrast)
            return (each - reports / r.columns) * (r.columns / (r.columns - 1))
        p, q = self.chances
        found = self._look_up(tally.reshape(r.rows, r.columns + 1)[:, :-1], codes)
        return np.asarray((found - reports * float(q)) / float(p - q), np.float64)

    def _look_up(self, table: NDArray[np.int64] | Tally, codes: Codes) -> NDArray[np.int64]:
        """Return the table's entries in each code's column, summed over the rows."""
        r = self.randomizer
        flat, sums = np.ascontiguousarray(table, np.int64).reshape(-1), np.zeros(codes.size, np.int64)
        for first in range(0, codes.size, _LOOKED_UP_AT_ONCE // 8):
            part = codes[first : first + _LOOKED_UP_AT_ONCE // 8]
            for row in range(0, r.rows, step := max(1, _LOOKED_UP_AT_ONCE // part.size)):
                rows = np.arange(row, min(r.rows, row + step))[:, None]
                positions = self.columns_of(part, rows)
                positions += rows * r.columns
                sums[first : first + part.size] += flat.take(positions).sum(axis=0)
        return sums

    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """People without any of `codes` count as having distinct values."""
        pairs = counts * (counts - 1)
        return self._variance(counts, reports, pairs.sum() - pairs)

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Subtract from all pairs those of the value itself: the squared estimate, corrected for its noise."""
        counts, pairs = self.estimate(tally, reports, codes), self._pairs(tally, reports)
        kept = np.clip(counts, 0, reports)
        own = counts**2 - counts - self._variance(kept, reports, pairs)
        return self._variance(kept, reports, np.clip(pairs - np.maximum(0, own), 0, None))

    def _variance(self, counts: Floats, reports: int, other_pairs: Floats | float) -> Floats:
        r = self.randomizer
        part = 1 / r.columns
        scale = 1 / (1 - part)
        if r.one_bit:
            square = float(1 / self.contrast**2)
            alone = scale**2 * (counts * (square - 1) + (reports - counts) * (square - part**2))
        else:
            p, q = self.chances
            alone = reports * float(q * (1 - q) / (p - q) ** 2) + counts * float((1 - p - q) / (p - q))
        return np.asarray(alone + scale * part / r.rows * other_pairs, np.float64)

    def _pairs(self, tally: Tally, reports: int) -> float:
        """Estimate the sum of f (f - 1) over all values: the number of ordered pairs of people with the same value.

        Two people share a row and column with probability 1 / rows if they have the same value, otherwise with
        1 / (rows columns). The squares of the table's entries, minus the squares of the noise, count such pairs.
        """
        r, contrast = self.randomizer, float(self.contrast)
        if r.one_bit:
            together = r.columns * (float(np.square(tally, dtype=np.float64).sum()) - reports) / contrast**2
        else:
            table = tally.reshape(r.rows, r.columns + 1).astype(np.float64)
            truthful = float(chance_of(r.keep))
            people = (table[:, :-1] - table[:, -1:] * (1 - truthful)) / contrast
            noise = r.columns * truthful * (1 - truthful) / contrast**2
            together = float(np.square(people).sum()) - reports * (1 + noise)
        return max(0.0, (r.rows * together - reports * (reports - 1) / r.columns) / (1 - 1 / r.columns))

    @property
    def influence(self) -> float:
        columns = self.randomizer.columns
        if self.randomizer.one_bit:
            return float((1 / self.contrast + Fraction(1, columns)) * columns / (columns - 1))
        p, q = self.chances
        return float(max(1 - q, q) / (p - q))
