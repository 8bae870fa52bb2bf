"""Private routing advice: a large game whose routes cost more with load, and nearly optimal advice.

In each round, each person's adviser weights routes by their past costs, computed from *noisy* loads, and draws one.
Loads are public, and each person sees only their own advice: everything that others see about a person is protected by
noise (joint differential privacy; Kearns, Pai, Roth, Ullman 2014, arXiv:1207.4084). All rounds together are a
correlated equilibrium up to the regret.
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
"""L2 sensitivity of loads: a person who changes route changes two loads by 1. √2, rounded up."""
_bits = SYSTEM_BITS


@dataclass(frozen=True, slots=True)
class Route:
    """The cost of a route, which is linear in its load.

    Args:
        empty: The cost if no one takes the route, from 0 to 1.
        full: The cost if everyone takes it, from `empty` to 1.
    """

    empty: float
    full: float

    def __post_init__(self) -> None:
        if finite(self.empty) is None or finite(self.full) is None or not 0 <= self.empty <= self.full <= 1:
            raise BadInput(
                "The costs of a route must satisfy 0 <= empty <= full <= 1.",
                next_step="Give, for example, Route(0.2, 0.9).",
            )


@dataclass(frozen=True, slots=True)
class Advice:
    """The result of all rounds.

    Args:
        loads: The noisy number of people advised to take each route in each round: public.
        shares: How often each person is advised to take each route: row i is for person i only.
    """

    loads: Integers
    shares: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Advice on routes for a number of rounds. The detours of each person are protected.

    Guarantee: (epsilon, delta) joint differential privacy, replace-one. Others see only the noisy loads of all rounds,
    which have L2 sensitivity √2 per round and are charged as one zCDP budget.

    Args:
        routes: The routes with their costs.
        rounds: The number of rounds.
        epsilon: The privacy loss of a person towards others, over all rounds.
        delta: The delta of this guarantee.
    """

    routes: Sequence[Route]
    rounds: int
    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        read_count(self.rounds, name="rounds", most=10**6)
        if len(self.routes) < 2:
            raise BadInput("There must be at least two routes.", next_step="Give two or more routes.")
        self.mechanism  # noqa: B018  refuses invalid parameters

    @property
    def mechanism(self) -> Gaussian:
        """The mechanism of one round. It is charged `rounds` times."""
        rho = exact(rho_of_epsilon(float(self.epsilon), delta=float(self.delta)))
        return Gaussian.for_rho(sensitivity=_ONE_MOVES, rho=rho / self.rounds, size=len(self.routes))

    def advise(self, detours: Floats, *, account: Account | None = None) -> Advice:
        """Run all rounds and return the advice.

        Args:
            detours: The cost of each route to each person in addition to its load, from 0 to 1: one row per person.
            account: The account to charge. Nothing is drawn if the charge is refused.
        """
        own, mechanism = _read_detours(detours, len(self.routes)), self.mechanism
        if account is not None:
            account.charge([mechanism] * self.rounds)
        played = self._play(own, lambda loads: mechanism.release(loads, _bits))
        return Advice(played.noisy, played.shares)

    def regrets(self, detours: Floats, *, noiseless: bool = False, bits: RandomBits = SYSTEM_BITS) -> Floats:
        """Return each person's regret per round against their best single route: exact, for analysis; never released.

        Args:
            detours: The cost of each route to each person in addition to its load.
            noiseless: Whether to omit the noise, for comparison.
            bits: The source of randomness; the system's unless a test replaces it.
        """
        mechanism, own = self.mechanism, _read_detours(detours, len(self.routes))
        noise: Callable[[Integers], Integers] = (lambda x: x) if noiseless else lambda x: mechanism.release(x, bits)
        played = self._play(own, noise, bits)
        people = len(own)
        paid, single = np.zeros(people), np.zeros(own.shape)
        for loads, taken in zip(played.loads, played.taken, strict=True):
            paid += self._costs(loads / people)[taken]
            alone = np.broadcast_to(loads + 1, own.shape).copy()  # moving to a route adds to its load
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
    """Draw an index per row in proportion to its weights. Privacy does not depend on these draws."""
    running = np.cumsum(weights, axis=1)
    uniform = (bits.words(len(weights), 64) >> np.uint64(11)) * 2.0**-53
    return (uniform[:, None] * running[:, -1:] >= running[:, :-1]).sum(axis=1)


def _read_detours(detours: object, routes: int) -> Floats:
    """Clamp detours to 0 and 1. NaN becomes 1, so that no person's row can make the game fail."""
    if type(detours) is not np.ndarray or detours.dtype.kind not in "iuf" or detours.ndim != 2:
        raise BadData(
            "Detours must be an array of numbers with one row per person.",
            next_step="Give a two-dimensional numpy array.",
        )
    if detours.shape[1] != routes or not len(detours):
        raise BadData(
            "Detours must have one column per route and at least one row.", next_step="Give one column per route."
        )
    return np.clip(np.nan_to_num(detours.astype(np.float64), nan=1.0), 0.0, 1.0)
