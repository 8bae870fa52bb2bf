"""Privacy amplification by shuffling: the guarantee of n reports after a shuffler has removed their senders.

Each report is epsilon-LDP. If a party that the collector does not control shuffles the reports, the collector sees a
multiset and not who sent which report, so the random reports of others protect each person further. The result is
(epsilon, delta)-DP for the exchange of one person's value, with an epsilon that decreases like 1 / sqrt(n).

The bounds hold only if

- the shuffler works: it waits for n reports, removes the senders, message numbers, times and order, and does not
  collude with the collector;
- n counts honest reports only: reports that the collector recognises or has fabricated protect nobody;
- each person sends one report (otherwise the losses of the reports add up), which neither repeats nor carries a number
  of the device (`Task.is_linkable`): otherwise crowds with and without a person can be compared;
- for local hashing, devices draw their own slots. A slot assigned by the collector identifies the device, so shuffling
  gains nothing, and the functions for tasks take this into account.

There are three bounds, from loose to tight: a closed form and an exact sum ("clones"), both for any epsilon-LDP
randomizer; and the privacy blanket for a specific randomizer with the probabilities that devices use. All are rounded
up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, read_delta, read_epsilon
from discreet.errors import BadInput
from discreet.local.device import client
from discreet.local.shuffling.epsilon_search import least_epsilon
from discreet.local.tasks.task import Task
from discreet.mechanisms.curves import Floats

_TAIL = 1e-24
"""Probability cut off at the ends of a distribution; it is added to delta."""
_PAD = 1e-10
"""Bound on rounding errors in the clones' sum, relative to the larger of two subtracted terms; it is added."""
_UNIT = 2.0**-48
"""32 roundings: bound on the relative error of a few floating-point operations."""
_POINTS = 1 << 16
"""Grid points for the blanket's sum; twice as many lower epsilon by less than a part in a thousand."""
_MOST = 10**10


# ── any randomizer ──────────────────────────────────────────────────────────────────────────────────────────────────


def closed_form_epsilon(epsilon0: Number, n: int, delta: Number) -> float:
    """Return the epsilon of n shuffled reports, each epsilon0-LDP, by a formula; epsilon0 if it does not apply.

    Guarantee: an upper bound for any randomizer. For comparison: `clones_epsilon` is at least three times smaller.
    Citation: Feldman, McMillan, Talwar 2021 (arXiv:2012.12803), theorem 3.1.
    """
    local, level = _read(epsilon0, n, delta)
    if local > math.log(n / (16 * math.log(2 / level))):
        return local
    odds = math.exp(local)
    spread = 8 * math.sqrt(odds * math.log(4 / level) / n) + 8 * odds / n
    return min(local, math.log1p((odds - 1) / (odds + 1) * spread) * (1 + _PAD))


def clones_epsilon(epsilon0: Number, n: int, delta: Number) -> float:
    """Return the epsilon of n shuffled reports, each epsilon0-LDP, by the bound for a general randomizer.

    Guarantee: an upper bound for any randomizer, also if later reports depend on earlier ones.
    Citation: Feldman, McMillan, Talwar 2021 (arXiv:2012.12803), theorem 3.2, summed exactly.
    """
    local, level = _read(epsilon0, n, delta)
    return _epsilon_of_clones(local, n, level)


@lru_cache(maxsize=256)
def _epsilon_of_clones(local: float, n: int, level: float) -> float:
    return least_epsilon(lambda epsilon: _clones_delta(local, n, epsilon), local, level)


def clones_delta(epsilon0: Number, n: int, epsilon: Number) -> float:
    """Return the delta for an epsilon, by the same sum."""
    local, _ = _read(epsilon0, n, 0.5)
    return _clones_delta(local, n, float(read_epsilon(epsilon)))


