"""What runs on a person's device: randomize an answer before it leaves. The standard library only, in one file.

Copy this file onto a device as it is. It reads a task's specification, works out every probability by itself from the
epsilon that the specification promises (so that a dishonest collector cannot weaken it), draws from the operating
system's secure randomness, counts what it has given away, and writes the bytes that leave the device.

Every probability is a whole number of 2**-64, rounded so that no two answers of the device differ by more than a
factor e**epsilon, whatever the truth. Nothing is computed in floating point between the truth and the report.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import secrets
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

VERSION = 1
WORD = 1 << 64
_MOST_EPSILON = 100
_LARGEST_FIELD = 1 << 12
HEADER = 1 + 16 + 16 + 16 + 4
"""Bytes before the payload: version, task, message, sender, number of reports. Four bytes of checksum follow it."""


class ClientRefused(ValueError):
    """The device will not report: a cap is reached, the task is not sound, or the value is not one of its values."""

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
        """0, 1, ..., bound - 1, each equally likely."""
        whole_rounds = WORD - WORD % bound
        while (word := self.word()) >= whole_rounds:
            pass
        return word % bound


class Remembered(Draw):
    """The same draws whenever the same secret meets the same label: a random choice that need not be stored."""

    def __init__(self, secret: bytes, *label: bytes) -> None:
        self._key = hmac.digest(secret, b"\0".join(hashlib.sha256(part).digest() for part in label), "sha256")
        self._drawn = 0

    def word(self) -> int:
        """The next 64 bits of HMAC-SHA-256 in counter mode."""
        block = hmac.digest(self._key, self._drawn.to_bytes(8, "big"), "sha256")
        self._drawn += 1
        return int.from_bytes(block[:8], "big")


# ── probabilities ───────────────────────────────────────────────────────────────────────────────────────────────────


def odds_below(epsilon: Fraction) -> Fraction:
    """A rational just below e**epsilon: 45 digits of it."""
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()  # correctly rounded, to 60 digits
    return Fraction(power) * (1 - Fraction(1, 10**45))


def keep_threshold(odds: Fraction, inside: int, outside: int) -> int:
    """The chance of landing inside when each of `inside` outputs is `odds` times as likely as each of `outside`.

    Rounded down, so that the ratio of the two likelihoods is never above the odds; and it is never below 1.
    """
    threshold = math.floor(WORD * odds * inside / (odds * inside + outside))
    if threshold * outside < (WORD - threshold) * inside:
        raise _unsound("The epsilon is too small for 64 bits.")
    return threshold


def bits_for(size: int) -> int:
    """How many bits tell `size` things apart."""
    return max(1, (size - 1).bit_length())


def _at_least(least: int, *sizes: int) -> None:
    if any(type(size) is not int or size < least for size in sizes):
        raise _unsound("A size of the task is not a whole number, or too small.")


# ── hashing: public, the same on every device and at the collector ──────────────────────────────────────────────────


def fingerprint(value: object) -> int:
    """64 bits of SHA-256 of the value as text: what sketches hash further."""
    return int.from_bytes(hashlib.sha256(str(value).encode()).digest()[:8], "big")


def mixed(word: int) -> int:
    """A bijection of 64-bit words that looks random (splitmix64); public, so it need not be secret."""
    word = (word + 0x9E3779B97F4A7C15) % WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


def hashed(code: int, row: int, seed: int) -> int:
    """32 bits, uniform and pairwise independent over the rows: multiply, add, take the upper half."""
    low, high, shift = (mixed((seed + 3 * row + i) % WORD) for i in range(3))
    return (low * (code & 0xFFFFFFFF) + high * (code >> 32) + shift) % WORD >> 32


def bucket(code: int, row: int, seed: int, size: int) -> int:
    """Which of `size` buckets a code falls into under hash function number `row`."""
    return hashed(code, row, seed) * size >> 32


# ── randomizers: from a code to a report, an integer of `bits` bits ─────────────────────────────────────────────────


class Randomizer:
    """One protocol with its parameters. Thresholds are over 2**64; the collector's estimators use the same ones."""

    protocols: ClassVar[tuple[str, ...]] = ()
    takes: ClassVar[str] = "numbers"
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

    def randomize(self, code: Any, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
        """A report about `code`. `slot` is a public number given to this device; `secret` never leaves it."""
        raise NotImplementedError


class Direct(Randomizer):
    """Tell the truth with probability e^epsilon / (e^epsilon + size - 1), else another value, each as likely.

    Guarantee: epsilon-LDP. With two values this is Warner's; `coin` is the lectures' two coin flips, epsilon = ln 3.
    Citation: Warner 1965; Kairouz, Bonawitz, Ramage 2016; Chicago slides, "Randomized Response is Locally-DP".
    """

    protocols = ("coin", "warner", "grr")

    def prepare(self, *, size: int) -> None:
        _at_least(2, size)
        self.size, self.bits = size, bits_for(size)
        self.keep = keep_threshold(self.odds, 1, size - 1)
        if self.spec["protocol"] == "coin":
            if size != 2 or self.odds < 3 * (1 - Fraction(1, 10**12)):
                raise _unsound("Coin flips are for two values and cost epsilon ln 3, rounded up.")
            self.keep = 3 * WORD // 4

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
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
        _at_least(1, width, size - width)
        self.size, self.width, self.bits = size, width, size
        self.keep = keep_threshold(self.odds, width, size - width)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
        told = draw.chance(self.keep)
        chosen = {code} if told else set()
        others: set[int] = set()
        count = self.width - told
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
            powers = [1]
            while (element := self._times_x(powers[-1], tail)) != 1 and element and len(powers) < self.order:
                powers.append(element)
            if len(powers) == self.order - 1:
                return powers
        raise _unsound("The order of the geometry must be a prime power.")

    def _times_x(self, element: int, tail: int) -> int:
        top, rest = divmod(element, self.order // self.prime)
        return self.add(rest * self.prime, self._scaled(tail, top))

    def _scaled(self, element: int, factor: int) -> int:
        return sum(
            element // self.prime**i % self.prime * factor % self.prime * self.prime**i for i in range(self.degree)
        )

    def add(self, one: int, other: int) -> int:
        """The sum: digits of base `prime`, without carry."""
        if self.degree == 1:
            return (one + other) % self.prime
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
        _at_least(2, size, order, dimension, _LARGEST_FIELD - order)
        self.size, self.order, self.dimension = size, order, dimension
        if dimension < 2 or size > order ** (dimension - 1):
            raise _unsound("The geometry has too few points for the values.")
        self.field = Field(order)
        self.points, self.on_plane, self.on_line = (self.points_of(dimension - i) for i in range(3))
        self.affine = order ** (dimension - 1)
        self.bits = bits_for(self.points)
        self.keep = keep_threshold(self.odds, self.on_plane, self.points - self.on_plane)

    def points_of(self, dimension: int) -> int:
        """(order^dimension - 1) / (order - 1)."""
        return (self.order**dimension - 1) // (self.order - 1)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
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

    `loloha` remembers the first, permanent answer for each bucket and randomizes it again every time.

    Guarantee: epsilon-LDP for any hash function, as it is chosen without looking at the value. For `loloha`, epsilon
    for all reports about one bucket together and `first` for a single one; buckets * epsilon for a whole life.
    Citation: Wang, Blocki, Li, Jha 2017 (OLH); Arcolezi et al. 2023 (arXiv:2210.00262, LOLOHA).
    """

    protocols = ("olh", "loloha")
    takes = "anything"
    slot_bits = 32

    def prepare(self, *, buckets: int, size: int = 0, first: str = "") -> None:
        _at_least(2, buckets)
        self.size, self.buckets = size, buckets
        self.slot_at = self.value_bits = bits_for(buckets)
        self.bits = self.slot_bits + self.value_bits
        self.keep = keep_threshold(self.odds, 1, buckets - 1)
        self.keep_again = WORD
        if self.spec["protocol"] == "loloha":
            self.keep_again = self._again(odds_below(Fraction(first)))

    def _again(self, odds: Fraction) -> int:
        """How often to repeat the permanent answer, so that one report alone has the given odds."""
        wanted = odds / (odds + self.buckets - 1)
        told = Fraction(self.keep, WORD)
        lied = (1 - told) / (self.buckets - 1)
        if not lied < wanted <= told:
            raise _unsound("The epsilon of the first report must be below that of all reports.")
        again = math.floor(WORD * (wanted - lied) / (told - lied))
        if again * self.buckets < WORD:
            raise _unsound("The epsilon of the first report is too small for 64 bits.")
        return again

    def respond(self, truth: int, keep: int, draw: Draw) -> int:
        """The truth, or another bucket."""
        if draw.chance(keep):
            return truth
        other = draw.below(self.buckets - 1)
        return other + (other >= truth)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
        truth = bucket(code, slot, self.seed, self.buckets)
        if self.spec["protocol"] == "loloha":
            memory = Remembered(secret, b"loloha", str(truth).encode()) if secret else draw
            truth = self.respond(truth, self.keep, memory)
            return slot << self.value_bits | self.respond(truth, self.keep_again, draw)
        return slot << self.value_bits | self.respond(truth, self.keep, draw)


class Unary(Randomizer):
    """One bit a value, the true one's set; every bit is flipped by its own coin.

    Guarantee: epsilon-LDP. `sue` flips both kinds of bit alike (basic RAPPOR); `oue` spends all on keeping zeros zero.
    Citation: Erlingsson, Pihur, Korolova 2014; Wang, Blocki, Li, Jha 2017.
    """

    protocols = ("sue", "oue")

    def prepare(self, *, size: int) -> None:
        _at_least(2, size)
        self.size, self.bits = size, size
        if self.spec["protocol"] == "oue":
            self.one, self.zero = WORD // 2, math.ceil(WORD / (self.odds + 1))
        else:
            self.one = keep_threshold(self.half_odds, 1, 1)
            self.zero = WORD - self.one

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
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
    takes = "anything"

    def prepare(self, *, rows: int, columns: int, size: int = 0) -> None:
        _at_least(1, rows, columns - 1)
        self.size, self.rows, self.columns = size, rows, columns
        if columns & columns - 1 or rows & rows - 1:
            raise _unsound("Rows and columns of a sketch are powers of two.")
        self.row_bits, self.column_bits = bits_for(rows), bits_for(columns)
        self.one_bit = self.spec["protocol"] == "hcms"
        self.bits = self.row_bits + (self.column_bits + 1 if self.one_bit else columns)
        self.keep = keep_threshold(self.odds if self.one_bit else self.half_odds, 1, 1)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
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
        _at_least(1, size, blocks, columns - 1)
        self.size, self.blocks, self.columns = size, blocks, columns
        if columns & columns - 1 or blocks * (columns - 1) < size:
            raise _unsound("A block has a power of two of columns, and one row fewer for values.")
        self.half, self.outputs = columns // 2, blocks * columns
        self.bits = bits_for(self.outputs)
        self.keep = keep_threshold(self.odds, self.half, self.outputs - self.half)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
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
        place = (row & -row).bit_length() - 1
        column = (index >> place << place + 1) | (index & (1 << place) - 1)
        return column | ((column & row).bit_count() % 2 ^ parity) << place


class Bloom(Randomizer):
    """RAPPOR: a Bloom filter of the value, a permanent lie about each of its bits, and a fresh lie about that.

    Guarantee: epsilon-LDP for all reports about one value together, `first` for a single one.
    Citation: Erlingsson, Pihur, Korolova 2014 (arXiv:1407.6981).
    """

    protocols = ("rappor",)

    def prepare(self, *, size: int, filter_bits: int, hashes: int, cohorts: int, first: str) -> None:
        _at_least(1, size - 1, filter_bits, hashes, cohorts)
        self.size, self.filter_bits, self.hashes, self.cohorts = size, filter_bits, hashes, cohorts
        self.cohort_bits = bits_for(cohorts)
        self.bits = self.cohort_bits + filter_bits
        self.permanent = keep_threshold(odds_below(self.epsilon / (2 * hashes)), 1, 1)
        odds = odds_below(Fraction(first) / (2 * hashes))
        wanted, kept = odds / (odds + 1), Fraction(self.permanent, WORD)
        if not Fraction(1, 2) < wanted <= kept:
            raise _unsound("The epsilon of the first report must be below that of all reports.")
        self.again = math.floor(WORD * (wanted - (1 - kept)) / (2 * kept - 1))
        if self.again * 2 < WORD:
            raise _unsound("The epsilon of the first report is too small for 64 bits.")

    def filter(self, code: int, cohort: int) -> list[bool]:
        """The value's bits in a cohort."""
        marks = {bucket(code, cohort * self.hashes + i, self.seed, self.filter_bits) for i in range(self.hashes)}
        return [place in marks for place in range(self.filter_bits)]

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
        cohort = Remembered(secret, b"cohort").below(self.cohorts) if secret else draw.below(self.cohorts)
        memory = Remembered(secret, b"rappor", str(code).encode()) if secret else draw
        report = cohort
        for bit in self.filter(code, cohort):
            lied = bit == memory.chance(self.permanent)
            report = report << 1 | (lied == draw.chance(self.again))
        return report


class OneBit(Randomizer):
    """A number on a grid of `steps`; report one bit whose chance grows evenly with the number.

    Guarantee: epsilon-LDP; the mean of the bits, put back on scale, is unbiased.
    Citation: Duchi, Jordan, Wainwright 2013; Ding, Kulkarni, Yekhanin 2017.
    """

    protocols = ("duchi",)
    takes = "grid"
    bits = 1

    def prepare(self, *, steps: int) -> None:
        _at_least(1, steps)
        self.steps = steps
        self.least = math.ceil(WORD / (self.odds + 1))
        self.step = (WORD - 2 * self.least) // steps
        if self.step == 0:
            raise _unsound("The grid is too fine for so small an epsilon.")

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
        return int(draw.chance(self.least + code * self.step))


class Window(Randomizer):
    """A number on a grid of `steps`; report a place inside a window that starts at the number, or one outside of it.

    Guarantee: epsilon-LDP: every window has the same number of places.
    Citation: Wang et al. 2019 (arXiv:1907.00782, piecewise); Li et al. 2020 (arXiv:1912.01051, square wave).
    """

    protocols = ("piecewise", "square-wave")
    takes = "grid"

    def prepare(self, *, steps: int, width: int) -> None:
        _at_least(1, steps, width)
        self.steps, self.width = steps, width
        self.outputs = steps + width
        self.bits = bits_for(self.outputs)
        self.keep = keep_threshold(self.odds, width, steps)

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
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
    takes = "grid"

    def prepare(self, *, steps: int, width: int, share: int) -> None:
        self.share = share
        self.window = Window({**self.spec, "parameters": {"steps": steps, "width": width}})
        self.one_bit = OneBit({**self.spec, "parameters": {"steps": steps}})
        self.bits = 1 + self.window.bits

    def randomize(self, code: int, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
        if draw.chance(self.share):
            return 1 << self.window.bits | self.window.randomize(code, draw)
        return self.one_bit.randomize(code, draw)


class Prefixes(Randomizer):
    """Strings too many to list: everyone reports a prefix, its length given by the slot, through local hashing.

    Guarantee: epsilon-LDP: one report a person, with all of epsilon.
    Citation: Wang, Li, Jha 2019 (arXiv:1708.06674), "Locally differentially private heavy hitter identification".
    """

    protocols = ("pem",)
    takes = "texts"

    def prepare(self, *, length: int, prefixes: Sequence[int], buckets: int) -> None:
        _at_least(1, length, *prefixes, *(8 * length - bits + 1 for bits in prefixes))
        self.length, self.prefixes = length, tuple(prefixes)
        self.hashing = Hashing({**self.spec, "protocol": "olh", "parameters": {"buckets": buckets}})
        self.bits, self.slot_at = self.hashing.bits, self.hashing.slot_at

    def prefix_code(self, text: bytes, bits: int) -> int:
        """A fingerprint of the first `bits` bits of a text that is padded with zeros."""
        whole = int.from_bytes(text.ljust(self.length, b"\0"), "big")
        return fingerprint(f"{bits}:{whole >> 8 * self.length - bits}")

    def randomize(self, code: bytes, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
        bits = self.prefixes[slot % len(self.prefixes)]
        return self.hashing.randomize(self.prefix_code(code, bits), draw, slot=slot)


class Puzzle(Randomizer):
    """Apple's sequence fragment puzzle: a piece of the word with a hash of the whole, and the word, in two sketches.

    Guarantee: epsilon-LDP, half for each sketch.
    Citation: Apple 2017, "Learning with Privacy at Scale", sequence fragment puzzle.
    """

    protocols = ("sfp",)
    takes = "texts"

    def prepare(self, *, length: int, piece: int, rows: int, columns: int) -> None:
        _at_least(1, length, piece, length // piece)
        self.length, self.piece = length, piece
        self.pieces = length // piece
        half = {**self.spec, "protocol": "cms", "epsilon": str(self.epsilon / 2)}
        self.sketch = Sketch({**half, "parameters": {"rows": rows, "columns": columns}})
        self.place_bits = bits_for(self.pieces)
        self.bits = self.place_bits + 2 * self.sketch.bits

    def fragment(self, text: bytes, place: int) -> str:
        """The piece at a place, with 8 bits that tell which word it belongs to."""
        part = text.ljust(self.length, b"\0")[place * self.piece : (place + 1) * self.piece]
        return f"{place}:{part.hex()}:{hashlib.sha256(text).digest()[0]}"

    def randomize(self, code: bytes, draw: Draw, *, slot: int = 0, secret: bytes = b"") -> int:
        place = draw.below(self.pieces)
        piece = self.sketch.randomize(fingerprint(self.fragment(code, place)), draw)
        word = self.sketch.randomize(fingerprint("word:" + code.hex()), draw)
        return (place << self.sketch.bits | piece) << self.sketch.bits | word


RANDOMIZERS: dict[str, type[Randomizer]] = {
    name: kind
    for kind in (
        Direct,
        Subset,
        Projective,
        Hashing,
        Unary,
        Sketch,
        Hadamard,
        Bloom,
        OneBit,
        Window,
        Hybrid,
        Prefixes,
        Puzzle,
    )
    for name in kind.protocols
}


# ── tasks: what is asked, as the collector published it ─────────────────────────────────────────────────────────────


def _unsound(problem: str) -> ClientRefused:
    return ClientRefused("bad-task", problem, "Ask the collector for another task.")


def spec_of(task: Any) -> Mapping[str, Any]:
    """The specification of a task that is given as JSON, as what JSON stands for, or as a `discreet.local.Task`."""
    if isinstance(task, str | bytes):
        return json.loads(task)
    return task if isinstance(task, Mapping) else task.spec


def canonical(spec: Mapping[str, Any]) -> bytes:
    """The specification as bytes: the same for the same task, everywhere."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest_of(spec: Mapping[str, Any]) -> bytes:
    """16 bytes that name the task in every message."""
    return hashlib.sha256(canonical(spec)).digest()[:16]


def randomizer_of(spec: Mapping[str, Any]) -> Randomizer:
    """The randomizer that a specification asks for, or a refusal."""
    try:
        if spec["version"] != VERSION:
            raise _unsound("The task is of another version.")
        if not 0 < Fraction(spec["epsilon"]) <= _MOST_EPSILON:
            raise _unsound("A task needs a positive epsilon, and one that protects at all.")
        return RANDOMIZERS[spec["protocol"]](spec)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        if isinstance(error, ClientRefused):
            raise
        raise _unsound("The task cannot be read.") from None


def check_fit(randomizer: Randomizer, domain: Mapping[str, Any]) -> None:
    """The randomizer covers just the values of the domain: with fewer, or more, some reports would give one away."""
    if set(domain) not in ({"values"}, {"range"}, {"open"}, {"lower", "upper"}, {"length"}):
        raise _unsound("The domain cannot be read.")
    numbers = domain["range"] if "range" in domain else len(domain.get("values", ()))
    fits = {
        "numbers": numbers == randomizer.size,
        "grid": "lower" in domain,
        "texts": domain.get("length") == randomizer.length,
        "anything": "lower" not in domain and "length" not in domain,
    }
    if not fits[randomizer.takes]:
        raise _unsound("The protocol does not fit the domain.")


def coder_of(spec: Mapping[str, Any]) -> Callable[[Any], Any]:
    """From a value to what the randomizer takes: its number, its fingerprint, its place on the grid, or its bytes."""
    domain = spec["domain"]
    if "lower" in domain:
        return _grid_coder(domain, int(spec["parameters"]["steps"]))
    if "length" in domain:
        return _text_coder(int(domain["length"]))
    if "open" in domain:
        return fingerprint
    known: Mapping[Any, int] | range = (
        range(domain["range"]) if "range" in domain else {value: code for code, value in enumerate(domain["values"])}
    )

    def code_of(value: Any) -> int:
        if isinstance(value, bool) or value not in known:
            raise ClientRefused("out-of-domain", "This is not one of the task's values.", "Report one of its values.")
        code = value if isinstance(known, range) else known[value]
        return fingerprint(value) if spec["protocol"] in Sketch.protocols else int(code)

    return code_of


def _grid_coder(domain: Mapping[str, str], steps: int) -> Callable[[Any], int]:
    lower, upper = Fraction(domain["lower"]), Fraction(domain["upper"])

    def code_of(value: Any) -> int:
        if isinstance(value, bool) or not math.isfinite(value):
            raise ClientRefused("out-of-domain", "The value is not a finite number.", "Report a number.")
        inside = min(max(Fraction(value), lower), upper)
        return math.floor((inside - lower) / (upper - lower) * steps + Fraction(1, 2))

    return code_of


def _text_coder(length: int) -> Callable[[Any], bytes]:
    def code_of(value: Any) -> bytes:
        text = str(value).encode()
        if not 0 < len(text) <= length or b"\0" in text:
            raise ClientRefused("out-of-domain", f"The text is empty or longer than {length} bytes.", "Report another.")
        return text

    return code_of


# ── messages ────────────────────────────────────────────────────────────────────────────────────────────────────────


def message_of(digest: bytes, sender: bytes, payload: bytes, *, count: int, message_id: bytes) -> bytes:
    """Version, task, message, sender, number of reports, payload, checksum."""
    body = bytes([VERSION]) + digest + message_id + sender + count.to_bytes(4, "big") + payload
    return body + zlib.crc32(body).to_bytes(4, "big")


def packed(report: int, bits: int) -> bytes:
    """One report, its bits from the left, the last byte filled with zeros."""
    return (report << -bits % 8).to_bytes(-(-bits // 8), "big")


class Client:
    """One person's device: one task, a secret that never leaves, and a count of what was given away.

    `store` is a file that outlives the process; without one, caps hold as long as the object lives. `slot` is the
    number that the collector assigned; without one the device draws its own.
    """

    def __init__(
        self,
        task: Any,
        *,
        store: str | os.PathLike[str] | None = None,
        slot: int | None = None,
        clock: Callable[[], float] = time.time,
        draw: Draw | None = None,
    ) -> None:
        self.spec = spec_of(task)
        self.digest = digest_of(self.spec)
        self.randomizer = randomizer_of(self.spec)
        check_fit(self.randomizer, self.spec.get("domain", {}))
        self._code_of = coder_of(self.spec)
        self._store = Path(store) if store is not None else None
        self._clock, self._draw = clock, draw or Draw()
        self._book: dict[str, Any] = {"secret": secrets.token_hex(32), "tasks": {}}
        if self._store and self._store.exists():
            self._book = json.loads(self._store.read_text())
        secret = bytes.fromhex(self._book["secret"])
        self._secret = hmac.digest(secret, self.digest, "sha256")
        self._slot = slot if slot is not None else Remembered(self._secret, b"slot").below(1 << 32)

    @property
    def reports(self) -> int:
        """How many reports this device ever made for this task."""
        return int(self._counts()["lifetime"])

    @property
    def spent(self) -> float:
        """What all reports so far cost together, at most."""
        each = Fraction(self.spec["parameters"].get("first", self.spec["epsilon"]))
        return float(each * self.reports)

    def report(self, value: Any) -> bytes:
        """The message that leaves the device. Counted, on disk if there is a store, before it is returned."""
        code = self._code_of(value)
        epoch = int(self._clock() // self.spec["epoch_seconds"]) if self.spec["epoch_seconds"] else 0
        self._count(epoch)
        drawn = Remembered(self._secret, b"report", repr(code).encode()) if self.spec["memoize"] else self._draw
        report = self.randomizer.randomize(code, drawn, slot=self._slot, secret=self._secret)
        sender = hmac.digest(self._secret, b"sender" + epoch.to_bytes(8, "big"), "sha256")[:16]
        payload = packed(report, self.randomizer.bits)
        return message_of(self.digest, sender, payload, count=1, message_id=secrets.token_bytes(16))

    def _counts(self) -> dict[str, int]:
        fresh = {"lifetime": 0, "epoch": 0, "in_epoch": 0}
        found: dict[str, int] = self._book["tasks"].setdefault(self.digest.hex(), fresh)
        return found

    def _count(self, epoch: int) -> None:
        counts, caps = self._counts(), self.spec["caps"]
        in_epoch = counts["in_epoch"] if counts["epoch"] == epoch else 0
        if counts["lifetime"] >= caps["lifetime"] or epoch < counts["epoch"]:
            raise ClientRefused("cap-reached", "This device has given all it will ever give.", "Ask somebody else.")
        if in_epoch >= caps["per_epoch"]:
            raise ClientRefused("cap-reached", "This device has given all it gives in one epoch.", "Wait for the next.")
        counts.update(lifetime=counts["lifetime"] + 1, epoch=epoch, in_epoch=in_epoch + 1)
        if self._store:
            beside = self._store.with_name(self._store.name + ".new")
            with beside.open("w") as file:
                json.dump(self._book, file)
                file.flush()
                os.fsync(file.fileno())
            beside.chmod(0o600)
            beside.replace(self._store)
