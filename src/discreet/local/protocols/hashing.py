"""Local hashing for many people: the public hash functions on arrays, and a fast count of supporting reports."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import WORD, Hashing, HashingTwice
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.protocol import PureProtocol, Reports, Tally, chance_of

Words: TypeAlias = NDArray[np.uint64]

_ENCODE_AT_ONCE = 1 << 14
_COUNT_AT_ONCE = 1 << 13
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def mix_bits(words: Words) -> Words:
    """The client's bijection of 64-bit words, for an array."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(30)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def hash_numbers(rows: Codes, seed: int, which: int) -> Words:
    """Return one of the three numbers that define hash function number `row`: 0 is low, 1 is high, 2 is shift."""
    return mix_bits(np.asarray(rows).astype(np.uint64) * np.uint64(3) + np.uint64((seed + which) % WORD))


def hash_code(codes: Codes, rows: Codes, seed: int) -> Words:
    """Return the client's 32-bit hash of each code under its own hash function."""
    codes = np.asarray(codes).astype(np.uint64)
    high = codes >> _HALF
    total = hash_numbers(rows, seed, 0) * (codes & _LOW) + hash_numbers(rows, seed, 2)
    if high.any():  # numbers of values are below 2**32 and need no more
        total += hash_numbers(rows, seed, 1) * high
    return total >> _HALF


def bucket(codes: Codes, rows: Codes, seed: int, size: int) -> Words:
    """Return the bucket of each code, out of `size` buckets."""
    return hash_code(codes, rows, seed) * np.uint64(size) >> _HALF


class LocalHashing(PureProtocol[Hashing]):
    """A report supports the values that its hash function maps to the reported bucket.

    The tally is the reports themselves, since the values to look for may be known only later.

    The probability q = 1 / buckets of supporting another value is over the choice of the hash function. It holds up to
    a relative error of buckets / 2**32, since buckets have floor or ceil of 2**32 / buckets hash values.
    """

    appends = True

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        r = self.randomizer
        truthful, again = chance_of(r.keep), chance_of(r.keep_again)
        return truthful * again + (1 - truthful) * (1 - again) / (r.buckets - 1), Fraction(1, r.buckets)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        reports = np.empty(codes.size, np.uint64)
        for start in range(0, codes.size, _ENCODE_AT_ONCE):
            part = slice(start, start + _ENCODE_AT_ONCE)
            reports[part] = self._encode(codes[part], draws, slots[part])
        return reports

    def _encode(self, codes: Codes, draws: Draws, slots: NDArray[np.int64]) -> Words:
        r = self.randomizer
        answers = self._respond(bucket(codes, slots, r.seed, r.buckets), r.keep, draws)
        if isinstance(r, HashingTwice):
            answers = self._respond(answers, r.keep_again, draws)
        return slots.astype(np.uint64) << np.uint64(r.value_bits) | answers

    def _respond(self, truth: Words, keep: int, draws: Draws) -> Words:
        truthful = draws.chance(keep, truth.size)
        others = draws.below(self.randomizer.buckets - 1, truth.size).view(np.uint64)
        others += others >= truth
        return np.where(truthful, truth, others)

    def legal(self, reports: Reports) -> Flags:
        r = self.randomizer
        return np.asarray(
            (reports < np.uint64(1 << r.bits)) & ((reports & np.uint64((1 << r.value_bits) - 1)) < r.buckets)
        )

    def tally(self, reports: Reports) -> Tally:
        return np.array(reports, np.uint64)

    def support(self, tally: Tally, codes: Codes) -> NDArray[np.int64]:
        needed, positions = np.unique(np.asarray(codes).astype(np.uint64), return_inverse=True)
        supporters = np.zeros(needed.size, np.int64)
        for start in range(0, tally.size, _COUNT_AT_ONCE):
            supporters += self._supported(tally[start : start + _COUNT_AT_ONCE].astype(np.uint64), needed)
        return supporters[positions]

    @cached_property
    def _bounds(self) -> tuple[Words, Words]:
        """The start of each bucket among the 64-bit words, and its width."""
        buckets = self.randomizer.buckets
        edges = [-(-(b << 32) // buckets) << 32 for b in range(buckets + 1)]
        widths = [end - start for start, end in pairwise(edges)]
        return np.array(edges[:-1], np.uint64), np.array(widths, np.uint64)

    def _supported(self, reports: Words, codes: Words) -> NDArray[np.int64]:
        """Count how many of the reports support each of the codes, which are sorted.

        hash * buckets >> 32 is b if and only if the hash's 64 bits minus the start of bucket b are below its width.
        From one code to the next, these bits increase by low times the difference of the codes, so additions are
        enough.
        """
        r = self.randomizer
        slots, answers = reports >> np.uint64(r.value_bits), reports & np.uint64((1 << r.value_bits) - 1)
        starts, widths = (bounds[answers] for bounds in self._bounds)
        low, positions = hash_numbers(slots, r.seed, 0), hash_numbers(slots, r.seed, 2)
        positions -= starts
        low_steps, high_steps = (np.diff(half, prepend=np.uint64(0)) for half in (codes & _LOW, codes >> _HALF))
        high = hash_numbers(slots, r.seed, 1) if high_steps.any() else low
        inside, grown = np.empty(reports.size, np.bool_), np.empty(reports.size, np.uint64)
        supporters = np.zeros(codes.size, np.int64)
        for i, (low_step, high_step) in enumerate(zip(low_steps.tolist(), high_steps.tolist(), strict=True)):
            for numbers, step in ((low, low_step), (high, high_step)):
                if step:
                    positions += numbers if step == 1 else np.multiply(numbers, np.uint64(step), out=grown)
            supporters[i] = np.count_nonzero(np.less(positions, widths, out=inside))
        return supporters
