"""The device client: it randomizes an answer before sending it. One file that uses only the standard library.

Copy this file to a device as it is. It reads a task's specification, computes every probability from the specified
epsilon (so a dishonest collector cannot weaken it), draws from the operating system's secure randomness, adds up the
privacy loss of all tasks, and stores messages until they are acknowledged.

Every probability is a multiple of 2**-64, rounded so that the probabilities of a report under any two true values
differ by at most a factor e**epsilon. Nothing is computed in floating point between the true value and the report.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
import math
import operator
import os
import re
import secrets
import sys
import threading
import time
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

VERSION = 1
_STORE_VERSION = 3
WORD = 1 << 64
BUDGET = 20
"""Default budget of a device: the epsilon of all its reports for all tasks together."""
LEAST_EPSILON = Fraction(1, 1 << 20)
"""Least epsilon of a task and of a single report: with less, rounding to 2**-64 would be noticeable."""
_MOST_EPSILON = 100
_MOST_SIZE = 1 << 32
_MOST_OUTPUTS = 1 << 63
_MOST_COHORTS = 1 << 16
_MOST_HASHES = 1 << 6
_LONGEST_TEXT = 1 << 12
_LONGEST_NUMBER = 1 << 12
_MOST_DECIMAL_BITS = 1 << 11
_EPOCHS_KEPT = 8
LONGEST_NAME = 200
MOST_BITS = 1 << 16
"""Most bits of a report. This bounds the work of a device for any task."""
_MOST_COUNTED = (1 << 32) - 1
_LARGEST_FIELD = 1 << 12
_LONGEST_POWER = 1 << 12
_HIDES_NOTHING = 10**80
_MOST_TRIED = 256
HEADER = 1 + 16 + 16 + 16 + 4
"""Bytes before the payload: version, task, message, sender, number of reports. Four bytes of checksum follow it."""


class ClientRefused(ValueError):
    """The device does not report: a cap is reached, the task is invalid, or its store cannot be written."""

    def __init__(self, code: str, problem: str, next_step: str) -> None:
        super().__init__(f"{problem} {next_step}")
        self.code, self.problem, self.next_step = code, problem, next_step


# ── randomness ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Draw:
    """Fresh, secure randomness."""

    def word(self) -> int:
        """64 fair bits."""
        return secrets.randbits(64)

    def chance(self, threshold: int) -> bool:
        """True with probability threshold / 2**64, exactly."""
        return self.word() < threshold

    def below(self, bound: int) -> int:
        """Uniform on 0, 1, ..., bound - 1, by rejection: each attempt succeeds with probability above 1/2."""
        words = -(-(bound - 1).bit_length() // 64) or 1
        whole_rounds = WORD**words - WORD**words % bound
        while (drawn := sum(self.word() << 64 * position for position in reversed(range(words)))) >= whole_rounds:
            pass
        return drawn % bound


# ── probabilities ───────────────────────────────────────────────────────────────────────────────────────────────────


def odds_below(epsilon: Fraction) -> Fraction:
    """A rational just below e**epsilon, with 45 correct digits."""
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()  # correctly rounded to 60 digits
    return Fraction(power) * (1 - Fraction(1, 10**45))


def log_above(number: Fraction) -> Fraction:
    """The natural logarithm of a number of at least 1, rounded up to 18 digits after the point."""
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(number.numerator) / Decimal(number.denominator)).ln()  # correctly rounded to 60 digits
    return Fraction(math.ceil((Fraction(power) + Fraction(1, 10**50)) * 10**18), 10**18)


@lru_cache(maxsize=1 << 10)
def repeated_loss(keep: int, again: int, outputs: int, reports: int) -> Fraction:
    """The joint loss of `reports` reports that repeat one permanent answer out of `outputs`, exact up to rounding up.

    The answer is the truth with probability keep / 2**64, and a report is the answer with again / 2**64, else another.
    In the worst case all reports equal one true value and none equals the other (docs/explanation/proofs/local.md,
    "Two rounds").
    """
    others = outputs - 1
    first_odds = Fraction(keep * others, WORD - keep)
    if reports == 0:
        return Fraction(0)
    if again == WORD or reports > _LONGEST_POWER:  # only the permanent answer protects
        return log_above(first_odds)
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(again * others) / Decimal(WORD - again)) ** reports  # relative error below 10**-54
    if power > _HIDES_NOTHING:
        return log_above(first_odds)
    together = Fraction(power) * (1 + Fraction(1, 10**50))  # rounded up, since the loss grows with it
    return log_above((first_odds * together + others) / (together + first_odds + others - 1))


def keep_threshold(odds: Fraction, inside: int, outside: int) -> int:
    """The probability of the `inside` outputs if each is `odds` times as likely as each of the `outside` outputs.

    Rounded down, so that the ratio of the two likelihoods is never above the odds.
    """
    return math.floor(WORD * odds * inside / (odds * inside + outside))


def first_odds(first: Any, parts: int = 1) -> Fraction:
    """The odds of each of `parts` equal parts of a single report with epsilon `first`."""
    epsilon = parse_number(first)
    if epsilon < LEAST_EPSILON:
        raise _unsound("The epsilon of the first report is too small.")
    return odds_below(epsilon / parts)


def bits_for(size: int) -> int:
    """The number of bits that distinguish `size` values."""
    return max(1, (size - 1).bit_length())


def _check_sizes(least: int, *sizes: int, most: int = _MOST_SIZE) -> None:
    if any(type(size) is not int or not least <= size <= most for size in sizes):
        raise _unsound("A size in the task is not a whole number, too small or too large.")


# ── hashing: public, the same on every device and at the collector ──────────────────────────────────────────────────


def fingerprint(value: object) -> int:
    """64 bits of SHA-256 of the value as text. Sketches hash it further."""
    return int.from_bytes(hashlib.sha256(str(value).encode(errors="replace")).digest()[:8], "big")


def mix_bits(word: int) -> int:
    """A pseudorandom bijection of 64-bit words (splitmix64). It is public."""
    word = (word + 0x9E3779B97F4A7C15) % WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


def hash_code(code: int, row: int, seed: int) -> int:
    """32 bits, uniform and pairwise independent over the rows: multiply, add, take the upper half."""
    low, high, shift = (mix_bits((seed + 3 * row + i) % WORD) for i in range(3))
    return (low * (code & 0xFFFFFFFF) + high * (code >> 32) + shift) % WORD >> 32


def bucket(code: int, row: int, seed: int, size: int) -> int:
    """The bucket of a code, out of `size`, under hash function number `row`."""
    return hash_code(code, row, seed) * size >> 32


# ── randomizers: from a code to a report, an integer of `bits` bits ─────────────────────────────────────────────────


class Ratio(NamedTuple):
    """Two likelihoods of one report, over the same denominator, and the factor by which they may differ."""

    larger: int
    smaller: int
    odds: Fraction


def two_level_ratio(keep: int, inside: int, outside: int, odds: Fraction) -> Ratio:
    """The ratio of an inside output to an outside output, where the inside ones have probability `keep` / 2**64."""
    return Ratio(keep * outside, (WORD - keep) * inside, odds)


def check_promise(randomizer: Randomizer) -> None:
    """Check that every report is possible for every value, with likelihoods within the promised factor.

    This also checks that every threshold is strictly between 0 and 2**64, and in the right order.
    """
    if not all(0 < smaller <= larger <= odds * smaller for larger, smaller, odds in randomizer.ratios()):
        raise _unsound("The epsilon is too small for so many outputs in 64 bits.")
    _check_sizes(1, randomizer.bits, most=MOST_BITS)


class Randomizer:
    """One protocol with its parameters. Thresholds are probabilities times 2**64; estimators use them, too."""

    protocols: ClassVar[tuple[str, ...]] = ()
    code_kind: ClassVar[str] = "numbers"
    """What a code is: the number of a value, a position on a grid, a text, or anything if it is only hashed."""
    bits: int
    size: int = 0
    """The number of values; 0 if the domain is open."""
    length: int = 0
    """The bytes of the longest text; 0 if codes are not texts."""
    slot_at: int | None = None
    """The position of the device's slot in a report: the number of bits below it. None if a report has no slot."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec = spec
        self.parameters: Mapping[str, Any] = spec["parameters"]
        self.epsilon = Fraction(spec["epsilon"])
        self.odds = odds_below(self.epsilon)
        self.half_odds = odds_below(self.epsilon / 2)
        self.seed = int(spec["seed"])
        self.prepare(**self.parameters)

    prepare: Callable[..., None]
    """Computes bits and thresholds from the parameters."""

    def randomize(self, code: Any, draw: Draw, *, slot: int = 0) -> int:
        """Draw a report about `code`. `slot` is a public number of this device."""
        raise NotImplementedError

    @abstractmethod
    def ratios(self) -> Iterator[Ratio]:
        """Yield the likelihoods that differ most between values, computed from the device's thresholds."""

    def loss(self, reports: int) -> Fraction:
        """The joint loss of `reports` reports of one epoch, for any values: losses of fresh reports add up."""
        return self.epsilon * reports

    def max_loss_per_report(self, most: int) -> Fraction:
        """The largest loss per report of an epoch with at most `most` reports."""
        return self.loss(1)