def _clones_delta(local: float, n: int, epsilon: float) -> float:
    """Return the expectation over C of the hockey-stick divergence between A + D and A + 1 - D.

    C ~ Bin(n - 1, e^-local) clones, A ~ Bin(C, 1/2) of the first kind, and D ~ Bern(high) for the person. Given C = c,
    x of the first kind are likelier by more than e^epsilon exactly if x > share (c + 1). Exchanging the kinds exchanges
    the two neighbours, so the other direction has the same delta.
    """
    if epsilon >= local:
        return 0.0
    odds, times = math.exp(local), math.exp(epsilon)
    high, low = odds / (odds + 1), 1 / (odds + 1)
    share = math.expm1(epsilon + local) / (math.expm1(local) * (times + 1))
    chance, missing = math.exp(-local), -math.expm1(-local)
    clones = _likely(n - 1, chance, missing)
    weights = np.exp(_log_binomial(np.float64(n - 1), clones, chance, missing))
    least = np.floor(share * (clones + 1)) + 1
    at = np.exp(_log_binomial(clones, least - 1, 0.5, 0.5))
    gain, loss = (high - times * low) * at, math.expm1(epsilon) * _upper_halves(clones, least, at)
    return min(1.0, float(weights @ (np.maximum(0.0, gain - loss) + _PAD * gain)) + _TAIL)


def _likely(count: int, chance: float, missing: float) -> Floats:
    """Return all values of Bin(count, chance) except some of total probability below _TAIL (Bernstein's inequality)."""
    log_tail = math.log(2 / _TAIL)
    reach = log_tail / 3 + math.sqrt(log_tail * log_tail / 9 + 2 * log_tail * count * chance * missing)
    first, last = max(0, math.floor(count * chance - reach)), min(count, math.ceil(count * chance + reach))
    return np.arange(first, last + 1, dtype=np.float64)


def _upper_halves(counts: Floats, least: Floats, at: Floats) -> Floats:
    """Return P(Bin(count, 1/2) >= least) for consecutive counts, where least rises by 0 or 1 each time.

    The first is a sum (omitted terms make it smaller, so delta larger); each other one differs from the one before by
    one or two terms. `at` is the probability of least - 1.
    """
    first, start = counts[0], least[0]
    values = np.arange(start, min(first, start + 20 * math.sqrt(first) + 60) + 1)
    whole = float(np.exp(_log_binomial(first, values, 0.5, 0.5)).sum()) if values.size else 0.0
    passed = np.exp(_log_binomial(counts[1:], least[:-1], 0.5, 0.5))
    steps = at[:-1] / 2 - np.diff(least) * passed
    return np.maximum(0.0, whole + np.concatenate([[0.0], np.cumsum(steps)]))


