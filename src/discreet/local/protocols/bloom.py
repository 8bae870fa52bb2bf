"""RAPPOR for many people: Bloom filters with two rounds of randomization, decoded by least squares over the candidates.

A person in cohort j with value x sends the bits of x's filter in j, each unchanged with the same probability. After
rescaling, the expected sum of these bits is X n / cohorts, where X has one column per candidate, its filters. So
cohorts * (pseudo-inverse of X) is an unbiased estimator of n if the columns of X are linearly independent.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput
from discreet.local.device.client import Bloom
from discreet.local.protocols.bitmaps import no_reports, no_stray_bits, packed_reports, people_at_once, unpacked_reports
from discreet.local.protocols.draws import Codes, Draws, Flags
from discreet.local.protocols.hashing import bucket
from discreet.local.protocols.protocol import Floats, Protocol, Reports, Tally, chance_of

MOST_CANDIDATES = 4096
"""With more candidates the regression takes minutes and gigabytes."""


def rappor_shape(size: int) -> tuple[int, int, int]:
    """Return filter bits, hashes and cohorts for `size` candidates, for a report of at most 63 bits.

    One hash is best: all bits in which two filters differ, twice the number of hashes, share epsilon. There are about
    eight times as many equations as candidates, four times above a thousand, since the noise of least squares grows
    as 1 / (1 - candidates / equations).
    """
    filter_bits = 32 if size <= 256 else 52
    equations = (8 if size <= 1024 else 4) * size
    cohorts = 1 << max(3, (-(-equations // filter_bits) - 1).bit_length())
    return filter_bits, 1, cohorts


class BloomFilter(Protocol[Bloom]):
    """A tally has the number of reports of each cohort, then the number of ones for each bit of each cohort."""

    def __init__(self, randomizer: Bloom) -> None:
        super().__init__(randomizer)
        self._solved: tuple[bytes, Regression] | None = None

    @property
    def kept(self) -> Fraction:
        """The probability that a bit of a filter arrives unchanged: kept in both rounds or flipped in both."""
        once, again = chance_of(self.randomizer.permanent), chance_of(self.randomizer.again)
        return once * again + (1 - once) * (1 - again)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        """Return one report per person, with both rounds drawn fresh."""
        r = self.randomizer
        reports, step = no_reports(r.bits, codes.size), people_at_once(r.bits)
        for start in range(0, codes.size, step):
            reports[start : start + step] = self._encode(codes[start : start + step], draws)
        return reports

    def _encode(self, codes: Codes, draws: Draws) -> Reports:
        r = self.randomizer
        cohorts = draws.below(r.cohorts, codes.size)
        bits = self.filters(codes, cohorts)
        for keep in (r.permanent, r.again):
            bits = bits == draws.chance(keep, bits.size).reshape(bits.shape)
        flags = np.empty((codes.size, r.bits), np.bool_)
        flags[:, : r.cohort_bits] = cohorts[:, None] >> np.arange(r.cohort_bits)[::-1] & 1
        flags[:, r.cohort_bits :] = bits
        return packed_reports(flags)

    def filters(self, codes: Codes, cohorts: NDArray[np.int64]) -> Flags:
        """Return the filter bits of each code in its cohort."""
        r = self.randomizer
        bits = np.zeros((codes.size, r.filter_bits), np.bool_)
        for i in range(r.hashes):
            marks = bucket(codes, cohorts * r.hashes + i, r.seed, r.filter_bits)
            bits[np.arange(codes.size), marks.astype(np.int64)] = True
        return bits

    def legal(self, reports: Reports) -> Flags:
        r = self.randomizer
        return np.asarray(
            no_stray_bits(reports, r.bits) & (self._cohorts(unpacked_reports(reports, r.bits)) < r.cohorts)
        )

    def _cohorts(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        width = self.randomizer.cohort_bits
        return bits[:, :width].astype(np.int64) @ (1 << np.arange(width, dtype=np.int64)[::-1])

    def tally(self, reports: Reports) -> Tally:
        r = self.randomizer
        people, ones = np.zeros(r.cohorts, np.int64), np.zeros(r.cohorts * r.filter_bits, np.int64)
        step = people_at_once(r.bits)
        for start in range(0, len(reports), step):
            bits = unpacked_reports(reports[start : start + step], r.bits)
            cohorts = self._cohorts(bits)
            rows, positions = np.nonzero(bits[:, r.cohort_bits :])
            people += np.bincount(cohorts, minlength=r.cohorts)
            ones += np.bincount(cohorts[rows] * r.filter_bits + positions, minlength=ones.size)
        return np.concatenate([people, ones])

    def estimate(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Estimate by least squares over `codes`, which must include every value that people may have."""
        r, kept = self.randomizer, self.kept
        people, ones = tally[: r.cohorts], tally[r.cohorts :].reshape(r.cohorts, r.filter_bits)
        bits = (ones - float(1 - kept) * people[:, None]) / float(2 * kept - 1)
        return self.regression(codes).weights @ bits.reshape(-1)

    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """Return the variance from flipped bits and from uneven cohorts; `codes` must include all values of people."""
        return self._flip_variance(reports, codes) + self.regression(codes).uneven @ np.asarray(counts, np.float64)

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Unbiased, since the variance is linear in the counts; at least the part from flipped bits."""
        flips = self._flip_variance(reports, codes)
        return np.maximum(flips + self.regression(codes).uneven @ self.estimate(tally, reports, codes), flips)

    def _flip_variance(self, reports: int, codes: Codes) -> Floats:
        kept = self.kept
        one_bit = float(kept * (1 - kept) / (2 * kept - 1) ** 2)
        weights = self.regression(codes).weights
        return reports * one_bit / self.randomizer.cohorts * (weights**2).sum(axis=1)

    @property
    def influence(self) -> float:
        """The most by which one report, of any bits and cohort, moves the estimate of any value."""
        r, kept = self.randomizer, self.kept
        weights = self.regression(np.arange(r.size)).weights.reshape(r.size, r.cohorts, r.filter_bits)
        one, zero = float(kept / (2 * kept - 1)), float((1 - kept) / (2 * kept - 1))
        up = np.where(weights > 0, weights * one, -weights * zero).sum(axis=2).max()
        down = np.where(weights < 0, -weights * one, weights * zero).sum(axis=2).max()
        return float(max(up, down))

    def regression(self, codes: Codes) -> Regression:
        """Return the estimator for a list of candidates; the last one is cached."""
        key = np.asarray(codes, np.int64).tobytes()
        if self._solved is None or self._solved[0] != key:
            self._solved = key, Regression(self, np.asarray(codes, np.int64))
        return self._solved[1]


class Regression:
    """Least squares over some candidates: the weight of each bit in each estimate.

    Let u be the rescaled bits of one person with value x: only those of the person's cohort j are nonzero, with the
    filter X_j of x as their mean. For the weights w of an estimate, Var(w u) is the mean over cohorts of the variance
    of the flips plus (w_j X_j)², minus (w X / cohorts)², which is one for x itself and zero for all other values.
    """

    def __init__(self, twin: BloomFilter, codes: NDArray[np.int64]) -> None:
        r = twin.randomizer
        equations = r.cohorts * r.filter_bits
        if codes.size > min(equations, MOST_CANDIDATES):
            raise BadInput(
                f"{codes.size} candidates are too many for {equations} bits in all cohorts.",
                next_step=f"Use more cohorts, at most {MOST_CANDIDATES} candidates, or protocol pgr.",
            )
        everyone = np.arange(r.cohorts)
        filters = [twin.filters(np.full(r.cohorts, code), everyone).reshape(-1) for code in codes]
        matrix = np.array(filters, np.float64).reshape(codes.size, equations)  # X, transposed
        products = matrix @ matrix.T  # exact: counts of common bits
        if codes.size and np.linalg.eigvalsh(products)[0] < 1e-9 * products.trace():
            raise BadInput(
                "The filters of the candidates are not linearly independent, so they cannot be told apart.",
                next_step="Use more cohorts, longer filters or fewer candidates.",
            )
        self.weights = r.cohorts * np.linalg.solve(products, matrix)
        self.uneven = -np.eye(codes.size)  # one row per estimate, one column per value of a person
        for j in range(r.cohorts):
            part = slice(j * r.filter_bits, (j + 1) * r.filter_bits)
            self.uneven += (self.weights[:, part] @ matrix[:, part].T) ** 2 / r.cohorts
