"""What runs on a person's device: randomize an answer before it leaves. The standard library only, in one file.

Copy this file onto a device as it is. It reads a task's specification, works out every probability by itself from the
epsilon that the specification promises (so that a dishonest collector cannot weaken it), draws from the operating
system's secure randomness, counts what it has given away to all tasks together, and keeps the bytes that leave the
device until they are acknowledged.

Every probability is a whole number of 2**-64, rounded so that no two answers of the device differ by more than a
factor e**epsilon, whatever the truth. Nothing is computed in floating point between the truth and the report.
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
"""What a device gives away in its life, to all tasks together, unless its owner says another epsilon."""
LEAST_EPSILON = Fraction(1, 1 << 20)
"""Of a task, and of a single report of one: with less, rounding to 2**-64 would be seen."""
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
"""Of a report: what a device works for one is bounded, whatever the task asks."""
_MOST_COUNTED = (1 << 32) - 1
_LARGEST_FIELD = 1 << 12
_LONGEST_POWER = 1 << 12
_HIDES_NOTHING = 10**80
_MOST_TRIED = 256
HEADER = 1 + 16 + 16 + 16 + 4
"""Bytes before the payload: version, task, message, sender, number of reports. Four bytes of checksum follow it."""


class ClientRefused(ValueError):
    """The device will not report: a cap is reached, the task is not sound, or its store cannot be written."""

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
        """0, 1, ..., bound - 1, each equally likely: as many words as the bound needs, drawn again with chance < 1/2."""
        words = -(-(bound - 1).bit_length() // 64) or 1
        whole_rounds = WORD**words - WORD**words % bound
        while (drawn := sum(self.word() << 64 * position for position in reversed(range(words)))) >= whole_rounds:
            pass
        return drawn % bound


# ── probabilities ───────────────────────────────────────────────────────────────────────────────────────────────────


def odds_below(epsilon: Fraction) -> Fraction:
    """A rational just below e**epsilon: 45 digits of it."""
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()  # correctly rounded, to 60 digits
    return Fraction(power) * (1 - Fraction(1, 10**45))


def log_above(number: Fraction) -> Fraction:
    """The natural logarithm of a number of at least 1, rounded up to 18 digits after the point."""
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(number.numerator) / Decimal(number.denominator)).ln()  # correctly rounded, to 60 digits
    return Fraction(math.ceil((Fraction(power) + Fraction(1, 10**50)) * 10**18), 10**18)


@lru_cache(maxsize=1 << 10)
def repeated_loss(keep: int, again: int, outputs: int, reports: int) -> Fraction:
    """What `reports` reports that repeat one permanent answer out of `outputs` cost together, exactly but for rounding.

    The answer is the truth with probability keep / 2**64 and a report is the answer with again / 2**64, else any other.
    The worst reports all name one truth and none names the other (docs/explanation/proofs/local.md, "Two rounds").
    """
    others = outputs - 1
    first_odds = Fraction(keep * others, WORD - keep)
    if reports == 0:
        return Fraction(0)
    if again == WORD or reports > _LONGEST_POWER:  # nothing is hidden but by the permanent answer
        return log_above(first_odds)
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(again * others) / Decimal(WORD - again)) ** reports  # off by less than a part in 10**54
    if power > _HIDES_NOTHING:
        return log_above(first_odds)
    together = Fraction(power) * (1 + Fraction(1, 10**50))  # rounded up, as the loss grows with it
    return log_above((first_odds * together + others) / (together + first_odds + others - 1))


def keep_threshold(odds: Fraction, inside: int, outside: int) -> int:
    """The chance of landing inside when each of `inside` outputs is `odds` times as likely as each of `outside`.

    Rounded down, so that the ratio of the two likelihoods is never above the odds.
    """
    return math.floor(WORD * odds * inside / (odds * inside + outside))


def first_odds(first: Any, parts: int = 1) -> Fraction:
    """The odds of each of so many parts of a single report, whose epsilon is `first`."""
    epsilon = parse_number(first)
    if epsilon < LEAST_EPSILON:
        raise _unsound("The epsilon of the first report is too small.")
    return odds_below(epsilon / parts)


def bits_for(size: int) -> int:
    """How many bits tell `size` things apart."""
    return max(1, (size - 1).bit_length())


def _check_sizes(least: int, *sizes: int, most: int = _MOST_SIZE) -> None:
    if any(type(size) is not int or not least <= size <= most for size in sizes):
        raise _unsound("A size of the task is not a whole number, too small or too large.")


# ── hashing: public, the same on every device and at the collector ──────────────────────────────────────────────────


def fingerprint(value: object) -> int:
    """64 bits of SHA-256 of the value as text: what sketches hash further."""
    return int.from_bytes(hashlib.sha256(str(value).encode(errors="replace")).digest()[:8], "big")


def mix_bits(word: int) -> int:
    """A bijection of 64-bit words that looks random (splitmix64); public, so it need not be secret."""
    word = (word + 0x9E3779B97F4A7C15) % WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


def hash_code(code: int, row: int, seed: int) -> int:
    """32 bits, uniform and pairwise independent over the rows: multiply, add, take the upper half."""
    low, high, shift = (mix_bits((seed + 3 * row + i) % WORD) for i in range(3))
    return (low * (code & 0xFFFFFFFF) + high * (code >> 32) + shift) % WORD >> 32


def bucket(code: int, row: int, seed: int, size: int) -> int:
    """Which of `size` buckets a code falls into under hash function number `row`."""
    return hash_code(code, row, seed) * size >> 32


# ── randomizers: from a code to a report, an integer of `bits` bits ─────────────────────────────────────────────────


class Ratio(NamedTuple):
    """Two likelihoods of one report, over one denominator, and by which factor they may differ."""

    larger: int
    smaller: int
    odds: Fraction


def two_level_ratio(keep: int, inside: int, outside: int, odds: Fraction) -> Ratio:
    """Of an output inside, where `keep` / 2**64 is spread over them, and of one outside."""
    return Ratio(keep * outside, (WORD - keep) * inside, odds)


def check_promise(randomizer: Randomizer) -> None:
    """Every report has a positive chance whatever the value, and no two chances of it differ by more than is promised.

    That also holds every threshold strictly between 0 and 2**64, and on the right side of the others.
    """
    if not all(0 < smaller <= larger <= odds * smaller for larger, smaller, odds in randomizer.ratios()):
        raise _unsound("The epsilon is too small for so many outputs in 64 bits.")
    _check_sizes(1, randomizer.bits, most=MOST_BITS)


class Randomizer:
    """One protocol with its parameters. Thresholds are over 2**64; the collector's estimators use the same ones."""

    protocols: ClassVar[tuple[str, ...]] = ()
    code_kind: ClassVar[str] = "numbers"
    """What a code is: the number of a value, a place on a grid, a text, or anything, where it is only hashed."""
    bits: int
    size: int = 0
    """How many values it covers; 0 where there may be any."""
    length: int = 0
    """How many bytes the longest text has; 0 where it takes no texts."""
    slot_at: int | None = None
    """Above how many bits of a report the device's slot stands; None where a report carries none."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec = spec
        self.parameters: Mapping[str, Any] = spec["parameters"]
        self.epsilon = Fraction(spec["epsilon"])
        self.odds = odds_below(self.epsilon)
        self.half_odds = odds_below(self.epsilon / 2)
        self.seed = int(spec["seed"])
        self.prepare(**self.parameters)

    prepare: Callable[..., None]
    """Works out bits and thresholds from the parameters."""

    def randomize(self, code: Any, draw: Draw, *, slot: int = 0) -> int:
        """A report about `code`. `slot` is a public number of this device."""
        raise NotImplementedError

    @abstractmethod
    def ratios(self) -> Iterator[Ratio]:
        """The likelihoods that differ most by the value, as the device's own thresholds make them."""

    def loss(self, reports: int) -> Fraction:
        """What so many reports of one epoch cost together, whatever the values were: fresh ones add up."""
        return self.epsilon * reports

    def max_loss_per_report(self, most: int) -> Fraction:
        """What a report costs where an epoch's reports, `most` of them or fewer, are dearest."""
        return self.loss(1)


