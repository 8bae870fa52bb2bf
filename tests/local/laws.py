"""Exact laws of randomizers, by playing every draw: {report: probability} as Fractions."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from discreet.local.device.client import WORD, Draw, Randomizer
from discreet.local.protocols.draws import Draws
from discreet.local.protocols.protocol import Protocol

Law = dict[object, Fraction]


class Script:
    """Every way in which a program's choices can go, one after the other.

    Choices are replayed from a list; new ones take their first option. To move on, the last choice that has another
    option takes it, and all after it are forgotten.
    """

    def __init__(self) -> None:
        self._taken: list[int] = []
        self._options: list[int] = []
        self._at = 0
        self.weight = Fraction(1)

    def choose(self, weights: list[Fraction]) -> int:
        """One of the options, by its number; impossible ones are passed over."""
        possible = [option for option, weight in enumerate(weights) if weight]
        if self._at == len(self._taken):
            self._taken.append(0)
            self._options.append(len(possible))
        option = possible[self._taken[self._at]]
        self._at += 1
        self.weight *= weights[option]
        return option

    def plays(self) -> Iterator[None]:
        """Yields once for each way."""
        while True:
            self._at, self.weight = 0, Fraction(1)
            yield
            while self._taken and self._taken[-1] + 1 == self._options[-1]:
                self._taken.pop()
                self._options.pop()
            if not self._taken:
                return
            self._taken[-1] += 1

    def coin(self, threshold: int) -> bool:
        chance = Fraction(int(threshold), WORD)
        assert 0 <= chance <= 1
        return bool(self.choose([1 - chance, chance]))

    def die(self, bound: int) -> int:
        return self.choose([Fraction(1, bound)] * bound)


class PlayedDraw(Draw):
    """A device's draws, from a script."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def word(self) -> int:
        raise AssertionError("a raw word cannot be played")

    def chance(self, threshold: int) -> bool:
        return self._script.coin(threshold)

    def below(self, bound: int) -> int:
        return self._script.die(bound)


class PlayedDraws(Draws):
    """Draws for a few people, from a script."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def chance(self, threshold, count):
        return np.array([self._script.coin(threshold) for _ in range(count)], np.bool_)

    def chance_each(self, thresholds):
        coins = [self._script.coin(threshold) for threshold in thresholds.reshape(-1).tolist()]
        return np.array(coins, np.bool_).reshape(thresholds.shape)

    def below(self, bound, count):
        return np.array([self._script.die(bound) for _ in range(count)], np.int64)


def law_of(play: Callable[[Script], object]) -> Law:
    """The law of what a program returns."""
    law: Law = {}
    script = Script()
    for _ in script.plays():
        outcome = play(script)
        law[outcome] = law.get(outcome, Fraction(0)) + script.weight
    return law


def device_law(randomizer: Randomizer, code: object, *, slot: int = 0) -> Law:
    """The law of one device's report."""
    return law_of(lambda script: randomizer.randomize(code, PlayedDraw(script), slot=slot))


def twin_law(twin: Protocol, codes: object, *, slots: np.ndarray) -> Law:
    """The law of the reports of a few people, as a tuple of integers."""
    return law_of(lambda script: numbers_of(twin, twin.encode(codes, PlayedDraws(script), slots=slots)))


def numbers_of(twin: Protocol, reports: np.ndarray) -> tuple[int, ...]:
    """Reports as the client has them: integers."""
    bits = twin.randomizer.bits
    if not twin.wide:
        assert reports.dtype == np.uint64
        assert reports.ndim == 1
        return tuple(reports.tolist())
    assert reports.dtype == np.uint8
    assert reports.shape[1:] == (-(-bits // 8),)
    return tuple(int.from_bytes(row.tobytes(), "big") >> -bits % 8 for row in reports)


def reports_of(twin: Protocol, numbers: list[int]) -> np.ndarray:
    """The client's integers as the twin has them: words, or the bytes of `client.packed`."""
    from discreet.local.device.client import pack

    if not twin.wide:
        return np.array(numbers, np.uint64)
    rows = [np.frombuffer(pack(number, twin.randomizer.bits), np.uint8) for number in numbers]
    return np.array(rows).reshape(len(numbers), -1)


class Remembered(Draw):
    """The same draws whenever the test is run."""

    def __init__(self, name: str) -> None:
        self._name, self._drawn = name.encode(), 0

    def word(self) -> int:
        self._drawn += 1
        return int.from_bytes(hmac.digest(self._name, self._drawn.to_bytes(8, "big"), "sha256")[:8], "big")