class TwoRounds(Randomizer):
    """Keep a permanent answer for an epoch, even if the value changes, and randomize it again for every report.

    Guarantee: epsilon for all reports of one epoch together, `first` for a single one, `loss` for any number.
    """

    @abstractmethod
    def answer(self, code: Any, draw: Draw, *, slot: int = 0) -> int:
        """Draw the permanent answer, which the device stores."""

    @abstractmethod
    def repeat(self, answer: int, draw: Draw, *, slot: int = 0) -> int:
        """Draw a report of the permanent answer."""

    def randomize(self, code: Any, draw: Draw, *, slot: int = 0) -> int:
        return self.repeat(self.answer(code, draw, slot=slot), draw, slot=slot)

    def max_loss_per_report(self, most: int) -> Fraction:
        max_loss_per_report, for_ever = self.loss(1), self.loss(_LONGEST_POWER + 1)
        for reports in range(2, min(most, _MOST_TRIED) + 1):
            if for_ever / reports <= max_loss_per_report:
                return max_loss_per_report
            max_loss_per_report = max(max_loss_per_report, self.loss(reports) / reports)
        return max(max_loss_per_report, for_ever / (_MOST_TRIED + 1)) if most > _MOST_TRIED else max_loss_per_report


class Direct(Randomizer):
    """Report the true value with probability e^epsilon / (e^epsilon + size - 1), otherwise another one, uniformly.

    Guarantee: epsilon-LDP. With two values this is Warner's; `coin` is the lectures' two coin flips, epsilon = ln 3.
    Citation: Warner 1965; Kairouz, Bonawitz, Ramage 2016; Chicago slides, "Randomized Response is Locally-DP".
    """

    protocols = ("coin", "warner", "grr")

    def prepare(self, *, size: int) -> None:
        _check_sizes(2, size)
        self.size, self.bits = size, bits_for(size)
        self.keep = keep_threshold(self.odds, 1, size - 1)
        if self.spec["protocol"] == "coin":
            if size != 2 or self.odds < 3:  # the odds are just below e**epsilon: odds of 3 imply epsilon above ln 3
                raise _unsound("Coin flips need two values and epsilon ln 3, rounded up.")
            self.keep = 3 * WORD // 4

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.keep, 1, self.size - 1, self.odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        if draw.chance(self.keep):
            return code
        other = draw.below(self.size - 1)
        return other + (other >= code)


class Subset(Randomizer):
    """Report a set of `width` values out of `size`, which contains the true one with increased probability.

    Guarantee: epsilon-LDP; the least variance of all protocols for every size.
    Citation: Ye, Barg 2018; Wang et al. 2016, "Mutual information optimally local private discrete distribution
    estimation".
    """

    protocols = ("subset",)

    def prepare(self, *, size: int, width: int) -> None:
        _check_sizes(1, width, size - width)
        self.size, self.width, self.bits = size, width, size
        self.keep = keep_threshold(self.odds, width, size - width)

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.keep, self.width, self.size - self.width, self.odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        truthful = draw.chance(self.keep)
        chosen = {code} if truthful else set()
        others: set[int] = set()
        count = self.width - truthful
        for last in range(
            self.size - 1 - count, self.size - 1
        ):  # Floyd's algorithm: a uniform set of `count` other values
            other = draw.below(last + 1)
            others.add(last if other in others else other)
        chosen |= {other + (other >= code) for other in others}
        return sum(1 << self.size - 1 - value for value in chosen)


