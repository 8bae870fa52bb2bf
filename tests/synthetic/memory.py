"""A measurer over rows in memory, with the exact noise of our mechanisms and a real meter: for tests and benchmarks of methods."""

import math

import numpy as np

from discreet.answering.domain import Column, Domain
from discreet.answering.measurer import GRID, Chosen, Measured, SmallDatabase
from discreet.answering.small import cells_at, largest_differences, length_of, sequences
from discreet.loss import Neighbours
from discreet.mechanisms import Exponential, Gaussian, Laplace
from discreet.mechanisms.adaptive import Adaptive, Meter, PureAdaptive
from discreet.noise import SYSTEM_BITS


def domain_of(sizes, *, ordered=(), rows_per_person=1, neighbours=Neighbours.ADD_REMOVE):
    """Columns a, b, … (or the names of a mapping) with so many codes."""
    named = sizes if isinstance(sizes, dict) else dict(zip("abcdefghijklmnop", sizes, strict=False))
    columns = tuple(Column(name, tuple(range(size)), name in ordered) for name, size in named.items())
    return Domain(columns, rows_per_person, neighbours)


class InMemory:
    def __init__(self, domain, rows, *, rho=None, epsilon=None, bits=SYSTEM_BITS, shared=None):
        self.domain, self._rows = domain, np.asarray(rows, np.int64)
        self.is_pure = epsilon is not None
        budget = PureAdaptive(epsilon=epsilon) if self.is_pure else rho and Adaptive(rho=rho)
        self._meter, self._looks, self._groups, self.asked = shared or (Meter(budget, bits), [], {}, [])
        self._exact = {}

    budget = property(lambda self: self._meter.budget.amount)
    left = property(lambda self: self._meter.left)
    looks = property(lambda self: tuple(self._looks))

    def merged(self, groups):
        rows = self._rows.copy()
        for place, name in enumerate(self.domain.names):
            if name in groups:
                rows[:, place] = np.array(groups[name])[rows[:, place]]
        coarse = InMemory(self.domain.merged(groups), rows, shared=(self._meter, self._looks, groups, self.asked))
        coarse.is_pure = self.is_pure
        return coarse

    def shares(self, weights, *, of=None):
        return self._meter.shares(weights, of=self.left if of is None else of)

    def noise(self, columns, share):
        size = self.domain.cells(columns)
        if self.is_pure:
            return Laplace(sensitivity=self.domain.l1, epsilon=share, size=size)
        return Gaussian.for_rho(sensitivity=self.domain.l2, rho=share, size=size)

    def exact(self, columns):
        if columns not in self._exact:
            shape = self.domain.shape(columns)
            places = [self.domain.names.index(name) for name in columns]
            codes = (
                np.ravel_multi_index(tuple(self._rows[:, places].T), shape)
                if columns
                else np.zeros(len(self._rows), int)
            )
            self._exact[columns] = np.bincount(codes, minlength=math.prod(shape)).reshape(shape)
        return self._exact[columns]

    def noisy(self, columns, mechanism):
        values = np.asarray(self._meter.draw(mechanism, self.exact(columns).ravel())).reshape(
            self.domain.shape(columns)
        )
        groups = {name: self._groups[name] for name in columns if name in self._groups}
        self._looks.append(Measured(columns, values, mechanism, groups))
        return self._looks[-1]

    def choice(self, weights, share):
        weights = list(weights)
        return Exponential(
            sensitivity=GRID * max(weights) * self.domain.l1,
            epsilon=self._meter.budget.epsilon_of_choice(share),
            size=len(weights),
        )

    def worst(self, estimates, weights, penalties, mechanism):
        scores = np.array(
            [
                weights[name] * (int(np.abs(GRID * self.exact(name) - estimate).sum()) - penalties[name])
                for name, estimate in estimates.items()
            ]
        )
        names = tuple(estimates)
        self.asked.append((estimates, weights, penalties))
        chosen = names[self._meter.draw(mechanism, scores)]
        self._looks.append(Chosen(chosen, names, mechanism))
        return chosen

    def small_choice(self, length, share):
        return Exponential(
            sensitivity=self.domain.rows_per_person,
            epsilon=self._meter.budget.epsilon_of_choice(share),
            size=sequences(self.domain, length),
        )

    def small_database(self, tables, rows_each, mechanism):
        length = length_of(self.domain, mechanism.size)
        scores = -largest_differences(self.domain, {name: self.exact(name) for name in tables}, rows_each, length)
        cells = tuple(cells_at(self.domain, self._meter.draw(mechanism, scores), length))
        self._looks.append(SmallDatabase(cells, rows_each, mechanism))
        return self._looks[-1]
