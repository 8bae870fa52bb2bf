"""The one place where exact tables meet noise: does what `measurer.py` says, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.exact import Number, exact, read_count
from discreet.core.loss import Neighbours
from discreet.errors import BadData, BadInput
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import GRID, CountQuery, Counts, Groups, Measured, MeasurementResult, SmallDatabase
from discreet.measurement.replay import Run
from discreet.measurement.run_budget import table_noise, whole_units
from discreet.measurement.small_databases import cells_at, largest_differences, length_of, sequences
from discreet.measurement.sparse_vector import StartedSparseVector, check_query, count_query_to_json
from discreet.measurement.transcript import about, measurements_in
from discreet.mechanisms import AboveThreshold, Exponential, Gaussian, Laplace, PureAdaptive
from discreet.mechanisms.additive.combinations import Combination
from discreet.mechanisms.choice.above_threshold import Watch
from discreet.noise import SYSTEM_BITS

if TYPE_CHECKING:
    from discreet.engines.tables.exact_tables import ExactTables

LARGEST_WEIGHT = 1_000
_LARGEST_ESTIMATE = 2**50
"""All cells together, times GRID: with weights, sums stay within 64 bits."""


@dataclass(frozen=True, slots=True, repr=False)
class Measuring:
    """The measurer of one domain of a run; its repr hides the tables."""

    domain: Domain
    _tables: ExactTables
    _run: Run
    _groups: Groups = field(default_factory=dict)

    def __repr__(self) -> str:
        return "Measuring(hidden)"

    @property
    def is_pure(self) -> bool:
        return isinstance(self._run.meter.budget, PureAdaptive)

    @property
    def budget(self) -> Fraction:
        return self._run.meter.budget.amount

    @property
    def left(self) -> Fraction:
        return self._run.meter.left

    @property
    def measurements(self) -> tuple[MeasurementResult, ...]:
        return measurements_in(self._run.steps)

    def shares(self, weights: Sequence[Number], *, of: Number | None = None) -> list[Fraction]:
        return self._run.meter.shares(weights, of=self.left if of is None else of)

    # Tables

    def noise(self, columns: Columns, share: Fraction) -> Gaussian | Laplace:
        return table_noise(self._run.meter.budget, self.domain, columns, share)

    def noisy(self, columns: Columns, mechanism: Gaussian | Laplace) -> Measured:
        self._check_noise(columns, mechanism)
        shape = self.domain.shape(columns)
        asked = about("table", paid=mechanism, columns=columns, groups=self._merged_among(columns), shape=shape)
        step = self._run.take_step(
            asked, mechanism=mechanism, draw=lambda: self._run.meter.draw(mechanism, self._exact(columns).reshape(-1))
        )
        return step.measured()

    def _merged_among(self, columns: Columns) -> dict[str, list[int]]:
        return {name: list(self._groups[name]) for name in columns if name in self._groups}

    def combined(self, columns: Columns, combination: Combination, mechanism: Gaussian | Laplace) -> Counts:
        self._check_combination(columns, combination, mechanism)
        groups, described = self._merged_among(columns), combination.described
        asked = about("combination", paid=mechanism, columns=columns, groups=groups, combination=described)

        def draw() -> Counts:
            whole = combination.combined(self._exact(columns).reshape(-1))
            return combination.after(self._run.meter.draw(mechanism, whole))

        return self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome

    def invariant(self, columns: Columns, combination: Combination) -> Counts:
        asked = about("invariant", paid=None, columns=columns, combination=combination.described)
        declared = self._run.invariant
        # Where a person comes or goes, no two neighbours agree on a sum, and nothing would be promised to anybody.
        if self.domain.neighbours is Neighbours.ADD_REMOVE or declared is None or asked != declared.asked:
            raise BadInput(
                "Only what the owner declares is published as it is.", next_step="Declare it in the catalog."
            )
        # Not of the rows of this run: those are chosen by whoever asks, and would make an exact count of anything.
        return self._run.take_step(
            asked, mechanism=None, draw=lambda: combination.combined(declared.counts().reshape(-1))
        ).outcome

    def _check_combination(self, columns: Columns, combination: Combination, mechanism: Gaussian | Laplace) -> None:
        reach, rows = combination.reach(self.domain.neighbours), self.domain.rows_per_person
        needed = rows**2 * (reach.squares if isinstance(mechanism, Gaussian) else reach.total**2)
        fits = isinstance(mechanism, Gaussian | Laplace) and exact(mechanism.sensitivity) ** 2 >= needed
        sizes = (self.domain.cells(self.domain.check(columns)), mechanism.size)
        if not fits or sizes != (combination.cells, combination.size):
            raise BadInput("This noise is not for this combination.", next_step="Plan a workload over this domain.")

    def _check_noise(self, columns: Columns, mechanism: Gaussian | Laplace) -> None:
        needed: Number = self.domain.l2 if isinstance(mechanism, Gaussian) else self.domain.l1
        fits = isinstance(mechanism, Gaussian | Laplace) and exact(mechanism.sensitivity) >= needed
        if not fits or mechanism.size != self.domain.cells(self.domain.check(columns)):
            raise BadInput("This noise is not for this table.", next_step="Make it with `noise`.")

    def _exact(self, columns: Columns) -> Counts:
        names = self.domain.names
        return self._tables.table(tuple(names.index(name) for name in columns))

    # One count

    def _exactly(self, query: CountQuery) -> int:
        return int(query.added_up(self._exact(query.columns)))

    def counted(self, query: CountQuery, mechanism: Gaussian | Laplace) -> int:
        check_query(query, self.domain)
        if exact(mechanism.sensitivity) < self.domain.count or mechanism.size != 1:
            raise BadInput("This noise is not for a count.", next_step="Make it with `count_noise`.")
        asked = about("count", paid=mechanism, question=count_query_to_json(query))

        def draw() -> Counts:
            return np.asarray(self._run.meter.draw(mechanism, np.array([self._exactly(query)], np.int64)))

        return int(self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome[0])

    # Choices

    def choice(self, weights: Iterable[int], share: Fraction) -> Exponential:
        listed = [read_count(weight, name="A weight", most=LARGEST_WEIGHT) for weight in weights]
        return Exponential(
            sensitivity=self._score_moves(max(listed)),
            epsilon=self._run.meter.budget.epsilon_of_choice(whole_units(share)),
            size=len(listed),
        )

    def _score_moves(self, weight: int) -> int:
        """How far one person moves GRID · w · (‖x − e‖₁ − b): the norm by at most as much as the table, up or down."""
        return GRID * weight * self.domain.l1

    def worst(
        self,
        estimates: Mapping[Columns, Counts],
        weights: Mapping[Columns, int],
        penalties: Mapping[Columns, int],
        mechanism: Exponential,
    ) -> Columns:
        candidates = tuple(estimates)
        self._check_scores(estimates, weights, penalties, mechanism)
        asked = about("choice", paid=mechanism, candidates=candidates)

        def draw() -> Counts:
            scores = [
                self._score(columns, estimates[columns], penalties[columns]) * weights[columns]
                for columns in candidates
            ]
            return np.array([self._run.meter.draw(mechanism, np.array(scores, np.int64))])

        return candidates[int(self._run.take_step(asked, mechanism=mechanism, draw=draw).outcome[0])]

    def _score(self, columns: Columns, estimate: Counts, penalty: int) -> int:
        return int(np.abs(GRID * self._exact(columns) - estimate).sum()) - penalty

    def _check_scores(
        self,
        estimates: Mapping[Columns, Counts],
        weights: Mapping[Columns, int],
        penalties: Mapping[Columns, int],
        mechanism: Exponential,
    ) -> None:
        """Public facts only: what earlier looks have led to."""
        if not estimates or not set(estimates) == set(weights) == set(penalties):
            raise BadInput("Every candidate has an estimate, a weight and a penalty.", next_step="Give all three.")
        for columns, estimate in estimates.items():
            read_count(weights[columns], name="A weight", most=LARGEST_WEIGHT)
            _check_integers(estimate, self.domain.shape(self.domain.check(columns)))
            if type(penalties[columns]) is not int or abs(penalties[columns]) > _LARGEST_ESTIMATE:
                raise BadInput("A penalty is a whole number.", next_step="Round it to the grid.")
        needed = self._score_moves(max(weights.values()))
        fits = isinstance(mechanism, Exponential) and not mechanism.monotone and mechanism.size == len(estimates)
        if not fits or exact(mechanism.sensitivity) < needed:
            raise BadInput("This choice is not among these candidates.", next_step="Make it with `choice`.")

    # Small databases

    def small_choice(self, length: int, share: Fraction) -> Exponential:
        return Exponential(
            sensitivity=self.domain.rows_per_person,
            epsilon=self._run.meter.budget.epsilon_of_choice(whole_units(share)),
            size=sequences(self.domain, length),
        )

    def small_database(self, tables: Sequence[Columns], rows_each: int, mechanism: Exponential) -> SmallDatabase:
        length = length_of(self.domain, mechanism.size)
        read_count(rows_each, name="rows_each", most=2**40)
        # A count of rows moves by at most the rows of a person, whatever the relation, and so does the largest difference.
        if mechanism.monotone or exact(mechanism.sensitivity) < self.domain.rows_per_person:
            raise BadInput("This choice is not among small databases.", next_step="Make it with `small_choice`.")
        asked = about(
            "small", paid=mechanism, tables=[self.domain.check(columns) for columns in tables], rows_each=rows_each
        )

        def draw() -> Counts:
            exactly = {columns: self._exact(columns) for columns in tables}
            chosen = self._run.meter.draw(mechanism, -largest_differences(self.domain, exactly, rows_each, length))
            return np.array(cells_at(self.domain, int(chosen), length))

        return self._run.take_step(asked, mechanism=mechanism, draw=draw).small_database()

    # The sparse vector

    def watch(self, mechanism: AboveThreshold) -> StartedSparseVector:
        moves = GRID * self.domain.count
        if mechanism.monotone or mechanism.positives != 1 or exact(mechanism.sensitivity) < moves:
            raise BadInput(
                "A watch of tables is not monotone, has one positive, and a sensitivity of GRID times the rows of a person.",
                next_step="Make it so.",
            )
        begun: dict[int, Watch] = {}

        def draw() -> Counts:
            name = int(SYSTEM_BITS.words(1, 64)[0] >> 1)
            begun[name] = self._run.meter.start(mechanism)
            return np.array([name])

        number = len(self._run.steps)
        step = self._run.take_step(about("watch", paid=mechanism), mechanism=mechanism, draw=draw)
        # Of two processes that began it, only the one whose step is stored may use its threshold: one was paid for.
        return StartedSparseVector(
            self._run, self.domain, self._exactly, number=number, watch=begun.get(int(step.outcome[0]))
        )

    # The same rows, with less to spend or with fewer codes

    def part(self, share: Fraction) -> Measuring:
        return Measuring(self.domain, self._tables, self._run.part(share), self._groups)

    def merged(self, groups: Groups) -> Measuring:
        coarser = self.domain.merged(groups)
        tables = self._tables.merged(tuple(groups.get(name) for name in self.domain.names))
        known = {
            name: tuple(range(column.size)) for name, column in zip(self.domain.names, self.domain.columns, strict=True)
        }
        both = {
            name: tuple(groups.get(name, known[name])[code] for code in self._groups.get(name, known[name]))
            for name in {*groups, *self._groups}
        }
        return Measuring(coarser, tables, self._run, both)


def _check_integers(values: Counts, shape: tuple[int, ...]) -> None:
    whole = isinstance(values, np.ndarray) and values.dtype == np.int64 and values.shape == shape
    if not whole or float(np.abs(values.astype(np.float64)).sum()) > _LARGEST_ESTIMATE:
        raise BadData("Estimates are int64 arrays of the table's shape.", next_step="Make them with `on_grid`.")