def _log_binomial(count: Floats | np.float64, value: Floats, chance: float, missing: float) -> Floats:
    """Return the logarithm of a binomial probability, to about 1e-12, by deviances (Loader 2000)."""
    count, value = np.broadcast_arrays(count, value)
    others = count - value
    inside = (value > 0) & (others > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = _deviance(value, count * chance) + _deviance(others, count * missing)
        middle = 0.5 * np.log(count / (2 * math.pi * value * others)) - deviance
        middle += _stirling_error(count) - _stirling_error(value) - _stirling_error(others)
    edge = np.where(value == 0, count * math.log1p(-chance), count * math.log(chance))
    return np.where((value < 0) | (others < 0), -math.inf, np.where(inside, middle, edge))


def _deviance(value: Floats, mean: Floats) -> Floats:
    """Value ln(value / mean) - value + mean."""
    excess = (value - mean) / mean
    return mean * ((1 + excess) * np.log1p(excess) - excess)


def _stirling_error(value: Floats) -> Floats:
    """ln(value!) less Stirling's formula."""
    small = np.clip(value, 0, 15).astype(np.int64)
    large = np.maximum(value, 16)
    square = large * large
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / large
    return np.where(value < 16, _SMALL_ERRORS[small], series)


_SMALL_ERRORS = np.array(
    [0.0] + [math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - 0.5 * math.log(2 * math.pi) for k in range(1, 16)]
)


# ── a specific randomizer ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Blanket:
    """A randomizer with two levels: with probability `keep` a report from the value's own set, else one outside it.

    `inside` is the size of each set, and `both` the least size of the intersection of two values' sets, as fractions of
    all reports. Reports within a set are equally likely, and so are those outside.
    """

    keep: Fraction
    inside: Fraction
    both: Fraction

    @property
    def high(self) -> Fraction:
        """The probability of a report in the value's own set, relative to a uniform draw of all reports."""
        return self.keep / self.inside

    @property
    def low(self) -> Fraction:
        """The same for a report outside it. It is also the blanket: the share of people who draw uniformly."""
        return (1 - self.keep) / (1 - self.inside)


def blanket_of(randomizer: client.Randomizer) -> Blanket | None:
    """Return the two levels of a randomizer, by the thresholds that devices use, or None if it has more levels."""
    keep: int | Fraction
    match randomizer:
        case _ if _is_numbered(randomizer):
            return None
        case client.Direct(size=size, keep=keep):
            inside, both = Fraction(1, size), Fraction(0)
        case client.Subset(size=size, width=width, keep=keep):
            inside, both = Fraction(width, size), Fraction(width * (width - 1), size * (size - 1))
        case client.Projective(points=points, on_plane=on_plane, on_line=on_line, keep=keep):
            inside, both = Fraction(on_plane, points), Fraction(on_line, points)
        case client.Hashing(buckets=buckets):
            keep = _keep_after_both(randomizer)  # with two rounds not a whole number of 2**-64
            inside, both = Fraction(1, buckets), Fraction(1, buckets) * _min_collisions(randomizer)
        case client.Hadamard(half=half, outputs=outputs, blocks=blocks, keep=keep):
            inside, both = Fraction(half, outputs), Fraction(0) if blocks > 1 else Fraction(half, 2 * outputs)
        case client.Sketch(one_bit=True, keep=keep):
            inside, both = (
                Fraction(1, 2),
                Fraction(1, 4),
            )  # two rows of a Hadamard matrix agree in half of their columns
        case client.Window(steps=steps, width=width, outputs=outputs, keep=keep):
            inside, both = Fraction(width, outputs), Fraction(max(0, width - steps), outputs)
        case _:
            return None
    return Blanket(keep=Fraction(keep, client.WORD), inside=inside, both=both)


def _keep_after_both(hashing: client.Hashing) -> Fraction:
    """Return the probability of the true bucket, times 2**64, after both rounds of `loloha`."""
    first, again = Fraction(hashing.keep), Fraction(hashing.keep_again, client.WORD)
    return first * again + (client.WORD - first) * (1 - again) / (hashing.buckets - 1)


def _min_collisions(hashing: client.Hashing) -> Fraction:
    """Return a lower bound on the fraction of slots in which two values share a bucket.

    Functions of the family collide with probability at least 1 / `buckets`. The 2**slot_bits functions in use behave
    like random draws, so by Chernoff's bound no pair of 64-bit codes is below this, except with probability e^-40.
    """
    pairs = 128 * math.log(2) + 40
    less = math.sqrt(2 * pairs * hashing.buckets / 2**hashing.slot_bits)
    return Fraction(max(0.0, 1 - less)) / hashing.buckets


def blanket_epsilon(task: Any, n: int, delta: Number) -> float:
    """Return the epsilon of n shuffled reports of a task, by the privacy blanket of its randomizer.

    `task` is a randomizer or a task. For randomizers with more than two levels (unary encodings, the count mean sketch,
    RAPPOR, the means of one bit, the hybrid, heavy hitters: `blanket_of` is None) this is the bound of the clones.

    Guarantee: an upper bound for any two values and either order of them (both orders have the same delta, as the sets
    of two values are equally large), and never above the bound of the clones.
    Citation: Balle, Bell, Gascón, Nissim 2019 (arXiv:1903.02837), lemma 5.3; by Fourier transform, as Su, Cheng, Wang
    2025 (arXiv:2504.07414).
    """
    randomizer = _randomizer(task)
    clones = clones_epsilon(randomizer.epsilon, n=_crowd(randomizer, n), delta=delta)
    law = blanket_of(randomizer)
    if law is None:
        return clones
    return least_epsilon(lambda epsilon: _blanket_delta(law, n, epsilon), clones, float(read_delta(delta)))


def blanket_delta(task: Any, n: int, epsilon: Number) -> float:
    """Return the delta for an epsilon, by the same bound."""
    randomizer = _randomizer(task)
    _read(randomizer.epsilon, n, 0.5)
    law = blanket_of(randomizer)
    if law is None:
        return clones_delta(randomizer.epsilon, n=_crowd(randomizer, n), epsilon=epsilon)
    return _blanket_delta(law, n, float(read_epsilon(epsilon)))


def epsilon_after_shuffling(task: Any, n: int, delta: Number) -> float:
    """Return the epsilon, at delta, of n shuffled reports of a task for each person: the least of the valid bounds.

    Requires a working shuffler, honest reports and one report per person: see the module's docstring. A task whose
    reports can be linked gains nothing: reports in one crowd but not in another belong to one person. For a bare
    randomizer the bound is that of a single crowd.
    """
    randomizer = _randomizer(task)
    formula = closed_form_epsilon(randomizer.epsilon, n=_crowd(randomizer, n), delta=delta)
    if isinstance(task, Task) and task.is_linkable:
        return task.epsilon
    return min(formula, blanket_epsilon(randomizer, n=n, delta=delta))


def cached_epsilon_after_shuffling(task: Task, n: int, delta: float) -> float:
    """Return the same from a cache, for services that need it repeatedly: it may take a second to compute."""
    return _epsilon_of(task.to_json(), n, delta)


@lru_cache(maxsize=256)
def _epsilon_of(spec: str, n: int, delta: float) -> float:
    return epsilon_after_shuffling(Task.from_json(spec), n, delta)


def _blanket_delta(law: Blanket, n: int, epsilon: float) -> float:
    """Return E[max(0, L_1 + ... + L_M)] / (n low), where M ~ Bin(n, low) people draw uniformly.

    L is high - e^epsilon low if the draw is in the first value's set only, low - e^epsilon high if in the second's
    only, and so on. If two sets share more than `both`, L is smaller in convex order, and so is delta.
    """
    high, low, less = float(law.high), float(min(law.low, law.high)), math.expm1(epsilon)
    one, both = float(law.inside - law.both), float(law.both)
    values = np.array([high - low - less * low, low - high - less * high, -less * high, -less * low])
    chances = low * np.array([one, one, both, max(0.0, 1 - 2 * one - both)])
    return min(1.0, _mean_above_zero(values, chances, n) / (n * low) * (1 + _PAD))


def _mean_above_zero(values: Floats, chances: Floats, n: int) -> float:
    """Return an upper bound on E[max(0, Z_1 + ... + Z_n)] for independent Z with `values` and `chances`, otherwise 0.

    Each value is split between the two neighbouring grid points such that its mean is unchanged: this increases the sum
    in convex order, and therefore the mean of a convex function. The grid is a circle of `size` points around the sum's
    mean. By Bernstein's inequality, less than _TAIL of probability lies beyond the circle; it is counted as the largest
    possible sum, and where it wraps around it only adds. Rounding: with u = 2^-53, the relative error of the spectrum's
    entry F^n is below 32 u (1 + n E|1 - e^(i t Z)|) (bounding the mean by the root mean square), and the error of the
    inverse transform is below 32 u log2(size) in the Euclidean norm (Higham 2002, theorem 24.2: about 8 u log2(size)).
    Both are multiplied by the norm of max(0, sum) over the grid and added.
    """
    largest, farthest = float(values.max()), float(np.abs(values).max())
    if largest <= 0:
        return 0.0
    mean = n * float(values @ chances)
    reach = _reach(values, chances, n, farthest)
    step = farthest / math.ceil(farthest * _POINTS / (2 * reach))  # puts the farthest value on the grid
    size = 1 << math.ceil(math.log2(2 * reach / step + 4))
    lower = np.floor(values / step)
    upper_share = values / step - lower
    positions = np.concatenate([lower, lower + 1]).astype(np.int64)
    weights = np.concatenate([chances * (1 - upper_share), chances * upper_share])
    positions, weights = positions[weights > 0], weights[weights > 0]

    spectrum, errors = _power_of_spectrum(positions, weights, n, size)
    law = np.fft.irfft(spectrum, size)
    off = _UNIT * (math.log2(size) * np.linalg.norm(law) + math.sqrt(2 / size) * float(np.linalg.norm(errors)))
    middle = round(mean / step)
    sums = np.arange(max(1, middle - size // 2), middle + size // 2)
    reached = sums * step
    return float(reached @ law[sums % size] + np.linalg.norm(reached) * off) + n * largest * _TAIL


def _reach(values: Floats, chances: Floats, n: int, farthest: float) -> float:
    """Return how far the sum is from its mean, except with probability _TAIL, for any grid step up to `farthest`."""
    log_tail, bound = math.log(1 / _TAIL), 3 * farthest  # a value, its distance to a grid point, and the mean
    variance = n * float(chances @ (values * values + farthest * np.abs(values)))
    return min(n * bound, log_tail * bound / 3 + math.sqrt((log_tail * bound / 3) ** 2 + 2 * log_tail * variance))


def _power_of_spectrum(
    positions: NDArray[np.int64], weights: Floats, n: int, size: int
) -> tuple[NDArray[np.complex128], Floats]:
    """Return the Fourier transform of the sum's distribution, and bounds on its errors.

    It is computed from 1 - F, so that no precision is lost where F is near 1.
    """
    frequencies = np.arange(size // 2 + 1)
    turned, sideways = np.zeros(frequencies.size), np.zeros(frequencies.size)
    versines, sines = _circle(size)
    for position, weight in zip(positions.tolist(), weights.tolist(), strict=True):
        angles = frequencies * position & size - 1
        turned += weight * versines[angles]
        sideways += weight * sines[angles]
    with np.errstate(divide="ignore"):
        shrunk = n / 2 * np.log1p(np.maximum(-1.0, turned * (turned - 2) + sideways**2))
    spectrum = np.exp(shrunk + 1j * n * np.arctan2(-sideways, 1 - turned))
    return spectrum, np.abs(spectrum) * (1 + n * np.sqrt(2 * weights.sum() * turned))


@lru_cache(maxsize=2)
def _circle(size: int) -> tuple[Floats, Floats]:
    """Return 1 - cos and sin at all multiples of 1 / `size` of a turn."""
    angles = 2 * np.pi * np.arange(size) / size
    return 2 * np.sin(angles / 2) ** 2, np.sin(angles)


# ── both ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _randomizer(task: Any) -> client.Randomizer:
    randomizer = task.randomizer if isinstance(task, Task) else task
    if not isinstance(randomizer, client.Randomizer):
        raise BadInput("This is neither a task nor a randomizer.", next_step="Give a discreet.local.Task.")
    return randomizer


def _is_numbered(randomizer: client.Randomizer) -> bool:
    """Whether reports carry a number that the collector assigned to the device."""
    return randomizer.slot_at is not None and bool(randomizer.spec.get("assigned"))


def _crowd(randomizer: client.Randomizer, n: int) -> int:
    """Return the effective crowd size."""
    _read(1, n, 0.5)
    return 1 if _is_numbered(randomizer) else n


def _read(epsilon0: Number, n: int, delta: Number) -> tuple[float, float]:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= _MOST:
        raise BadInput("The number of reports must be from 1 to 10**10.", next_step="Count the honest reports.")
    return float(read_epsilon(epsilon0)), float(read_delta(delta))