class Field:
    """The finite field with `order` elements, a prime power: logarithms to a generator, and digit-wise addition."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.prime = next((p for p in range(2, order + 1) if order % p == 0), 0)
        self.degree = round(math.log(order, self.prime)) if self.prime else 0
        if not self.prime or self.prime**self.degree != order:
            raise _unsound("The order of the geometry must be a prime power.")
        self.powers = self._powers_of_a_generator()
        self.logs = {element: exponent for exponent, element in enumerate(self.powers)}

    def _powers_of_a_generator(self) -> list[int]:
        """1, x, x², ... modulo the first polynomial that makes x run through all elements but zero."""
        for tail in range(1, self.order):
            tops, powers = [self._scaled(tail, top) for top in range(self.prime)], [1]
            while powers[-1] and len(powers) < self.order and (len(powers) == 1 or powers[-1] != 1):
                top, rest = divmod(powers[-1], self.order // self.prime)  # reduce the overflow beyond the degree
                powers.append(self.add(rest * self.prime, tops[top]))
            if powers.pop() == 1 and len(powers) == self.order - 1:
                return powers
        raise _unsound("The order of the geometry must be a prime power.")

    def _scaled(self, element: int, factor: int) -> int:
        return sum(
            element // self.prime**i % self.prime * factor % self.prime * self.prime**i for i in range(self.degree)
        )

    def add(self, one: int, other: int) -> int:
        """The sum: digits of base `prime`, without carry."""
        if self.degree == 1:
            return (one + other) % self.prime
        if self.prime == 2:
            return one ^ other
        return sum(
            (one // self.prime**i + other // self.prime**i) % self.prime * self.prime**i for i in range(self.degree)
        )

    def negative(self, element: int) -> int:
        """The element that adds to zero."""
        return self._scaled(element, self.prime - 1)

    def times_power(self, element: int, exponent: int) -> int:
        """The element times the generator to the power `exponent`."""
        return self.powers[(self.logs[element] + exponent) % (self.order - 1)] if element else 0


class Projective(Randomizer):
    """Values are points of a projective space over a finite field; report a point orthogonal to the value's point.

    Points of the space with `dimension` coordinates are numbered: 0 is (1, 0, ..., 0); 1 + q (order - 1) + b is
    (1, g^b Q) with Q the point number q of the space with one dimension less; order^(dimension - 1) + q is (0, Q).
    Values have the numbers below order^(dimension - 1).

    Guarantee: epsilon-LDP: every hyperplane has the same number of points. Optimal variance, log2(points) bits.
    Citation: Feldman, Nelson, Nguyen, Talwar 2022 (arXiv:2203.00194), "Private frequency estimation via projective
    geometry".
    """

    protocols = ("pgr",)

    def prepare(self, *, size: int, order: int, dimension: int) -> None:
        _check_sizes(2, size)
        _check_sizes(2, order, most=_LARGEST_FIELD)
        _check_sizes(2, dimension, most=_MOST_OUTPUTS.bit_length())
        self.size, self.order, self.dimension = size, order, dimension
        _check_sizes(1, self.points_of(dimension), most=_MOST_OUTPUTS)
        if size > order ** (dimension - 1):
            raise _unsound("The geometry has too few points for the values.")
        self.field = Field(order)
        self.points, self.on_plane, self.on_line = (self.points_of(dimension - i) for i in range(3))
        self.affine = order ** (dimension - 1)
        self.bits = bits_for(self.points)
        self.keep = keep_threshold(self.odds, self.on_plane, self.points - self.on_plane)

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.keep, self.on_plane, self.points - self.on_plane, self.odds)

    def points_of(self, dimension: int) -> int:
        """(order^dimension - 1) / (order - 1)."""
        return (self.order**dimension - 1) // (self.order - 1)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        scale, lead = 0, 0
        if draw.chance(self.keep):  # (y0, P) with y0 = -<x', P>, for any point P with one dimension less
            point = draw.below(self.on_plane)
        else:  # (y0, g^scale P) with <x, y> = 1
            vector = draw.below(self.affine)
            if vector == 0:
                return 0
            (point, scale), lead = divmod(vector - 1, self.order - 1), 1
        if code:
            below, power = divmod(code - 1, self.order - 1)
            inner = self.field.times_power(self._dot(self.dimension - 1, below, point), power + scale)
            lead = self.field.add(lead, self.field.negative(inner))
        if lead == 0:
            return self.affine + point
        return 1 + point * (self.order - 1) + (scale - self.field.logs[lead]) % (self.order - 1)

    def _dot(self, dimension: int, one: int, other: int) -> int:
        """The inner product of two points, by their numbers."""
        total, power = 0, 0
        while True:
            affine = self.order ** (dimension - 1)
            if one < affine and other < affine:
                total = self.field.add(total, self.field.times_power(1, power))
            if one == 0 or other == 0:
                return total
            one, power_one = divmod(one - 1, self.order - 1) if one < affine else (one - affine, 0)
            other, power_other = divmod(other - 1, self.order - 1) if other < affine else (other - affine, 0)
            power += power_one + power_other
            dimension -= 1


class Hashing(Randomizer):
    """Hash the value into few buckets by a public hash function, then randomize the bucket as `Direct` does.

    Guarantee: epsilon-LDP for any hash function, since it is chosen independently of the value.
    Citation: Wang, Blocki, Li, Jha 2017 (OLH).
    """

    protocols = ("olh",)
    code_kind = "anything"
    slot_bits = 32

    def prepare(self, *, buckets: int, size: int = 0) -> None:
        _check_sizes(2, buckets)
        _check_sizes(0, size)
        self.size, self.buckets = size, buckets
        self.slot_at = self.value_bits = bits_for(buckets)
        self.bits = self.slot_bits + self.value_bits
        self.keep = keep_threshold(self.odds, 1, buckets - 1)
        self.keep_again = WORD

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.keep, 1, self.buckets - 1, self.odds)

    def respond(self, truth: int, keep: int, draw: Draw) -> int:
        """Return the true bucket with probability `keep` / 2**64, otherwise another one."""
        if draw.chance(keep):
            return truth
        other = draw.below(self.buckets - 1)
        return other + (other >= truth)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        return slot << self.value_bits | self.respond(bucket(code, slot, self.seed, self.buckets), self.keep, draw)


class HashingTwice(TwoRounds, Hashing):
    """LOLOHA: a permanent answer about the bucket, randomized again for every report.

    Citation: Arcolezi et al. 2023 (arXiv:2210.00262, LOLOHA), which keeps an answer per bucket and not per epoch.
    """

    protocols = ("loloha",)

    def prepare(self, *, buckets: int, size: int = 0, first: str) -> None:  # type: ignore[override]  # read by name
        super().prepare(buckets=buckets, size=size)
        self.first_odds = first_odds(first)
        self.keep_again = self._again(self.first_odds)

    def ratios(self) -> Iterator[Ratio]:
        yield from super().ratios()
        others, again = self.buckets - 1, self.keep_again
        # The likelihood of a truthful report, times 2**128 (buckets - 1).
        truthful = self.keep * again * others + (WORD - self.keep) * (WORD - again)
        yield Ratio(truthful * others, WORD**2 * others - truthful, self.first_odds)
        yield two_level_ratio(again, 1, others, Fraction(WORD * others))  # each answer can lead to each report

    def _again(self, odds: Fraction) -> int:
        """The probability, times 2**64, of repeating the permanent answer such that one report has the given odds."""
        needed = odds / (odds + self.buckets - 1)
        truthful = Fraction(self.keep, WORD)
        untruthful = (1 - truthful) / (self.buckets - 1)
        if not untruthful < needed <= truthful:
            raise _unsound("The epsilon of the first report must be below that of all reports.")
        return math.floor(WORD * (needed - untruthful) / (truthful - untruthful))

    def answer(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        return self.respond(bucket(code, slot, self.seed, self.buckets), self.keep, draw)

    def repeat(self, answer: int, draw: Draw, *, slot: int = 0) -> int:
        return slot << self.value_bits | self.respond(answer, self.keep_again, draw)

    def loss(self, reports: int) -> Fraction:
        return min(self.epsilon, repeated_loss(self.keep, self.keep_again, self.buckets, reports))


class Unary(Randomizer):
    """One bit per value, only the true value's bit set; every bit is flipped independently.

    Guarantee: epsilon-LDP. `sue` flips zeros and ones with the same probability (basic RAPPOR); `oue` spends epsilon
    only on keeping zeros.
    Citation: Erlingsson, Pihur, Korolova 2014; Wang, Blocki, Li, Jha 2017.
    """

    protocols = ("sue", "oue")

    def prepare(self, *, size: int) -> None:
        _check_sizes(2, size)
        self.size, self.bits = size, size
        if self.spec["protocol"] == "oue":
            self.one, self.zero = WORD // 2, math.ceil(WORD / (self.odds + 1))
        else:
            self.one = keep_threshold(self.half_odds, 1, 1)
            self.zero = WORD - self.one

    def ratios(self) -> Iterator[Ratio]:
        yield Ratio(self.one * (WORD - self.zero), self.zero * (WORD - self.one), self.odds)
        yield Ratio(self.one, self.zero, self.odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        report = 0
        for value in range(self.size):
            report = report << 1 | draw.chance(self.one if value == code else self.zero)
        return report


class Sketch(Randomizer):
    """Apple's count mean sketch: a row of a hash table with one coordinate set, every coordinate flipped independently.

    `hcms` sends one coordinate of the row's Hadamard transform instead of all coordinates.

    Guarantee: epsilon-LDP; coordinates are flipped with probability 1 / (1 + e^(epsilon/2)), the one bit of `hcms` with
    1 / (1 + e^epsilon).
    Citation: Apple 2017, "Learning with Privacy at Scale"; Brown slides, "Count Mean Sketch".
    """

    protocols = ("cms", "hcms")
    code_kind = "anything"

    def prepare(self, *, rows: int, columns: int, size: int = 0) -> None:
        _check_sizes(1, rows, columns - 1)
        _check_sizes(0, size)
        self.size, self.rows, self.columns = size, rows, columns
        if columns & columns - 1 or rows & rows - 1:
            raise _unsound("Rows and columns of a sketch must be powers of two.")
        self.row_bits, self.column_bits = bits_for(rows), bits_for(columns)
        self.one_bit = self.spec["protocol"] == "hcms"
        self.bits = self.row_bits + (self.column_bits + 1 if self.one_bit else columns)
        self.keep = keep_threshold(self.odds if self.one_bit else self.half_odds, 1, 1)

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.keep, 1, 1, self.odds if self.one_bit else self.half_odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        row = draw.below(self.rows)
        return self.randomize_row(bucket(code, row, self.seed, self.columns), row, draw)

    def randomize_row(self, column: int, row: int, draw: Draw) -> int:
        """Draw a report about a given row: [row, column, sign] or [row, one bit per column]."""
        if self.one_bit:
            picked = draw.below(self.columns)
            minus = bool((picked & column).bit_count() % 2) == draw.chance(self.keep)
            return (row << self.column_bits | picked) << 1 | (not minus)
        report = row
        for at in range(self.columns):
            report = report << 1 | ((at == column) == draw.chance(self.keep))
        return report


class Hadamard(Randomizer):
    """Values belong to blocks; report a column of the value's block in which its row of the Hadamard matrix is +1.

    Guarantee: epsilon-LDP: every value favours half a block. One block is best for epsilon up to about 1.
    Citation: Acharya, Sun, Zhang 2019 (arXiv:1802.04705), "Hadamard response".
    """

    protocols = ("hadamard",)

    def prepare(self, *, size: int, blocks: int, columns: int) -> None:
        _check_sizes(1, size, blocks, columns - 1)
        _check_sizes(1, blocks * columns, most=_MOST_OUTPUTS)
        self.size, self.blocks, self.columns = size, blocks, columns
        if columns & columns - 1 or blocks * (columns - 1) < size:
            raise _unsound("The columns of a block must be a power of two, and the blocks must have a row per value.")
        self.half, self.outputs = columns // 2, blocks * columns
        self.bits = bits_for(self.outputs)
        self.keep = keep_threshold(self.odds, self.half, self.outputs - self.half)

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.keep, self.half, self.outputs - self.half, self.odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        block, row = code // (self.columns - 1), 1 + code % (self.columns - 1)
        if draw.chance(self.keep):
            return block * self.columns + self._column(draw.below(self.half), row, 0)
        other = draw.below(self.outputs - self.half)
        if other < self.half:
            return block * self.columns + self._column(other, row, 1)
        elsewhere = other - self.half
        return elsewhere + self.columns * (elsewhere // self.columns >= block)

    @staticmethod
    def _column(index: int, row: int, parity: int) -> int:
        """Return column number `index` of those with a given sign in a row: insert the bit that fixes the parity."""
        position = (row & -row).bit_length() - 1
        column = (index >> position << position + 1) | (index & (1 << position) - 1)
        return column | ((column & row).bit_count() % 2 ^ parity) << position


class Bloom(TwoRounds):
    """RAPPOR: a Bloom filter of the value; each bit is randomized permanently, and again for every report.

    Citation: Erlingsson, Pihur, Korolova 2014 (arXiv:1407.6981), which keeps an answer per value and not per epoch.
    """

    protocols = ("rappor",)

    def prepare(self, *, size: int, filter_bits: int, hashes: int, cohorts: int, first: str) -> None:
        _check_sizes(1, size - 1, filter_bits)
        _check_sizes(1, hashes, most=_MOST_HASHES)
        _check_sizes(1, cohorts, most=_MOST_COHORTS)
        self.size, self.filter_bits, self.hashes, self.cohorts = size, filter_bits, hashes, cohorts
        self.cohort_bits = bits_for(cohorts)
        self.bits = self.cohort_bits + filter_bits
        self.bit_odds = odds_below(self.epsilon / (2 * hashes))
        self.permanent = keep_threshold(self.bit_odds, 1, 1)
        self.first_odds = odds = first_odds(first, 2 * hashes)
        needed, kept = odds / (odds + 1), Fraction(self.permanent, WORD)
        if not Fraction(1, 2) < needed <= kept:
            raise _unsound("The epsilon of the first report must be below that of all reports.")
        self.again = math.floor(WORD * (needed - (1 - kept)) / (2 * kept - 1))

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.permanent, 1, 1, self.bit_odds)
        truthful = self.permanent * self.again + (WORD - self.permanent) * (WORD - self.again)  # of a bit, over 2**128
        yield Ratio(truthful, WORD**2 - truthful, self.first_odds)
        yield Ratio(self.again, WORD - self.again, Fraction(WORD))  # each answer can lead to each report

    def filter(self, code: int, cohort: int) -> list[bool]:
        """The filter bits of a value in a cohort."""
        marks = {bucket(code, cohort * self.hashes + i, self.seed, self.filter_bits) for i in range(self.hashes)}
        return [position in marks for position in range(self.filter_bits)]

    def answer(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        answer = cohort = draw.below(self.cohorts)
        for bit in self.filter(code, cohort):
            answer = answer << 1 | (bit == draw.chance(self.permanent))
        return answer

    def repeat(self, answer: int, draw: Draw, *, slot: int = 0) -> int:
        report = answer >> self.filter_bits
        for position in reversed(range(self.filter_bits)):
            report = report << 1 | (bool(answer >> position & 1) == draw.chance(self.again))
        return report

    def loss(self, reports: int) -> Fraction:
        bits = 2 * self.hashes  # the most bits in which two filters differ
        return min(self.epsilon, bits * repeated_loss(self.permanent, self.again, 2, reports))


class OneBit(Randomizer):
    """A number on a grid of `steps`; report one bit whose probability increases linearly with the number.

    Guarantee: epsilon-LDP; the rescaled mean of the bits is unbiased.
    Citation: Duchi, Jordan, Wainwright 2013; Ding, Kulkarni, Yekhanin 2017.
    """

    protocols = ("duchi",)
    code_kind = "grid"
    bits = 1

    def prepare(self, *, steps: int) -> None:
        _check_sizes(1, steps)
        self.steps = steps
        self.least = math.ceil(WORD / (self.odds + 1))
        self.step = (WORD - 2 * self.least) // steps
        if self.step < 1:
            raise _unsound("The grid has too many steps for this epsilon.")

    def ratios(self) -> Iterator[Ratio]:
        most = self.least + self.steps * self.step
        yield Ratio(most, self.least, self.odds)
        yield Ratio(WORD - self.least, WORD - most, self.odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        return int(draw.chance(self.least + code * self.step))


class Window(Randomizer):
    """A number on a grid of `steps`; report a position inside a window that starts at the number, or one outside it.

    Guarantee: epsilon-LDP: every window has the same number of positions.
    Citation: Wang et al. 2019 (arXiv:1907.00782, piecewise); Li et al. 2020 (arXiv:1912.01051, square wave).
    """

    protocols = ("piecewise", "square-wave")
    code_kind = "grid"

    def prepare(self, *, steps: int, width: int) -> None:
        _check_sizes(1, steps, width)
        self.steps, self.width = steps, width
        self.outputs = steps + width
        self.bits = bits_for(self.outputs)
        self.keep = keep_threshold(self.odds, width, steps)

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.keep, self.width, self.steps, self.odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        if draw.chance(self.keep):
            return code + draw.below(self.width)
        other = draw.below(self.steps)
        return other + self.width * (other >= code)


class Hybrid(Randomizer):
    """Use the window or the one bit, by a public coin flip.

    Guarantee: epsilon-LDP, since both are and the coin is independent of the number.
    Citation: Wang et al. 2019 (arXiv:1907.00782), "Collecting and analyzing multidimensional data with local DP".
    """

    protocols = ("hybrid",)
    code_kind = "grid"

    def prepare(self, *, steps: int, width: int, share: int) -> None:
        _check_sizes(0, share, most=WORD)
        self.share = share
        self.window = Window({**self.spec, "parameters": {"steps": steps, "width": width}})
        self.one_bit = OneBit({**self.spec, "parameters": {"steps": steps}})
        self.bits = 1 + self.window.bits

    def ratios(self) -> Iterator[Ratio]:
        yield from self.window.ratios()
        yield from self.one_bit.ratios()

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        if draw.chance(self.share):
            return 1 << self.window.bits | self.window.randomize(code, draw)
        return self.one_bit.randomize(code, draw)


class Prefixes(Randomizer):
    """Texts that cannot be listed: each person reports a prefix, its length given by the slot, through local hashing.

    Guarantee: epsilon-LDP: one report per person, with the whole epsilon.
    Citation: Wang, Li, Jha 2019 (arXiv:1708.06674), "Locally differentially private heavy hitter identification".
    """

    protocols = ("pem",)
    code_kind = "texts"

    def prepare(self, *, length: int, prefixes: Sequence[int], buckets: int) -> None:
        _check_sizes(1, length, len(prefixes), most=_LONGEST_TEXT)
        _check_sizes(1, *prefixes, most=8 * length)
        self.length, self.prefixes = length, tuple(prefixes)
        self.hashing = Hashing({**self.spec, "protocol": "olh", "parameters": {"buckets": buckets}})
        self.bits, self.slot_at = self.hashing.bits, self.hashing.slot_at

    def ratios(self) -> Iterator[Ratio]:
        yield from self.hashing.ratios()

    def prefix_code(self, text: bytes, bits: int) -> int:
        """Return a fingerprint of the first `bits` bits of a text padded with zeros."""
        start = int.from_bytes(text.ljust(self.length, b"\0"), "big") >> 8 * self.length - bits
        # Python may refuse to write more than 640 decimal digits, depending on the value; hexadecimal has no limit.
        return fingerprint(f"{bits}:{start}" if bits <= _MOST_DECIMAL_BITS else f"{bits}:{start:x}")

    def randomize(self, code: bytes, draw: Draw, *, slot: int = 0) -> int:
        bits = self.prefixes[slot % len(self.prefixes)]
        return self.hashing.randomize(self.prefix_code(code, bits), draw, slot=slot)


class Puzzle(Randomizer):
    """Apple's sequence fragment puzzle: a piece of the word with a hash of the whole, and the word, in two sketches.

    Guarantee: epsilon-LDP, half for each sketch.
    Citation: Apple 2017, "Learning with Privacy at Scale", sequence fragment puzzle.
    """

    protocols = ("sfp",)
    code_kind = "texts"

    def prepare(self, *, length: int, piece: int, rows: int, columns: int) -> None:
        _check_sizes(1, length, most=_LONGEST_TEXT)
        _check_sizes(1, piece, most=length)
        self.length, self.piece = length, piece
        self.pieces = length // piece
        half = {**self.spec, "protocol": "cms", "epsilon": str(self.epsilon / 2)}
        self.sketch = Sketch({**half, "parameters": {"rows": rows, "columns": columns}})
        self.position_bits = bits_for(self.pieces)
        self.bits = self.position_bits + 2 * self.sketch.bits

    def ratios(self) -> Iterator[Ratio]:
        yield from self.sketch.ratios()

    def fragment(self, text: bytes, position: int) -> str:
        """Return the piece at a position, with 8 hash bits of the whole word."""
        part = text.ljust(self.length, b"\0")[position * self.piece : (position + 1) * self.piece]
        return f"{position}:{part.hex()}:{hashlib.sha256(text).digest()[0]}"

    def randomize(self, code: bytes, draw: Draw, *, slot: int = 0) -> int:
        position = draw.below(self.pieces)
        piece = self.sketch.randomize(fingerprint(self.fragment(code, position)), draw)
        word = self.sketch.randomize(fingerprint("word:" + code.hex()), draw)
        return (position << self.sketch.bits | piece) << self.sketch.bits | word


RANDOMIZERS: dict[str, type[Randomizer]] = {
    name: kind
    for kind in (
        *(Direct, Subset, Projective, Hashing, HashingTwice, Unary, Sketch, Hadamard, Bloom),
        *(OneBit, Window, Hybrid, Prefixes, Puzzle),
    )
    for name in kind.protocols
}


# ── tasks: specifications as the collector publishes them ───────────────────────────────────────────────────────────


def _unsound(problem: str) -> ClientRefused:
    return ClientRefused("bad-task", problem, "Ask the collector for another task.")


def read_spec(task: Any) -> Mapping[str, Any]:
    """Return the specification of a task that is given as JSON text, as a mapping, or as a `discreet.local.Task`."""
    try:
        return json.loads(task) if isinstance(task, str | bytes) else task if isinstance(task, Mapping) else task.spec
    except (ValueError, AttributeError, RecursionError):
        raise _unsound("The task cannot be read.") from None


def canonical_bytes(spec: Mapping[str, Any]) -> bytes:
    """Return the specification as canonical bytes: equal for equal tasks."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def task_digest(spec: Mapping[str, Any]) -> bytes:
    """Return the 16 bytes that identify the task in every message."""
    return hashlib.sha256(canonical_bytes(spec)).digest()[:16]