class TwoRounds(Randomizer):
    """Keep a permanent answer for an epoch, whatever the value does meanwhile, and randomize it for every report.

    Guarantee: epsilon for all reports of one epoch together and `first` for a single one; `loss` for any number.
    """

    @abstractmethod
    def answer(self, code: Any, draw: Draw, *, slot: int = 0) -> int:
        """The permanent answer, which the device keeps."""

    @abstractmethod
    def repeat(self, answer: int, draw: Draw, *, slot: int = 0) -> int:
        """A report of it."""

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
    """Tell the truth with probability e^epsilon / (e^epsilon + size - 1), else another value, each as likely.

    Guarantee: epsilon-LDP. With two values this is Warner's; `coin` is the lectures' two coin flips, epsilon = ln 3.
    Citation: Warner 1965; Kairouz, Bonawitz, Ramage 2016; Chicago slides, "Randomized Response is Locally-DP".
    """

    protocols = ("coin", "warner", "grr")

    def prepare(self, *, size: int) -> None:
        _check_sizes(2, size)
        self.size, self.bits = size, bits_for(size)
        self.keep = keep_threshold(self.odds, 1, size - 1)
        if self.spec["protocol"] == "coin":
            if size != 2 or self.odds < 3:  # the odds are just below e**epsilon: what passes is above ln 3
                raise _unsound("Coin flips are for two values and cost epsilon ln 3, rounded up.")
            self.keep = 3 * WORD // 4

    def ratios(self) -> Iterator[Ratio]:
        yield two_level_ratio(self.keep, 1, self.size - 1, self.odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        if draw.chance(self.keep):
            return code
        other = draw.below(self.size - 1)
        return other + (other >= code)


class Subset(Randomizer):
    """Report a set of `width` values out of `size`, the true one in it more often than not.

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
        for last in range(self.size - 1 - count, self.size - 1):  # Floyd: a uniform set of `count` of the others
            other = draw.below(last + 1)
            others.add(last if other in others else other)
        chosen |= {other + (other >= code) for other in others}
        return sum(1 << self.size - 1 - value for value in chosen)


class Field:
    """The finite field of `order` elements, a prime power: logarithms to a generator, and addition digit by digit."""

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
                top, rest = divmod(powers[-1], self.order // self.prime)  # what goes beyond the degree comes back
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
    """Values are points of a projective space over a finite field; report a point that is orthogonal to one's own.

    Points of the space of `dimension` coordinates are numbered: 0 is (1, 0, ..., 0); 1 + q (order - 1) + b is
    (1, g^b Q) with Q the point number q of the space one dimension below; order^(dimension - 1) + q is (0, Q).
    Values take the numbers below order^(dimension - 1).

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
        if draw.chance(self.keep):  # (y0, P) with y0 = -<x', P>, for any point P one dimension below
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
    """Hash the value into few buckets by a function that the collector chose, then report the bucket as `Direct` does.

    Guarantee: epsilon-LDP for any hash function, as it is chosen without looking at the value.
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
        """The truth, or another bucket."""
        if draw.chance(keep):
            return truth
        other = draw.below(self.buckets - 1)
        return other + (other >= truth)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        return slot << self.value_bits | self.respond(bucket(code, slot, self.seed, self.buckets), self.keep, draw)


class HashingTwice(TwoRounds, Hashing):
    """LOLOHA: a permanent answer about the bucket, randomized again for every report.

    Citation: Arcolezi et al. 2023 (arXiv:2210.00262, LOLOHA), where the memory is the bucket's and not the epoch's.
    """

    protocols = ("loloha",)

    def prepare(self, *, buckets: int, size: int = 0, first: str) -> None:  # type: ignore[override]  # read by name
        super().prepare(buckets=buckets, size=size)
        self.first_odds = first_odds(first)
        self.keep_again = self._again(self.first_odds)

    def ratios(self) -> Iterator[Ratio]:
        yield from super().ratios()
        others, again = self.buckets - 1, self.keep_again
        # Of a report, over 2**128 (buckets - 1).
        truthful = self.keep * again * others + (WORD - self.keep) * (WORD - again)
        yield Ratio(truthful * others, WORD**2 * others - truthful, self.first_odds)
        yield two_level_ratio(again, 1, others, Fraction(WORD * others))  # each answer can lead to each report

    def _again(self, odds: Fraction) -> int:
        """How often to repeat the permanent answer, so that one report alone has the given odds."""
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
    """One bit a value, the true one's set; every bit is flipped by its own coin.

    Guarantee: epsilon-LDP. `sue` flips both kinds of bit alike (basic RAPPOR); `oue` spends all on keeping zeros zero.
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
    """Apple's count mean sketch: a row of a hash table, one coordinate of it set, every coordinate flipped by a coin.

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
            raise _unsound("Rows and columns of a sketch are powers of two.")
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
        """A report from a given row: [row, column, sign] or [row, a bit for each column]."""
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

    Guarantee: epsilon-LDP: every value prefers half a block. One block is best for epsilon up to about 1.
    Citation: Acharya, Sun, Zhang 2019 (arXiv:1802.04705), "Hadamard response".
    """

    protocols = ("hadamard",)

    def prepare(self, *, size: int, blocks: int, columns: int) -> None:
        _check_sizes(1, size, blocks, columns - 1)
        _check_sizes(1, blocks * columns, most=_MOST_OUTPUTS)
        self.size, self.blocks, self.columns = size, blocks, columns
        if columns & columns - 1 or blocks * (columns - 1) < size:
            raise _unsound("A block has a power of two of columns, and one row fewer for values.")
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
        """The columns of a given sign in a row, numbered: put in the bit that makes the parity right."""
        position = (row & -row).bit_length() - 1
        column = (index >> position << position + 1) | (index & (1 << position) - 1)
        return column | ((column & row).bit_count() % 2 ^ parity) << position


class Bloom(TwoRounds):
    """RAPPOR: a Bloom filter of the value, a permanent lie about each of its bits, and a fresh lie about that.

    Citation: Erlingsson, Pihur, Korolova 2014 (arXiv:1407.6981), where the memory is the value's and not the epoch's.
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
        """The value's bits in a cohort."""
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
        bits = 2 * self.hashes  # in which two filters differ, at most
        return min(self.epsilon, bits * repeated_loss(self.permanent, self.again, 2, reports))


class OneBit(Randomizer):
    """A number on a grid of `steps`; report one bit whose chance grows evenly with the number.

    Guarantee: epsilon-LDP; the mean of the bits, put back on scale, is unbiased.
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
            raise _unsound("The grid is too fine for so small an epsilon.")

    def ratios(self) -> Iterator[Ratio]:
        most = self.least + self.steps * self.step
        yield Ratio(most, self.least, self.odds)
        yield Ratio(WORD - self.least, WORD - most, self.odds)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0) -> int:
        return int(draw.chance(self.least + code * self.step))


class Window(Randomizer):
    """A number on a grid of `steps`; report a place inside a window that starts at the number, or one outside of it.

    Guarantee: epsilon-LDP: every window has the same number of places.
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
    """By a public coin, either the window or the one bit.

    Guarantee: epsilon-LDP, as both are and the coin does not look at the number.
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
    """Strings too many to list: everyone reports a prefix, its length given by the slot, through local hashing.

    Guarantee: epsilon-LDP: one report a person, with all of epsilon.
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
        """A fingerprint of the first `bits` bits of a text that is padded with zeros."""
        start = int.from_bytes(text.ljust(self.length, b"\0"), "big") >> 8 * self.length - bits
        # Python may refuse to write a number in 640 decimal digits or more, by the value; any in hexadecimal ones.
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
        """The piece at a place, with 8 bits that tell which word it belongs to."""
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


# ── tasks: what is asked, as the collector published it ─────────────────────────────────────────────────────────────


def _unsound(problem: str) -> ClientRefused:
    return ClientRefused("bad-task", problem, "Ask the collector for another task.")


def read_spec(task: Any) -> Mapping[str, Any]:
    """The specification of a task that is given as JSON, as what JSON stands for, or as a `discreet.local.Task`."""
    try:
        return json.loads(task) if isinstance(task, str | bytes) else task if isinstance(task, Mapping) else task.spec
    except (ValueError, AttributeError, RecursionError):
        raise _unsound("The task cannot be read.") from None


def canonical_bytes(spec: Mapping[str, Any]) -> bytes:
    """The specification as bytes: the same for the same task, everywhere."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def task_digest(spec: Mapping[str, Any]) -> bytes:
    """16 bytes that name the task in every message."""
    return hashlib.sha256(canonical_bytes(spec)).digest()[:16]


SPEC_KEYS = {
    *("version", "name", "kind", "protocol", "epsilon", "domain", "parameters"),
    *("caps", "epoch_seconds", "min_batch", "memoize", "assigned", "seed"),
}
_NUMBER = re.compile(r"-?[0-9]{1,400}(?:/[0-9]{1,400}|\.[0-9]{1,400})?", re.ASCII)


def parse_number(text: Any) -> Fraction:
    """The number that a text of digits stands for: no exponents, whose numbers may fill any memory."""
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise _unsound("A number of the task cannot be read.")
    return Fraction(text)


def check_spec(spec: Mapping[str, Any]) -> None:
    """A specification has its keys and no others, its counts are counts, and its epsilon protects at all."""
    if not isinstance(spec, Mapping) or set(spec) != SPEC_KEYS:
        raise _unsound("A task has just the parts that a device knows.")
    if type(spec["version"]) is not int or spec["version"] != VERSION:
        raise _unsound("The task is of another version.")
    if type(spec["name"]) is not str or not 0 < len(spec["name"]) <= LONGEST_NAME:
        raise _unsound(f"The name of a task has 1 to {LONGEST_NAME} letters.")
    caps = spec["caps"]
    if not isinstance(caps, Mapping) or set(caps) != {"per_epoch", "lifetime"}:
        raise _unsound("A task has a cap per epoch and one for a lifetime.")
    counts = [(1, caps["per_epoch"]), (1, caps["lifetime"]), (1, spec["min_batch"]), (0, spec["epoch_seconds"])]
    if any(type(count) is not int or not least <= count <= _MOST_COUNTED for least, count in counts):
        raise _unsound(f"The caps of a task are whole numbers, at most {_MOST_COUNTED:,}.")
    if type(spec["memoize"]) is not bool or type(spec["assigned"]) is not bool:
        raise _unsound("A rule of the task is neither true nor false.")
    if type(spec["seed"]) is not int or not 0 <= spec["seed"] < WORD:
        raise _unsound("The seed of a task is a whole number of 64 bits.")
    if not LEAST_EPSILON <= parse_number(spec["epsilon"]) <= _MOST_EPSILON:
        raise _unsound(f"A task needs an epsilon of at least 1/{1 / LEAST_EPSILON}, and one that protects at all.")


def check_parameters(kind: type[Randomizer], parameters: Mapping[str, Any]) -> None:
    """A task names the parameters of its protocol and no others: what is not used would only mislead."""
    known = set(inspect.signature(kind.prepare).parameters) - {"self"}
    if unknown := set(parameters) - known:  # what is missing, Python says when it is called
        raise _unsound(f"The protocol has no parameter {min(unknown)!r}.")


def build_randomizer(spec: Mapping[str, Any]) -> Randomizer:
    """The randomizer that a specification asks for, or a refusal."""
    try:
        check_spec(spec)
        canonical_bytes(spec)  # it can be named
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
    """The domain is a list of different values, the numbers below one, bounds, texts of a length, or open."""
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
        raise _unsound("The values of a task are different texts or integers.")
    if "lower" in domain and not parse_number(domain["lower"]) < parse_number(domain["upper"]):
        raise _unsound("The lower bound of a task is below its upper bound.")


def check_fit(randomizer: Randomizer, domain: Mapping[str, Any]) -> None:
    """The randomizer covers just the values of the domain: with fewer, or more, some reports would give one away."""
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
    """What so many reports of one epoch cost together: where one is repeated, no more than that one."""
    return randomizer.loss(min(reports, 1) if randomizer.spec["memoize"] else reports)


def lifetime_loss(randomizer: Randomizer, *, lifetime: int, per_epoch: int) -> Fraction:
    """What a device gives away at most, for any two histories of values, if it makes all reports that a task allows."""
    most = min(lifetime, per_epoch)
    if not randomizer.spec["epoch_seconds"]:  # one epoch, for ever
        return epoch_loss(randomizer, most)
    return lifetime * (randomizer.loss(1) if randomizer.spec["memoize"] else randomizer.max_loss_per_report(most))


def build_coder(spec: Mapping[str, Any]) -> Callable[[Any], Any]:
    """From a value to what the randomizer takes: its number, its fingerprint, its place on the grid, or its bytes."""
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
        else:  # a text is not looked for in a range, which would take as long as the range
            code = given if isinstance(given, int) and 0 <= given < len(values) else None
        if code is None:
            raise _outside("This is not one of the task's values.")
        return fingerprint(values[code]) if spec["protocol"] in Sketch.protocols else code

    return code_of


def _outside(problem: str) -> ClientRefused:
    return ClientRefused("out-of-domain", problem, "Report one of its values.")


def plain(value: Any) -> str | int | None:
    """The value as a plain text or whole number of bounded length; None for anything else, whatever it does when asked.

    So neither an error nor the time that a coder takes depends on more than that.
    """
    try:
        given = str.__str__(value) if isinstance(value, str) else operator.index(value)
    except Exception:  # noqa: BLE001  odd objects raise what they like
        return None
    if isinstance(value, bool) or (
        len(given) > _LONGEST_TEXT if isinstance(given, str) else given.bit_length() > _LONGEST_NUMBER
    ):
        return None
    return given


def _open_coder(value: Any) -> int:
    given = str(value) if type(value) is float else plain(value)
    if given is None:
        raise _outside("The value is no text and no whole number, or too long.")
    return fingerprint(given)


def _grid_coder(domain: Mapping[str, str], steps: int) -> Callable[[Any], int]:
    lower, upper = parse_number(domain["lower"]), parse_number(domain["upper"])

    def code_of(value: Any) -> int:
        try:
            inside = Fraction(min(max(_short_number(value), lower), upper))
        except Exception:  # noqa: BLE001  a text, not a number, nothing: odd objects raise what they like
            raise _outside("The value is not a number.") from None
        return math.floor((inside - lower) / (upper - lower) * steps + Fraction(1, 2))

    return code_of


def _short_number(value: Any) -> Fraction | float:
    """A number of few digits: one that is longer is infinite, or becomes the nearest double."""
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
    """A value of the task, drawn without looking at the person's: it is reported where theirs is outside of the task.

    Its report is a mixture of the reports of the task's values, so nobody can tell it from them by more than epsilon.
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
    """Version, task, message, sender, number of reports, payload, checksum."""
    body = bytes([VERSION]) + digest + message_id + sender + count.to_bytes(4, "big") + payload
    return body + zlib.crc32(body).to_bytes(4, "big")


def pack(report: int, bits: int) -> bytes:
    """One report, its bits from the left, the last byte filled with zeros."""
    return (report << -bits % 8).to_bytes(-(-bits // 8), "big")


# ── the device's store: counted under a lock, on disk before anything leaves ────────────────────────────────────────


class Store:
    """What a device remembers, here in memory: what was given away, kept answers, what waits to be sent.

    To keep it elsewhere, change `changing` so that what it yields is read, changed and kept by one client at a time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._book: dict[str, Any] = {"version": _STORE_VERSION, "tasks": {}}

    def read(self) -> dict[str, Any]:
        """The book as it stands."""
        return self._book

    def write(self, book: Mapping[str, Any]) -> None:
        """Keep the book as it is now, while it is being changed."""
        self._book = copy.deepcopy(dict(book))

    @contextmanager
    def transaction(self) -> Iterator[dict[str, Any]]:
        """The book, for one client alone; what was done to it is kept unless it fails."""
        with self._lock:
            book = copy.deepcopy(self._book)
            yield book
            self.write(book)


class FileStore(Store):
    """The same in a file, which several processes may share: each reads, checks and writes it under a lock.

    The lock is on a file beside it, as the store itself is replaced: whoever reads sees the old or the new, never half.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self._path = Path(path).resolve()  # one store, by whatever name it is called and wherever the process goes
        if not self._path.exists():
            with self._locked():
                if not self._path.exists():
                    self.write(self._book)
        self.read()

    @contextmanager
    def transaction(self) -> Iterator[dict[str, Any]]:
        with self._locked():
            book = self.read()
            yield book
            self.write(book)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with _open_private(self._path, ".lock", "a") as lock, _exclusive(lock):
                yield
        except OSError:
            raise ClientRefused(
                "bad-store",
                "This device cannot write down what it gives away, so it gives nothing.",
                "See whether the disk is full or the folder read-only, and report again.",
            ) from None

    def read(self) -> dict[str, Any]:
        try:
            with self._path.open(encoding="utf-8") as file:
                # By a second name the store before a report would stay; one that was replaced while it was opened has none any more.
                is_one = os.fstat(file.fileno()).st_nlink <= 1
                book: dict[str, Any] = json.load(file)
            if is_one and book["version"] == _STORE_VERSION:
                return book
        except FileNotFoundError:
            raise ClientRefused(
                "bad-store",
                "The store of this device is gone, and with it what it gave away.",
                "Bring it back to where it was; it is not begun anew while it is in use.",
            ) from None
        except (ValueError, KeyError, TypeError):
            pass
        raise ClientRefused(
            "bad-store",
            "This is no store of this client, or one with a second name (a hard link), so what it gave away is not sure.",
            "Bring the store back from where it was kept, under one name.",
        )

    def write(self, book: Mapping[str, Any]) -> None:
        with _open_private(self._path, ".new", "w") as file:
            json.dump(book, file)
            file.flush()
            os.fsync(file.fileno())
        self._path.with_name(self._path.name + ".new").replace(self._path)
        if sys.platform != "win32":
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # the new name is on disk, too
            finally:
                os.close(folder)


def _open_private(path: Path, suffix: str, mode: str) -> IO[str]:
    """A file beside the store that nobody else can read."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return open(path.with_name(path.name + suffix), mode, encoding="utf-8", opener=opener)


@contextmanager
def _exclusive(lock: IO[str]) -> Iterator[None]:
    """While no other process has the lock; the system takes it from one that dies."""
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
    """One person's device and one task: it randomizes, counts what was given away, and keeps what is not sent yet.

    `store` is a file that outlives the process and is shared by all tasks of the device; without one, caps hold as
    long as the object lives. `budget` is the epsilon that the device's owner gives away at most, to all tasks of the
    store together; no task can raise it. `slot` is the ticket with a number that the collector handed out, where the task
    says so; else the device draws a number for every report, or every epoch where it remembers its answer.
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
        """How many reports this device ever made for this task, sent or waiting to be."""
        return int(self._account()["reports"])

    @property
    def spent(self) -> float:
        """What all reports for this task so far cost together, at most, whatever the values were."""
        return _float_above(Fraction(self._account()["spent"]))

    @property
    def spent_in_all(self) -> float:
        """The same for all tasks of this device."""
        return _float_above(_spent_in_all(self._store.read()))

    def covers(self, value: Any) -> bool:
        """Whether the value is one of the task's. For whoever holds the device: what leaves it does not tell."""
        try:
            self._code_of(value)
        except ClientRefused:
            return False
        return True

    def explain(self) -> str:
        """What is asked of this device and what it will give away, to be read before the first report."""
        caps, one = self.spec["caps"], format_loss(self.randomizer.loss(1))
        together = format_loss(lifetime_loss(self.randomizer, **caps))
        made = f"{self.reports:,} made, ε {format_loss(self.spent)} given away"
        return (
            f"{shown(self.spec['name'])}: a report costs ε {one} at most\n"
            f"for this task at most {caps['lifetime']:,} reports, ε {together} together whatever the values; {made}\n"
            f"this device gives away at most ε {format_loss(self.budget)} in all, for all its tasks; "
            f"ε {format_loss(self.spent_in_all)} is gone"
        )

    def report(self, value: Any) -> bytes:
        """The message that leaves the device: counted and kept until it is acknowledged, before it is returned.

        A value outside of the task is reported as one of the task's, drawn at random: silence would tell it. A message
        counts when it is made, sent or not; sending it again costs nothing.
        """
        given = substitute_value(self.spec, self._draw)
        code = self._code_of(value if self.covers(value) else given)
        number = int(self._clock() // self.spec["epoch_seconds"]) if self.spec["epoch_seconds"] else 0
        with self._store.transaction() as book:
            account = _account_in(book, self.digest)
            epoch = _epoch_in(account, number)
            self._count(book, account, epoch)
            self._store.write(book)  # counted whatever happens next: whether it was drawn must not cost nothing
            try:
                report = self._randomized(epoch, code)
            except Exception:  # noqa: BLE001  whatever a value brings about, a message leaves: silence would tell it
                report = self._randomized(epoch, self._code_of(given))
            payload = pack(report, self.randomizer.bits)
            sender = self._ticket[1] if self._ticket is not None else bytes.fromhex(epoch["sender"])
            message = build_message(self.digest, sender, payload, count=1, message_id=secrets.token_bytes(16))
            account["pending"].append(message.hex())
        return message

    def pending(self) -> list[bytes]:
        """The messages of this task that nobody has acknowledged yet, the oldest first."""
        return [bytes.fromhex(message) for message in self._account()["pending"]]

    def acknowledge(self, message: bytes) -> None:
        """The collector has the message, or will never take it: forget it. It stays counted."""
        with self._store.transaction() as book:
            account = _account_in(book, self.digest)
            account["pending"] = [kept for kept in account["pending"] if kept != message.hex()]

    def send(self, deliver: Callable[[bytes], bool]) -> int:
        """Hand every waiting message to `deliver`, byte by byte as it was made; how many still wait.

        `deliver` says True where the collector has it; where it says False or fails, the message is kept for later.
        """
        for message in self.pending():
            if deliver(message):
                self.acknowledge(message)
        return len(self.pending())

    def _account(self) -> dict[str, Any]:
        return _account_in(self._store.read(), self.digest)

    def _count(self, book: Mapping[str, Any], account: dict[str, Any], epoch: dict[str, Any]) -> None:
        caps = self.spec["caps"]
        if account["reports"] >= caps["lifetime"]:
            raise ClientRefused("cap-reached", "This device has given all it will ever give.", "Ask somebody else.")
        if epoch["reports"] >= caps["per_epoch"]:
            raise ClientRefused("cap-reached", "This device has given all it gives in one epoch.", "Wait for the next.")
        before = epoch["of_answer"] if epoch["answer"] is not None else 0  # an answer that was lost is paid anew
        cost = epoch_loss(self.randomizer, before + 1) - epoch_loss(self.randomizer, before)
        if _spent_in_all(book) + cost > self.budget:
            raise ClientRefused(
                "budget-spent",
                f"This device gives away at most ε {format_loss(self.budget)} in all, and this report would go beyond.",
                "Ask somebody else; only the device's owner may raise its budget.",
            )
        account.update(reports=account["reports"] + 1, spent=str(Fraction(account["spent"]) + cost))
        epoch.update(reports=epoch["reports"] + 1, of_answer=before + 1)

    def _randomized(self, epoch: dict[str, Any], code: Any) -> int:
        """A fresh report; or, where the task remembers, one made from the answer that is kept for this epoch."""
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
        """The number that was assigned; or one drawn for this report, or this epoch's answer: it links nothing else."""
        return self._ticket[0] if self._ticket is not None else secrets.randbelow(1 << 32)


def _account_in(book: dict[str, Any], digest: bytes) -> dict[str, Any]:
    """What a task has had: reports, epsilon, its last epochs and the first that is not forgotten, the outbox."""
    fresh = {"reports": 0, "spent": "0", "epochs": {}, "first_epoch": 0, "pending": []}
    account: dict[str, Any] = book["tasks"].setdefault(digest.hex(), fresh)
    return account


def _epoch_in(account: dict[str, Any], number: int) -> dict[str, Any]:
    """What an epoch has had: reports, its pseudonym, the kept answer with its slot and how often it was reported.

    Each of the last epochs has a count of its own, in whichever order the clock shows them, so that a clock that was
    wrong once silences nobody; an epoch that was forgotten, or that lies before one, is over.
    """
    epochs: dict[str, dict[str, Any]] = account["epochs"]
    if number < account["first_epoch"]:
        raise ClientRefused("cap-reached", "This epoch is over for this device.", "See whether its clock is right.")
    fresh = {"reports": 0, "sender": secrets.token_hex(16), "slot": 0, "answer": None, "of_answer": 0}
    epoch = epochs.setdefault(str(number), fresh)
    while len(epochs) > _EPOCHS_KEPT:
        oldest = min(map(int, epochs))
        del epochs[str(oldest)]
        account["first_epoch"] = oldest + 1
    return epoch


def parse_ticket(given: object) -> tuple[int, bytes]:
    """The number that a collector handed to this device, and the mark that shows it: the sender of its messages."""
    if not isinstance(given, str) or not re.fullmatch("[0-9a-f]{40}", given):
        raise ClientRefused(
            "bad-slot",
            "The collector of this task hands each device a number on a ticket.",
            "Ask for one (POST /v1/tasks/ID/slots, or collector.assign()), and give it as slot.",
        )
    return int(given[:8], 16), bytes.fromhex(given[8:])


def parse_budget(given: float | str | Fraction) -> Fraction:
    """What the device's owner gives away at most."""
    try:
        return parse_number(given) if isinstance(given, str) else Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        raise ClientRefused("bad-budget", "The budget of a device is a number.", "Give one, such as 5.") from None


def shown(text: str) -> str:
    """A text as it may be printed: what would move the cursor, hide or reorder letters is escaped."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def format_loss(loss: Fraction | float) -> str:
    """A loss in six digits, rounded up: no device gives away more than it says."""
    exact = Fraction(loss)
    with localcontext(prec=6, rounding=ROUND_CEILING):
        return f"{float(Decimal(exact.numerator) / Decimal(exact.denominator)):g}"


def _spent_in_all(book: Mapping[str, Any]) -> Fraction:
    return sum((Fraction(account["spent"]) for account in book["tasks"].values()), Fraction(0))


def _float_above(number: Fraction) -> float:
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)
