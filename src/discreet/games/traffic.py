"""A large game: routes whose cost grows with how many take them, and advice that is nearly best for everybody.

In every round each person's adviser weighs routes by what they have cost so far, as the *noisy* loads tell, and names one. Loads are
public, advice is seen by its person alone: whatever others see about somebody has passed the noise (joint differential
privacy; Kearns, Pai, Roth, Ullman 2014, arXiv:1207.4084). The rounds together are a correlated equilibrium up to the regret.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.conversions import rho_of_epsilon
from discreet.core.exact import Number, exact, finite, read_count
from discreet.errors import BadData, BadInput
from discreet.mechanisms import Gaussian
from discreet.mechanisms.statistics.bounded import Account
from discreet.noise import SYSTEM_BITS, RandomBits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_ONE_MOVES = 1.4142135623730951
"""Whoever takes another route is one less here and one more there: √2, rounded up."""
_bits = SYSTEM_BITS


@dataclass(frozen=True, slots=True)
class Route:
    """What a route costs: `empty` when nobody takes it, `full` when everybody does, and in proportion between.

    Args:
        empty: From 0 to 1.
        full: From `empty` to 1.
    """

    empty: float
    full: float

    def __post_init__(self) -> None:
        if finite(self.empty) is None or finite(self.full) is None or not 0 <= self.empty <= self.full <= 1:
            raise BadInput("A route costs from 0 to 1, and no less when it is full.", next_step="Give Route(0.2, 0.9).")


@dataclass(frozen=True, slots=True)
class Advice:
    """What comes of the rounds.

    Args:
        loads: How many were told to take each route in each round, with noise: public.
        shares: How often each person is told to take each route: row i is for person i alone.
    """

    loads: Integers
    shares: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Advice on routes for a number of rounds. A person's detours are protected: what they replace by others changes two loads of a round by 1.

    Guarantee: (epsilon, delta) joint differential privacy, replace-one: all that others see about a person are the noisy loads of all rounds, which have L2
    sensitivity √2 a round and are charged as one zCDP budget.

    Args:
        routes: What they cost.
        rounds: How often advice is given.
        epsilon: How much others may learn about a person over all rounds.
        delta: Beside it.
    """

    routes: Sequence[Route]
    rounds: int
    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        read_count(self.rounds, name="rounds", most=10**6)
        if len(self.routes) < 2:
            raise BadInput("There must be a choice of routes.", next_step="Give two or more.")
        self.mechanism  # noqa: B018  refuses what cannot be drawn

    @property
    def mechanism(self) -> Gaussian:
        """What one round is drawn from; `rounds` of it are charged."""
        rho = exact(rho_of_epsilon(float(self.epsilon), delta=float(self.delta)))
        return Gaussian.for_rho(sensitivity=_ONE_MOVES, rho=rho / self.rounds, size=len(self.routes))

    def advise(self, detours: Floats, *, account: Account | None = None) -> Advice:
        """Play all rounds.

        Args:
            detours: What each route costs each person beside its load, from 0 to 1: one row a person.
            account: What pays for it; nothing is drawn unless it does.
        """
        own, mechanism = _read_detours(detours, len(self.routes)), self.mechanism
        if account is not None:
            account.charge([mechanism] * self.rounds)
        played = self._play(own, lambda loads: mechanism.release(loads, _bits))
        return Advice(played.noisy, played.shares)

    def regrets(self, detours: Floats, *, noiseless: bool = False, bits: RandomBits = SYSTEM_BITS) -> Floats:
        """How much less each person would have paid, a round, with the best single route: exact, to study; never released.

        Args:
            detours: What each route costs each person beside its load.
            noiseless: Whether to leave the noise out, to compare with.
            bits: Where randomness comes from: the system, unless a test says otherwise.
        """
        mechanism, own = self.mechanism, _read_detours(detours, len(self.routes))
        noise: Callable[[Integers], Integers] = (lambda x: x) if noiseless else lambda x: mechanism.release(x, bits)
        played = self._play(own, noise, bits)
        people = len(own)
        paid, single = np.zeros(people), np.zeros(own.shape)
        for loads, taken in zip(played.loads, played.taken, strict=True):
            paid += self._costs(loads / people)[taken]
            alone = np.broadcast_to(loads + 1, own.shape).copy()  # whoever moves to a route adds to its load
            alone[np.arange(people), taken] -= 1
            single += self._costs(alone / people)
        paid += (played.shares * own).sum(axis=1) * self.rounds
        return paid / self.rounds - (single / self.rounds + own).min(axis=1)

    def _play(self, detours: Floats, noise: Callable[[Integers], Integers], bits: RandomBits = SYSTEM_BITS) -> _Played:
        people, routes = detours.shape
        rate = math.sqrt(8 * math.log(routes) / self.rounds)
        spent = np.zeros(routes)
        taken = np.empty((self.rounds, people), np.int64)
        exact_loads, noisy = np.empty((self.rounds, routes), np.int64), np.empty((self.rounds, routes), np.int64)
        for turn in range(self.rounds):
            costs = spent + turn * detours
            taken[turn] = _drawn(np.exp(-rate * (costs - costs.min(axis=1, keepdims=True))), bits)
            exact_loads[turn] = np.bincount(taken[turn], minlength=routes)
            noisy[turn] = noise(exact_loads[turn])
            spent = spent + self._costs(np.clip(noisy[turn] / people, 0, 1))
        shares = np.stack([(taken == route).mean(axis=0) for route in range(routes)], axis=1)
        return _Played(taken, exact_loads, noisy, shares)

    def _costs(self, shares: Floats) -> Floats:
        empty, full = np.array([(route.empty, route.full) for route in self.routes]).T
        return empty + (full - empty) * shares


@dataclass(frozen=True, slots=True)
class _Played:
    taken: Integers
    loads: Integers
    noisy: Integers
    shares: Floats


def _drawn(weights: Floats, bits: RandomBits) -> Integers:
    """For each row an index in proportion to its weights. Privacy does not rest on these coins, which may be floats."""
    running = np.cumsum(weights, axis=1)
    uniform = (bits.words(len(weights), 64) >> np.uint64(11)) * 2.0**-53
    return (uniform[:, None] * running[:, -1:] >= running[:, :-1]).sum(axis=1)


def _read_detours(detours: object, routes: int) -> Floats:
    """One row a person, clamped to 0 and 1; what is no number is 1, so that nobody's row decides whether there is advice."""
    if type(detours) is not np.ndarray or detours.dtype.kind not in "iuf" or detours.ndim != 2:
        raise BadData("Detours are an array of numbers, a row for each person.", next_step="Give a numpy array.")
    if detours.shape[1] != routes or not len(detours):
        raise BadData("There is one detour for each route.", next_step="Give as many columns as there are routes.")
    return np.clip(np.nan_to_num(detours.astype(np.float64), nan=1.0), 0.0, 1.0)