SPEC_KEYS = {
    *("version", "name", "kind", "protocol", "epsilon", "domain", "parameters"),
    *("caps", "epoch_seconds", "min_batch", "memoize", "assigned", "seed"),
}
_NUMBER = re.compile(r"-?[0-9]{1,400}(?:/[0-9]{1,400}|\.[0-9]{1,400})?", re.ASCII)


def parse_number(text: Any) -> Fraction:
    """Parse a number in digits. Exponents are refused, since such numbers can exceed any memory."""
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise _unsound("A number of the task cannot be read.")
    return Fraction(text)


def check_spec(spec: Mapping[str, Any]) -> None:
    """Check that a specification has exactly its keys, valid counts, and an epsilon that protects."""
    if not isinstance(spec, Mapping) or set(spec) != SPEC_KEYS:
        raise _unsound("The task has missing or unknown keys.")
    if type(spec["version"]) is not int or spec["version"] != VERSION:
        raise _unsound("The task has another format version.")
    if type(spec["name"]) is not str or not 0 < len(spec["name"]) <= LONGEST_NAME:
        raise _unsound(f"The name of a task must have 1 to {LONGEST_NAME} characters.")
    caps = spec["caps"]
    if not isinstance(caps, Mapping) or set(caps) != {"per_epoch", "lifetime"}:
        raise _unsound("A task must have a cap per epoch and a lifetime cap.")
    counts = [(1, caps["per_epoch"]), (1, caps["lifetime"]), (1, spec["min_batch"]), (0, spec["epoch_seconds"])]
    if any(type(count) is not int or not least <= count <= _MOST_COUNTED for least, count in counts):
        raise _unsound(f"The caps of a task must be whole numbers, at most {_MOST_COUNTED:,}.")
    if type(spec["memoize"]) is not bool or type(spec["assigned"]) is not bool:
        raise _unsound("`memoize` and `assigned` must be true or false.")
    if type(spec["seed"]) is not int or not 0 <= spec["seed"] < WORD:
        raise _unsound("The seed of a task must be a whole number of 64 bits.")
    if not LEAST_EPSILON <= parse_number(spec["epsilon"]) <= _MOST_EPSILON:
        raise _unsound(f"A task needs an epsilon of at least 1/{1 / LEAST_EPSILON} and at most {_MOST_EPSILON}.")


