"""Frequent texts that cannot be listed beforehand, found prefix by prefix (PEM).

People are split into groups by their public numbers; each group reports prefixes of one length. The collector keeps the
best prefixes of the first length, extends each in every way to the next length, evaluates those on the next group, and
so on. Each group is used once, so the choice of candidates is independent of the reports that evaluate them.

Citation: Wang, Li, Jha 2019 (arXiv:1708.06674), "Locally differentially private heavy hitter identification".
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput
from discreet.local.device.client import Prefixes
from discreet.local.protocols.draws import Draws, Flags
from discreet.local.protocols.hashing import LocalHashing, Words
from discreet.local.protocols.protocol import Floats, HeavyHitter, Reports, Tally, TextProtocol
from discreet.local.tasks.protocol_choice import hashing_buckets

_MOST_NEW_BITS = 16
"""Limit on the bits added from one length to the next: each prefix becomes at most 2**16 candidates."""


def pem_shape(length: int, epsilon: float) -> tuple[tuple[int, ...], int]:
    """Return the lengths of prefixes in bits, and the number of buckets, for texts of at most `length` bytes.

    The first prefix has two bytes, each next one more. Few groups are best, since each then has more people, and a
    collector can count about 256 candidates per prefix.
    """
    return tuple(range(min(16, 8 * length), 8 * length + 1, 8)), hashing_buckets(epsilon)


def beyond_chance(trials: int, chance: Fraction, rare: float) -> int:
    """Return the least number that a binomial reaches with probability at most `rare`, by its exact tail."""
    p = float(chance)
    choices = math.lgamma(trials + 1)

    def tail(least: int) -> float:
        ways = choices - math.lgamma(least + 1) - math.lgamma(trials - least + 1)
        term = math.exp(ways + least * math.log(p) + (trials - least) * math.log1p(-p))
        total = 0.0
        while least <= trials and term > 1e-12 * total:
            total, least = total + term, least + 1
            term *= (trials - least + 1) / least * p / (1 - p)
        return total

    middle = math.ceil(trials * p)  # from here on every term is smaller than the one before
    return middle + bisect.bisect_left(range(trials + 1 - middle), -rare, key=lambda more: -tail(middle + more))


class PrefixExtension(TextProtocol[Prefixes]):
    """A tally is the reports themselves, since the candidates are known only later.

    Counts come from the last group only, whose prefixes are whole texts, times reports / (reports of that group). That
    is unbiased if group membership is independent of the text: numbers are random or assigned in order of arrival.
    """

    appends = True

    def __init__(self, randomizer: Prefixes) -> None:
        super().__init__(randomizer)
        self.hashing = LocalHashing(randomizer.hashing)
        self.groups = len(randomizer.prefixes)

    def encode(self, codes: Sequence[bytes], draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        return self.hashing.encode(self._fingerprints(codes, slots), draws, slots=slots)

    def _fingerprints(self, codes: Sequence[bytes], slots: NDArray[np.int64]) -> Words:
        """Return the fingerprint of each person's prefix, computed once for each text and length."""
        numbers: dict[bytes, int] = {}
        positions = np.fromiter((numbers.setdefault(text, len(numbers)) for text in codes), np.int64, len(codes))
        texts, fingerprints = list(numbers), np.empty(len(codes), np.uint64)
        for group, bits in enumerate(self.randomizer.prefixes):
            members = np.flatnonzero(slots % self.groups == group)
            distinct, which = np.unique(positions[members], return_inverse=True)
            fingerprints[members] = self._codes_of((texts[i] for i in distinct.tolist()), bits)[which]
        return fingerprints

    def _codes_of(self, texts: Iterable[bytes], bits: int) -> Words:
        return np.array([self.randomizer.prefix_code(text, bits) for text in texts], np.uint64)

    def legal(self, reports: Reports) -> Flags:
        return self.hashing.legal(reports)

    def tally(self, reports: Reports) -> Tally:
        return self.hashing.tally(reports)

    def group(self, tally: Tally, number: int) -> Words:
        """Return the reports of one group."""
        slots = tally.astype(np.uint64) >> np.uint64(self.randomizer.hashing.value_bits)
        return tally.astype(np.uint64)[slots % np.uint64(self.groups) == number]

    def estimate(self, tally: Tally, reports: int, codes: Any) -> Floats:
        """Estimate how many people have each text, for any texts."""
        last = self.group(tally, self.groups - 1)
        support = self.hashing.support(last, self._codes_of(codes, self.randomizer.prefixes[-1]))
        return self._counts(support, reports, last.size)

    def _counts(self, support: NDArray[np.int64], reports: int, last: int) -> Floats:
        p, q = self.hashing.chances
        return (support - np.float64(last * q)) / float(p - q) * (reports / max(last, 1))

    def variance(self, counts: Floats, reports: int, codes: Any) -> Floats:
        """The variance if the last group has an equal share of the reports."""
        return self._variance(counts, reports, round(reports / self.groups))

    def estimated_variance(self, tally: Tally, reports: int, codes: Any) -> Floats:
        return self._variance(self.estimate(tally, reports, codes), reports, self.group(tally, self.groups - 1).size)

    def _variance(self, counts: Floats, reports: int, last: int) -> Floats:
        """The noise of the last group's reports, and the random choice of its people (hypergeometric)."""
        if not last:
            return np.full(np.shape(counts), np.inf)
        shares = np.clip(counts, 0, reports) / reports
        noise = self.hashing.variance(shares * last, last, np.zeros(0, np.int64))
        picked = last * shares * (1 - shares) * (reports - last) / max(reports - 1, 1)
        return (noise + picked) * (reports / last) ** 2

    @property
    def influence(self) -> float:
        """A made-up report in the last group, which speaks for all groups."""
        return self.groups * self.hashing.influence

    def heavy_hitters(self, tally: Tally, reports: int, *, keep: int, confidence: float = 0.95) -> list[HeavyHitter]:
        """Return at most `keep` texts, the most frequent first, with estimated counts and their variances.

        With the given confidence all of them exist: their support is above what any candidate reaches by chance. The
        largest estimates are slightly too large on average, because they were selected among many.
        """
        self.candidates(keep)
        bits = self.randomizer.prefixes
        candidates = self._extended([b""], 0, bits[0])
        for group in range(self.groups - 1):
            support = self.hashing.support(self.group(tally, group), self._codes_of(candidates, bits[group]))
            best = np.argsort(-support, kind="stable")[:keep]
            candidates = self._extended([candidates[i] for i in best.tolist()], bits[group], bits[group + 1])
        last = self.group(tally, self.groups - 1)
        support = self.hashing.support(last, self._codes_of(candidates, bits[-1]))
        _, by_chance = self.hashing.chances
        least = beyond_chance(last.size, by_chance, (1 - confidence) / max(len(candidates), 1))
        sure = [i for i in np.argsort(-support, kind="stable")[:keep].tolist() if support[i] >= least]
        counts = self._counts(support[sure], reports, last.size)
        variances = self._variance(counts, reports, last.size)
        texts = [candidates[i].rstrip(b"\0") for i in sure]
        return list(zip(texts, counts.tolist(), variances.tolist(), strict=True))

    def candidates(self, keep: int = 32) -> int:
        """Return the largest number of candidates of a group if `keep` prefixes are kept. Refuse unsuitable lengths."""
        bits = self.randomizer.prefixes
        if bits[-1] != 8 * self.randomizer.length:
            raise BadInput(
                "The last group does not report whole texts.",
                next_step="Give `prefixes` that end with 8 times the length.",
            )
        new = [more - before for before, more in pairwise((0, *bits))]
        if min(new) < 1 or max(new) > _MOST_NEW_BITS:
            raise BadInput(
                "The lengths of the prefixes do not increase, or increase too much.",
                next_step="Give lengths that increase by 1 to 16 bits each.",
            )
        return max(1 << new[0], *(keep << step for step in new[1:]), 1)

    def _extended(self, prefixes: Sequence[bytes], bits: int, more: int) -> list[bytes]:
        """Return all extensions of the prefixes from `bits` to `more` bits, as texts padded with zeros.

        Texts have no zero byte and are not empty: a zero byte is padding, and only padding follows it.
        """
        length = self.randomizer.length
        grown = []
        for prefix in prefixes:
            start = int.from_bytes(prefix.ljust(length, b"\0"), "big")
            for tail in range(1 << more - bits):
                text = (start | tail << 8 * length - more).to_bytes(length, "big")
                value = text.rstrip(b"\0")
                if b"\0" not in value and (value or more < 8):
                    grown.append(text)
        return grown
