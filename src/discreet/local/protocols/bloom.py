"""RAPPOR for many people: Bloom filters with two lies, undone by least squares over the candidates.

A person of cohort j with value x sends the bits of x's filter in j, each kept with the same chance. Of those bits, put
back on scale, the mean over cohorts is X n / cohorts with X the filters of all candidates, one column each; so
cohorts * (pseudo-inverse of X) is an unbiased estimator of n, as long as X has as many independent columns as
candidates.
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
"""Above this the regression takes minutes and gigabytes."""


def rappor_shape(size: int) -> tuple[int, int, int]:
    """Filter bits, hashes and cohorts for `size` candidates, in a report of at most 63 bits.

    One hash is best: epsilon is shared by all bits in which two filters differ, twice as many as there are hashes.
    There are about eight times as many equations as candidates, four times above a thousand: the noise of least squares
    grows as 1 / (1 - candidates / equations).
    """
    filter_bits = 32 if size <= 256 else 52
    equations = (8 if size <= 1024 else 4) * size
    cohorts = 1 << max(3, (-(-equations // filter_bits) - 1).bit_length())
    return filter_bits, 1, cohorts


class BloomFilter(Protocol[Bloom]):
    """A tally is the reports of each cohort, then the ones of each bit of each cohort."""

    def __init__(self, randomizer: Bloom) -> None:
        super().__init__(randomizer)
        self._solved: tuple[bytes, Regression] | None = None

    @property
    def kept(self) -> Fraction:
        """The chance that a bit of a filter arrives as it is: told twice or lied about twice."""
        once, again = chance_of(self.randomizer.permanent), chance_of(self.randomizer.again)
        return once * again + (1 - once) * (1 - again)

    def encode(self, codes: Codes, draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        """One report a person, so that both lies are fresh."""
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
        """Each code's bits in its cohort."""
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
        """Least squares over `codes`, which must hold every value that people may have."""
        r, kept = self.randomizer, self.kept
        people, ones = tally[: r.cohorts], tally[r.cohorts :].reshape(r.cohorts, r.filter_bits)
        bits = (ones - float(1 - kept) * people[:, None]) / float(2 * kept - 1)
        return self.regression(codes).weights @ bits.reshape(-1)

    def variance(self, counts: Floats, reports: int, codes: Codes) -> Floats:
        """Lies about the bits, and people whose cohorts came out unevenly; `codes` are all values of all people."""
        return self._lies(reports, codes) + self.regression(codes).uneven @ np.asarray(counts, np.float64)

    def estimated_variance(self, tally: Tally, reports: int, codes: Codes) -> Floats:
        """Unbiased, as the variance is linear in the counts; never below the part that the lies alone make."""
        lies = self._lies(reports, codes)
        return np.maximum(lies + self.regression(codes).uneven @ self.estimate(tally, reports, codes), lies)

    def _lies(self, reports: int, codes: Codes) -> Floats:
        kept = self.kept
        one_bit = float(kept * (1 - kept) / (2 * kept - 1) ** 2)
        weights = self.regression(codes).weights
        return reports * one_bit / self.randomizer.cohorts * (weights**2).sum(axis=1)

    @property
    def influence(self) -> float:
        """One report's bits at their worst, in the worst cohort, for the worst value."""
        r, kept = self.randomizer, self.kept
        weights = self.regression(np.arange(r.size)).weights.reshape(r.size, r.cohorts, r.filter_bits)
        one, zero = float(kept / (2 * kept - 1)), float((1 - kept) / (2 * kept - 1))
        up = np.where(weights > 0, weights * one, -weights * zero).sum(axis=2).max()
        down = np.where(weights < 0, -weights * one, weights * zero).sum(axis=2).max()
        return float(max(up, down))

    def regression(self, codes: Codes) -> Regression:
        """The estimator for a list of candidates; the last one is remembered."""
        key = np.asarray(codes, np.int64).tobytes()
        if self._solved is None or self._solved[0] != key:
            self._solved = key, Regression(self, np.asarray(codes, np.int64))
        return self._solved[1]


class Regression:
    """Least squares over some candidates: the weight of every bit in every estimate.

    The bits of one person of value x, put back on scale, are u, and only those of the person's cohort j are not zero;
    their mean is then the filter X_j of x. So for the weights w of an estimate, Var(w u) is a mean over cohorts of the
    lies about the bits and of (w_j X_j)², less (w X / cohorts)², which is one for x itself and zero for all others.
    """

    def __init__(self, twin: BloomFilter, codes: NDArray[np.int64]) -> None:
        r = twin.randomizer
        equations = r.cohorts * r.filter_bits
        if codes.size > min(equations, MOST_CANDIDATES):
            raise BadInput(
                f"{codes.size} candidates are too many for {equations} bits in all cohorts.",
                next_step=f"Ask for more cohorts, or at most {MOST_CANDIDATES} candidates; protocol pgr takes more.",
            )
        everyone = np.arange(r.cohorts)
        filters = [twin.filters(np.full(r.cohorts, code), everyone).reshape(-1) for code in codes]
        matrix = np.array(filters, np.float64).reshape(codes.size, equations)  # X, transposed
        products = matrix @ matrix.T  # exact: counts of common bits
        if codes.size and np.linalg.eigvalsh(products)[0] < 1e-9 * products.trace():
            raise BadInput(
                "The filters of the candidates do not tell them all apart.",
                next_step="Ask for more cohorts or longer filters, or name fewer candidates.",
            )
        self.weights = r.cohorts * np.linalg.solve(products, matrix)
        self.uneven = -np.eye(codes.size)  # an estimate a row, a person's value a column
        for j in range(r.cohorts):
            part = slice(j * r.filter_bits, (j + 1) * r.filter_bits)
            self.uneven += (self.weights[:, part] @ matrix[:, part].T) ** 2 / r.cohorts
