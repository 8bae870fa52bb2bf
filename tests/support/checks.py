"""The checks that our samplers must pass and that the mutants must fail."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping

import numpy as np
from scipy import stats

from discreet.noise import RandomBits
from tests.support.laws import Law, max_log_ratio

FALSE_ALARM = 1e-9


def samples_follow(samples: np.ndarray, law: Law) -> None:
    """Chi-square over bins of at least 25 expected, and Kolmogorov's distance; both at a false alarm below 1e-9."""
    n = samples.size
    outputs = sorted(law)
    chances = np.array([float(law[output]) for output in outputs])
    counts = _counts(samples, outputs)
    observed, expected = _binned(counts, chances * n)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    p_value = stats.chi2.sf(statistic, len(observed) - 1) if len(observed) > 1 else 1.0
    assert p_value > FALSE_ALARM, f"chi-square p = {p_value:.1e}"
    distance = np.abs(np.cumsum(counts) / n - np.cumsum(chances)).max()
    assert 2 * math.exp(-2 * n * distance**2) > FALSE_ALARM, f"Kolmogorov distance {distance:.2e}"


def _counts(samples: np.ndarray, outputs: list) -> np.ndarray:
    values, counts = np.unique(samples, return_counts=True)
    seen = dict(zip(values.tolist(), counts.tolist(), strict=True))
    assert set(seen) <= set(outputs), "a sample lies outside the support"
    return np.array([seen.get(output, 0) for output in outputs])


def _binned(observed: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring outputs together until each bin expects at least 25."""
    edges, total = [0], 0.0
    for i, value in enumerate(expected):
        total += value
        if total >= 25:
            edges.append(i + 1)
            total = 0.0
    edges[-1] = len(expected)
    starts = edges[:-1]
    return np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)


def ratio_within(one: Law, other: Law, epsilon: float) -> None:
    """The exact laws on neighbours differ by a factor of at most e^epsilon, both ways."""
    worst = max_log_ratio(one, other)
    assert worst <= epsilon * (1 + 1e-12), f"the log-ratio reaches {worst}, epsilon is {epsilon}"


def laws_agree(code: Law, theorem: Law) -> None:
    """Equal to 100 bits wherever the code's law says something; it may leave out a tail rarer than 2**-64."""
    for output, chance in code.items():
        assert abs(chance - theorem.get(output, 0)) < 2**-100, f"the laws differ at {output}"
    assert 1 - sum(code.values()) < 2**-64, "the code's law leaves out too much"


def children_share_no_noise(make: Callable[[], RandomBits]) -> None:
    """A parent and two forked children draw from one source; no 64-bit word may appear twice."""
    source = make()
    source.words(8, 64)
    drawn = [_words_of_child(source) for _ in range(2)]
    drawn.append(source.words(512, 64).tobytes())
    words = np.concatenate([np.frombuffer(part, np.uint64) for part in drawn])
    assert len(words) == 3 * 512
    assert len(np.unique(words)) == len(words), "a word was drawn twice"


def _words_of_child(source: RandomBits) -> bytes:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, source.words(512, 64).tobytes())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        words = pipe.read()
    os.waitpid(child, 0)
    return words


def lowest_bits(outputs: np.ndarray) -> np.ndarray:
    """For each float, the exponent of its lowest set bit: how fine a grid it needs."""
    fractions, exponents = np.frexp(outputs)
    whole = (np.abs(fractions) * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1).astype(np.float64)).astype(int)
    return np.where(outputs == 0, 10**6, exponents - 53 + lowest)


def granularity_tells_nothing(release: Callable[[float, int], np.ndarray], epsilon: float) -> None:
    """Releases of 0 and of 1 need the same granularities, about as often: no low bit betrays the input.

    Citation: Mironov 2012; Haney et al. 2022 (arXiv:2207.13793). The event is fixed beforehand, so a bound on two
    binomials (1e-9) is enough.
    """
    n = 200_000
    zero, one = (lowest_bits(release(value, n)) for value in (0.0, 1.0))
    for exponent in np.union1d(zero, one):
        a, b = int((zero == exponent).sum()), int((one == exponent).sum())
        for more, less in ((a, b), (b, a)):
            at_least = stats.beta.ppf(FALSE_ALARM, more, n - more + 1) if more else 0.0
            at_most = stats.beta.isf(FALSE_ALARM, less + 1, n - less)
            assert at_least <= math.exp(epsilon) * at_most, f"granularity 2**{exponent}: {more} against {less} of {n}"


def counts_are_fair(counts: Mapping[object, int], law: Law) -> None:
    """samples_follow for outputs that are not numbers."""
    order = list(law)
    samples = np.repeat(np.arange(len(order)), [counts.get(output, 0) for output in order])
    assert samples.size == sum(counts.values()), "a sample lies outside the support"
    samples_follow(samples, {i: law[output] for i, output in enumerate(order)})