def check_parameters(kind: type[Randomizer], parameters: Mapping[str, Any]) -> None:
    """Check that a task has no unknown parameters: unused parameters would mislead its readers."""
    known = set(inspect.signature(kind.prepare).parameters) - {"self"}
    if unknown := set(parameters) - known:  # Python reports missing ones at the call
        raise _unsound(f"The protocol has no parameter {min(unknown)!r}.")


def build_randomizer(spec: Mapping[str, Any]) -> Randomizer:
    """Return the randomizer of a specification, or refuse the specification."""
    try:
        check_spec(spec)
        canonical_bytes(spec)  # refuses what cannot be hashed
        kind = RANDOMIZERS[spec["protocol"]]
        check_parameters(kind, spec["parameters"])
        randomizer = kind(spec)
        check_promise(randomizer)
        check_domain(spec["domain"])
        check_fit(randomizer, spec["domain"])
    except ClientRefused:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        raise _unsound("The task cannot be read.") from None
    return randomizer


def check_domain(domain: Mapping[str, Any]) -> None:
    """Check that the domain is a list of distinct values, a range, bounds, texts of a length, or open."""
    if set(domain) not in ({"values"}, {"range"}, {"open"}, {"lower", "upper"}, {"length"}):
        raise _unsound("The domain cannot be read.")
    values = domain.get("values", ("", 0))
    _check_sizes(2, domain.get("range", len(values)))
    _check_sizes(1, domain.get("length", 1))
    if (
        not isinstance(values, list | tuple)
        or any(type(value) not in (str, int) for value in values)
        or len(set(map(str, values))) < len(values)
    ):
        raise _unsound("The values of a task must be distinct texts or integers.")
    if "lower" in domain and not parse_number(domain["lower"]) < parse_number(domain["upper"]):
        raise _unsound("The lower bound of a task must be below its upper bound.")


def check_fit(randomizer: Randomizer, domain: Mapping[str, Any]) -> None:
    """Check that the randomizer has exactly the values of the domain: otherwise some reports would reveal a value."""
    numbers = domain["range"] if "range" in domain else len(domain.get("values", ()))
    fits = {
        "numbers": numbers == randomizer.size,
        "grid": "lower" in domain,
        "texts": domain.get("length") == randomizer.length,
        "anything": "lower" not in domain and "length" not in domain and randomizer.size in (0, numbers),
    }
    if not fits[randomizer.code_kind]:
        raise _unsound("The protocol does not fit the domain.")


def epoch_loss(randomizer: Randomizer, reports: int) -> Fraction:
    """The joint loss of `reports` reports of one epoch. With `memoize`, repeated reports cost nothing more."""
    return randomizer.loss(min(reports, 1) if randomizer.spec["memoize"] else reports)


def lifetime_loss(randomizer: Randomizer, *, lifetime: int, per_epoch: int) -> Fraction:
    """The most that a device loses, for any two histories of values, with all reports that a task allows."""
    most = min(lifetime, per_epoch)
    if not randomizer.spec["epoch_seconds"]:  # a single epoch that never ends
        return epoch_loss(randomizer, most)
    return lifetime * (randomizer.loss(1) if randomizer.spec["memoize"] else randomizer.max_loss_per_report(most))


def build_coder(spec: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return the function from values to codes: a number, a fingerprint, a position on the grid, or bytes."""
    domain = spec["domain"]
    if "lower" in domain:
        return _grid_coder(domain, int(spec["parameters"]["steps"]))
    if "length" in domain:
        return _text_coder(int(domain["length"]))
    if "open" in domain:
        return _open_coder
    values: Sequence[Any] = range(domain["range"]) if "range" in domain else domain["values"]
    known = None if "range" in domain else {value: code for code, value in enumerate(values)}

    def code_of(value: Any) -> int:
        given = plain(value)
        if known is not None:
            code = known.get(given)
        else:  # searching a text in a range would take time proportional to the range
            code = given if isinstance(given, int) and 0 <= given < len(values) else None
        if code is None:
            raise _outside("This is not one of the task's values.")
        return fingerprint(values[code]) if spec["protocol"] in Sketch.protocols else code

    return code_of


def _outside(problem: str) -> ClientRefused:
    return ClientRefused("out-of-domain", problem, "Report one of its values.")


def plain(value: Any) -> str | int | None:
    """Return the value as a plain text or whole number of bounded length; None for anything else.

    Errors of unusual objects are suppressed, so neither the errors nor the time of a coder depend on them.
    """
    try:
        given = str.__str__(value) if isinstance(value, str) else operator.index(value)
    except Exception:  # noqa: BLE001  unusual objects may raise anything
        return None
    if isinstance(value, bool) or (
        len(given) > _LONGEST_TEXT if isinstance(given, str) else given.bit_length() > _LONGEST_NUMBER
    ):
        return None
    return given


def _open_coder(value: Any) -> int:
    given = str(value) if type(value) is float else plain(value)
    if given is None:
        raise _outside("The value is not a text or whole number, or it is too long.")
    return fingerprint(given)


def _grid_coder(domain: Mapping[str, str], steps: int) -> Callable[[Any], int]:
    lower, upper = parse_number(domain["lower"]), parse_number(domain["upper"])

    def code_of(value: Any) -> int:
        try:
            inside = Fraction(min(max(_short_number(value), lower), upper))
        except Exception:  # noqa: BLE001  unusual objects may raise anything
            raise _outside("The value is not a number.") from None
        return math.floor((inside - lower) / (upper - lower) * steps + Fraction(1, 2))

    return code_of


def _short_number(value: Any) -> Fraction | float:
    """Return a number with few digits. A longer one becomes the nearest double, or infinite."""
    if isinstance(value, bool | str | bytes | bytearray):
        raise TypeError
    if isinstance(value, Decimal):
        short = value.is_finite() and -_LONGEST_NUMBER < value.adjusted() < _LONGEST_NUMBER
        return Fraction(value) if short and len(value.as_tuple().digits) < _LONGEST_NUMBER else float(value)
    if isinstance(value, Rational) or hasattr(value, "__index__"):
        parts = (value.numerator, value.denominator) if isinstance(value, Rational) else (value, 1)
        top, bottom = map(operator.index, parts)
        if max(top.bit_length(), bottom.bit_length()) <= _LONGEST_NUMBER:
            return Fraction(top, bottom)
        beyond = top.bit_length() - bottom.bit_length()
        return top / bottom if beyond < 1000 else math.inf if top > 0 else -math.inf
    return float(value)


def _text_coder(length: int) -> Callable[[Any], bytes]:
    def code_of(value: Any) -> bytes:
        given = plain(value)
        text = b"" if given is None else str(given).encode(errors="replace")
        if not 0 < len(text) <= length or b"\0" in text:
            raise _outside(f"The text is empty or longer than {length} bytes.")
        return text

    return code_of


def substitute_value(spec: Mapping[str, Any], draw: Draw) -> Any:
    """Draw a value of the task, independent of the person's. It is reported for values outside the domain.

    Its report is a mixture of reports about the task's values, so it differs from each of them by at most epsilon.
    """
    domain = spec["domain"]
    if "lower" in domain:
        steps = int(spec["parameters"]["steps"])
        lower, upper = parse_number(domain["lower"]), parse_number(domain["upper"])
        return lower + (upper - lower) * draw.below(steps + 1) / steps
    if "length" in domain:
        letters = hashlib.shake_256(draw.word().to_bytes(8, "big")).digest(int(domain["length"]))
        return "".join(chr(1 + letter % 127) for letter in letters)
    if "open" in domain:
        return ""
    values: Sequence[Any] = range(domain["range"]) if "range" in domain else domain["values"]
    return values[draw.below(len(values))]


# ── messages ────────────────────────────────────────────────────────────────────────────────────────────────────────


def build_message(digest: bytes, sender: bytes, payload: bytes, *, count: int, message_id: bytes) -> bytes:
    """Build a message: version, task, message id, sender, number of reports, payload, checksum."""
    body = bytes([VERSION]) + digest + message_id + sender + count.to_bytes(4, "big") + payload
    return body + zlib.crc32(body).to_bytes(4, "big")


def pack(report: int, bits: int) -> bytes:
    """Pack one report into bytes, its bits from the left, padded with zeros."""
    return (report << -bits % 8).to_bytes(-(-bits // 8), "big")


# ── the device's store: locked during changes, on disk before a message is returned ─────────────────────────────────


class Store:
    """What a device stores, here in memory: losses, permanent answers and messages to be sent.

    To store it elsewhere, override `transaction` so that only one client at a time reads, changes and writes the state.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: dict[str, Any] = {"version": _STORE_VERSION, "tasks": {}}

    def read(self) -> dict[str, Any]:
        """Return the current state."""
        return self._state

    def write(self, state: Mapping[str, Any]) -> None:
        """Write the state, inside a transaction."""
        self._state = copy.deepcopy(dict(state))

    @contextmanager
    def transaction(self) -> Iterator[dict[str, Any]]:
        """Yield the state to one client at a time, and write the changes unless there is an exception."""
        with self._lock:
            state = copy.deepcopy(self._state)
            yield state
            self.write(state)


class FileStore(Store):
    """A store in a file that several processes may share: each reads, checks and writes it under a lock.

    The lock is on a separate file, because each write replaces the store: a reader sees the old or the new state.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self._path = Path(path).resolve()  # the same store for every spelling and working directory
        if not self._path.exists():
            with self._locked():
                if not self._path.exists():
                    self.write(self._state)
        self.read()

    @contextmanager
    def transaction(self) -> Iterator[dict[str, Any]]:
        with self._locked():
            state = self.read()
            yield state
            self.write(state)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with _open_private(self._path, ".lock", "a") as lock, _exclusive(lock):
                yield
        except OSError:
            raise ClientRefused(
                "bad-store",
                "This device cannot write its store, so it does not report.",
                "Check that the disk is not full and the folder is writable, and report again.",
            ) from None

    def read(self) -> dict[str, Any]:
        try:
            with self._path.open(encoding="utf-8") as file:
                # Under a second name an old state could survive. Zero links: the file was replaced after it was opened.
                is_one = os.fstat(file.fileno()).st_nlink <= 1
                state: dict[str, Any] = json.load(file)
            if is_one and state["version"] == _STORE_VERSION:
                return state
        except FileNotFoundError:
            raise ClientRefused(
                "bad-store",
                "The store of this device is gone, and with it the count of its losses.",
                "Restore the file. A running client does not create a new one.",
            ) from None
        except (ValueError, KeyError, TypeError):
            pass
        raise ClientRefused(
            "bad-store",
            "This file is not a store of this client, or has a second name (a hard link), so its losses are unknown.",
            "Restore the store from a backup, under one name.",
        )

    def write(self, state: Mapping[str, Any]) -> None:
        with _open_private(self._path, ".new", "w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        self._path.with_name(self._path.name + ".new").replace(self._path)
        if sys.platform != "win32":
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # the rename must be on disk, too
            finally:
                os.close(folder)


def _open_private(path: Path, suffix: str, mode: str) -> IO[str]:
    """Open a file beside the store that only its owner can read."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return open(path.with_name(path.name + suffix), mode, encoding="utf-8", opener=opener)


@contextmanager
def _exclusive(lock: IO[str]) -> Iterator[None]:
    """Hold an exclusive lock; the operating system releases it if the process dies."""
    if sys.platform == "win32":
        lock.seek(0)
        msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ── the device ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Client:
    """One person's device and one task: it randomizes, counts losses, and stores messages that are not yet sent.

    `store` is a file that outlives the process and is shared by all tasks of the device; without one, caps hold as
    long as the object lives. `budget` is the most epsilon that the device's owner gives away to all tasks of the store
    together; no task can raise it. `slot` is the ticket issued by the collector, for tasks that assign numbers;
    otherwise the device draws a number for every report, or for every epoch if it keeps a permanent answer.
    """

    def __init__(
        self,
        task: Any,
        *,
        store: str | os.PathLike[str] | Store | None = None,
        budget: float | str | Fraction = BUDGET,
        slot: str | None = None,
        clock: Callable[[], float] = time.time,
        draw: Draw | None = None,
    ) -> None:
        self.spec = read_spec(task)
        self.randomizer = build_randomizer(self.spec)
        self.digest = task_digest(self.spec)
        self.budget = parse_budget(budget)
        self._code_of = build_coder(self.spec)
        self._store = store if isinstance(store, Store) else FileStore(store) if store is not None else Store()
        self._clock, self._draw = clock, draw or Draw()
        self._ticket = parse_ticket(slot) if self.spec["assigned"] and self.randomizer.slot_at is not None else None

    @property
    def reports(self) -> int:
        """The number of reports this device has made for this task, sent or not."""
        return int(self._account()["reports"])

    @property
    def spent(self) -> float:
        """An upper bound on the joint loss of all reports for this task so far, for any values."""
        return _float_above(Fraction(self._account()["spent"]))

    @property
    def lifetime_spent(self) -> float:
        """The same for all tasks of this device."""
        return _float_above(_spent_in_all(self._store.read()))

    def covers(self, value: Any) -> bool:
        """Whether the value is one of the task's. This is for the device's owner; messages do not reveal it."""
        try:
            self._code_of(value)
        except ClientRefused:
            return False
        return True

    def explain(self) -> str:
        """Describe what the task asks and what the device will give away, to be read before the first report."""
        caps, one = self.spec["caps"], format_loss(self.randomizer.loss(1))
        together = format_loss(lifetime_loss(self.randomizer, **caps))
        made = f"{self.reports:,} made, ε {format_loss(self.spent)} given away"
        return (
            f"{shown(self.spec['name'])}: a report costs ε {one} at most\n"
            f"for this task at most {caps['lifetime']:,} reports, ε {together} together whatever the values; {made}\n"
            f"this device gives away at most ε {format_loss(self.budget)} in all, for all its tasks; "
            f"ε {format_loss(self.lifetime_spent)} is gone"
        )

    def report(self, value: Any) -> bytes:
        """Return a message, which is counted and stored before it is returned.

        For a value outside the domain, a random value of the domain is reported: no report would reveal it. A message
        is counted when it is made, sent or not; sending it again costs nothing. `acknowledge` deletes it.
        """
        given = substitute_value(self.spec, self._draw)
        code = self._code_of(value if self.covers(value) else given)
        number = int(self._clock() // self.spec["epoch_seconds"]) if self.spec["epoch_seconds"] else 0
        with self._store.transaction() as state:
            account = _account_in(state, self.digest)
            epoch = _epoch_in(account, number)
            self._count(state, account, epoch)
            self._store.write(state)  # charge first: a crash after the draw must not be free
            try:
                report = self._randomized(epoch, code)
            except Exception:  # noqa: BLE001  no report would reveal the value
                report = self._randomized(epoch, self._code_of(given))
            payload = pack(report, self.randomizer.bits)
            sender = self._ticket[1] if self._ticket is not None else bytes.fromhex(epoch["sender"])
            message = build_message(self.digest, sender, payload, count=1, message_id=secrets.token_bytes(16))
            account["pending"].append(message.hex())
        return message

    def pending(self) -> list[bytes]:
        """Return the messages of this task that are not acknowledged yet, the oldest first."""
        return [bytes.fromhex(message) for message in self._account()["pending"]]

    def acknowledge(self, message: bytes) -> None:
        """Delete a message that the collector has received or will never accept. It stays counted."""
        with self._store.transaction() as state:
            account = _account_in(state, self.digest)
            account["pending"] = [kept for kept in account["pending"] if kept != message.hex()]

    def send(self, deliver: Callable[[bytes], bool]) -> int:
        """Pass each waiting message to `deliver`, unchanged, and return how many still wait.

        `deliver` returns True if the collector has the message; if it returns False or raises, the message stays.
        """
        for message in self.pending():
            if deliver(message):
                self.acknowledge(message)
        return len(self.pending())

    def _account(self) -> dict[str, Any]:
        return _account_in(self._store.read(), self.digest)

    def _count(self, state: Mapping[str, Any], account: dict[str, Any], epoch: dict[str, Any]) -> None:
        caps = self.spec["caps"]
        if account["reports"] >= caps["lifetime"]:
            raise ClientRefused(
                "cap-reached", "This device has reached the task's lifetime cap.", "Use another device."
            )
        if epoch["reports"] >= caps["per_epoch"]:
            raise ClientRefused(
                "cap-reached", "This device has reached the task's cap for one epoch.", "Wait for the next epoch."
            )
        before = epoch["of_answer"] if epoch["answer"] is not None else 0  # a lost answer is charged again
        cost = epoch_loss(self.randomizer, before + 1) - epoch_loss(self.randomizer, before)
        if _spent_in_all(state) + cost > self.budget:
            raise ClientRefused(
                "budget-spent",
                f"This device gives away at most ε {format_loss(self.budget)} in all, and this report would exceed it.",
                "Use another device. Only the device's owner may raise its budget.",
            )
        account.update(reports=account["reports"] + 1, spent=str(Fraction(account["spent"]) + cost))
        epoch.update(reports=epoch["reports"] + 1, of_answer=before + 1)

    def _randomized(self, epoch: dict[str, Any], code: Any) -> int:
        """Draw a fresh report, or one from the permanent answer of this epoch, if the task uses one."""
        two_rounds = self.randomizer if isinstance(self.randomizer, TwoRounds) and not self.spec["memoize"] else None
        if two_rounds is None and not self.spec["memoize"]:
            return self.randomizer.randomize(code, self._draw, slot=self._slot())
        if epoch["answer"] is None:
            slot = self._slot()
            drawn = two_rounds.answer if two_rounds else self.randomizer.randomize
            epoch.update(slot=slot, answer=f"{drawn(code, self._draw, slot=slot):x}")
        answer = int(epoch["answer"], 16)
        return two_rounds.repeat(answer, self._draw, slot=epoch["slot"]) if two_rounds else answer

    def _slot(self) -> int:
        """Return the assigned number, or draw one, which links no other report or epoch."""
        return self._ticket[0] if self._ticket is not None else secrets.randbelow(1 << 32)


def _account_in(state: dict[str, Any], digest: bytes) -> dict[str, Any]:
    """Return the state of a task: reports, epsilon, last epochs, the first one not deleted, pending messages."""
    fresh = {"reports": 0, "spent": "0", "epochs": {}, "first_epoch": 0, "pending": []}
    account: dict[str, Any] = state["tasks"].setdefault(digest.hex(), fresh)
    return account


def _epoch_in(account: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the state of an epoch: reports, pseudonym, permanent answer with its slot, and its number of reports.

    Each of the last epochs has its own count, in any order of the clock, so a clock that was wrong once does not stop
    the device. Epochs before the oldest stored one are over.
    """
    epochs: dict[str, dict[str, Any]] = account["epochs"]
    if number < account["first_epoch"]:
        raise ClientRefused("cap-reached", "This epoch is over for this device.", "Check the clock of the device.")
    fresh = {"reports": 0, "sender": secrets.token_hex(16), "slot": 0, "answer": None, "of_answer": 0}
    epoch = epochs.setdefault(str(number), fresh)
    while len(epochs) > _EPOCHS_KEPT:
        oldest = min(map(int, epochs))
        del epochs[str(oldest)]
        account["first_epoch"] = oldest + 1
    return epoch


def parse_ticket(given: object) -> tuple[int, bytes]:
    """Parse a ticket: the number assigned to this device, and its mark, which is the sender of its messages."""
    if not isinstance(given, str) or not re.fullmatch("[0-9a-f]{40}", given):
        raise ClientRefused(
            "bad-slot",
            "Devices of this task need a ticket from the collector.",
            "Request one (POST /v1/tasks/ID/slots, or collector.assign()), and give it as slot.",
        )
    return int(given[:8], 16), bytes.fromhex(given[8:])


def parse_budget(given: float | str | Fraction) -> Fraction:
    """Parse the budget of a device."""
    try:
        return parse_number(given) if isinstance(given, str) else Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        raise ClientRefused("bad-budget", "The budget of a device must be a number.", "Give one, such as 5.") from None


def shown(text: str) -> str:
    """Return a text that is safe to print: characters that move the cursor, hide or reorder letters are escaped."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def format_loss(loss: Fraction | float) -> str:
    """Format a loss with six digits, rounded up, so that a device never understates it."""
    exact = Fraction(loss)
    with localcontext(prec=6, rounding=ROUND_CEILING):
        return f"{float(Decimal(exact.numerator) / Decimal(exact.denominator)):g}"


def _spent_in_all(state: Mapping[str, Any]) -> Fraction:
    return sum((Fraction(account["spent"]) for account in state["tasks"].values()), Fraction(0))


def _float_above(number: Fraction) -> float:
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)
