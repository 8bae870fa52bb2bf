"""The private PAC learner: the exponential mechanism chooses a hypothesis of a finite class with nearly the fewest
errors.

Classes are public, and every hypothesis is a function of one row of integers, so that errors are exact counts.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Self

import numpy as np

from discreet.accounting.in_memory_account import Account
from discreet.core.exact import Number, exact, read_epsilon, read_level
from discreet.core.loss import Loss, Neighbours, read_neighbours
from discreet.errors import BadData, BadInput, TooLarge
from discreet.learning.data.features import Category, Feature, is_numeric, middle, name_of
from discreet.learning.data.hypotheses import (
    GRID,
    Booleans,
    Hypotheses,
    Integers,
    conjunctions,
    halfspaces,
    own,
    stumps,
    thresholds,
)
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Floats
from discreet.learning.models.product_moments import label_name
from discreet.learning.runs.measurement_plan import NoisyMeasurement, Work
from discreet.learning.runs.model_card import LearnedNumber
from discreet.ledger.charges.release_json import mechanism_from_json_as
from discreet.measurement.domain import Column, Domain
from discreet.measurement.feature_vectors import Deciding, Score, SumMeasurer
from discreet.measurement.transcript import Transcript
from discreet.mechanisms import Exponential
from discreet.mechanisms.values.value_reading import read_items
from discreet.noise import SYSTEM_BITS

__all__ = ["GRID", "FiniteClass", "Hypotheses", "conjunctions", "halfspaces", "own", "stumps", "thresholds"]

MOST_ANSWERS, MOST_ANSWERS_OF_OWN = 2**31, 2**22
"""Hypotheses times cells, so that a run ends in time. Functions in Python take a microsecond per call."""
_ANSWER = 3e-9
"""Seconds per hypothesis and cell."""
_FARTHEST = 1 << 40
_CELLS = 1 << 24
_bits = SYSTEM_BITS


@dataclass(kw_only=True, eq=False, repr=False)
class FiniteClass(Classifier):
    """Learn which hypothesis of a finite class has the fewest errors on labelled rows.

    Guarantee: epsilon-DP, pure if the cost is an epsilon. One more person raises each number of errors by 0 or 1 (times
        the
    rows per person), so the scores are monotone, and add-remove neighbours need half the noise.
    Citation: Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2008 (arXiv:0803.0924); Sapienza slides, "Private PAC
        Learning".

    Args:
        hypotheses: The class: `conjunctions(5)`, `stumps(…)`, `thresholds(…)`, `halfspaces(…)` or `own(…)`.
        features: Columns that a hypothesis reads, in order: numbers unchanged, booleans as 1 or 0, other columns as 1
            or 0 for each value. Empty for rows in an array.
        neighbours: For rows in memory: whether a neighbour adds, removes or replaces a row.
    """

    hypotheses: Hypotheses
    features: Any = ()
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE
    chosen: int = field(default=-1, init=False)
    """Index of the learned hypothesis."""

    bins = 16

    def __post_init__(self) -> None:
        self.neighbours = read_neighbours(self.neighbours)
        if self.epsilon is not None:
            read_epsilon(self.epsilon)
        if self.features:
            super().__post_init__()

    # On protected rows, and on rows in memory with named columns

    def _settings(self) -> dict[str, Any]:
        return {"hypotheses": self.hypotheses.described}

    def described_for(self, domain: Domain) -> dict[str, Any]:
        """Identify a class of your own functions by their answers for every cell."""
        if self.hypotheses.described is not None:
            return self.described
        answers = hashlib.sha256(repr(self.hypotheses.names).encode())
        for block in self._blocks(domain):
            answers.update(np.packbits(self.hypotheses.evaluate(block)).tobytes())
        return {**self.described, "said": answers.hexdigest()}

    def check(self, domain: Domain) -> None:
        if domain.column(self.target).size != 2:
            raise BadInput("The target does not have two classes.", next_step="Name a target of two classes.")
        names = self._numbers_of(domain)[0]
        if len(names) != self.hypotheses.columns:
            raise BadInput(
                f"The features have {len(names)} numbers, but the hypotheses read {self.hypotheses.columns}.",
                next_step=f"Make the class for {len(names)}: {', '.join(names[:20])}.",
            )
        most = MOST_ANSWERS if self.hypotheses.described is not None else MOST_ANSWERS_OF_OWN
        if domain.cells(domain.check(domain.names)) * len(self.hypotheses) > most:
            raise TooLarge(
                "Evaluating these hypotheses on all cells would take too long.",
                next_step="Take fewer hypotheses, columns or bins.",
            )

    def work(self, domain: Domain) -> Work:
        return Work(len(domain.columns), _ANSWER * domain.cells(domain.names) * len(self.hypotheses))

    def measurements(self, measurer: SumMeasurer) -> list[NoisyMeasurement[Exponential]]:
        return [NoisyMeasurement("hypothesis", 1, measurer.error_choice(len(self.hypotheses), measurer.left))]

    def measure(self, measurer: SumMeasurer) -> None:
        (planned,) = self.measurements(measurer)
        _, tables = self._numbers_of(measurer.domain)

        def evaluate(codes: Integers) -> Booleans:
            return self.hypotheses.evaluate(_vectors(tables, codes))

        class_of = hashlib.sha256(repr(self.hypotheses.described or self.hypotheses.names).encode()).hexdigest()
        measurer.fewest_errors(evaluate, self.target, class_of, planned.noise)

    def conclude(self, _domain: Domain, transcript: Transcript) -> None:
        self.chosen = int(transcript.steps[0].outcome[0])

    def _numbers_of(self, domain: Domain) -> tuple[list[str], list[Integers]]:
        """Return the names of a row's numbers, and for each feature the numbers of each code, in steps of 1/GRID."""
        parts = [_numbers(feature, domain.column(name_of(feature))) for feature in self.features]
        return [name for names, _ in parts for name in names], [table for _, table in parts]

    def _blocks(self, domain: Domain) -> list[Integers]:
        """Return the numbers of every cell of the features, in blocks."""
        shape = tuple(domain.column(name_of(feature)).size for feature in self.features)
        codes = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=1)
        _, tables = self._numbers_of(domain)
        size = max(1, _CELLS // len(self.hypotheses))
        return [_vectors(tables, codes[at : at + size]) for at in range(0, len(codes), size)]

    def deciding(self) -> Deciding:
        contributions = self.hypotheses.contributions
        if contributions is None:
            raise BadInput(
                "A function of your own cannot be evaluated on protected rows.",
                next_step="Use conjunctions, stumps or halfspaces.",
            )
        _, tables = self._numbers_of(self.domain)
        entries, start = {}, 0
        for at, table in enumerate(tables):
            rows = np.zeros((len(table), self.hypotheses.columns), np.int64)
            own = slice(start, start + table.shape[1])
            rows[:, own] = table
            parts, constant = contributions(self.chosen, rows)
            entries[at] = tuple(int(2 * part) for part in parts[:, own].sum(axis=1))
            start += table.shape[1]
        none = Score({at: (0,) * len(column) for at, column in entries.items()})
        return Deciding(2, (none, Score(entries, 2 * constant + 1)))  # a tie is a yes

    # On rows in an array

    def fit(
        self,
        rows: Any,
        y: Any = None,
        *,
        account: Account | None = None,
        neighbours: Neighbours | None = None,
    ) -> Self:
        """Learn from rows in memory, one row per person.

        Args:
            rows: With features, in a form that other models read. Without, an array of numbers, which are rounded down
                to multiples of 1/1024; a missing number is 0.
            y: The label of each row: a yes is True or 1, or with features the second class.
            account: Charged before any noise is drawn. Without it nothing is charged.
            neighbours: What a neighbour changes, if it differs from the model's own.
        """
        self.neighbours = read_neighbours(neighbours or self.neighbours)
        if self.features:
            return super().fit(rows, y, account=account, neighbours=self.neighbours)
        steps, yes = _on_grid(rows, self.hypotheses.columns), _labels(y)
        if len(steps) != len(yes):
            raise BadData("Rows and labels differ in number.", next_step="Give one label for each row.")
        mechanism = self.mechanism
        if account is not None:
            account.charge([mechanism])
        self.chosen = mechanism.release(-self._errors(steps, yes), _bits)
        return self

    def _errors(self, steps: Integers, yes: Booleans) -> Integers:
        """Count the errors of each hypothesis; equal rows are evaluated once."""
        labelled = np.concatenate([steps, yes[:, None].astype(np.int64)], axis=1)
        distinct, times = _distinct(labelled)
        errors = np.zeros(len(self.hypotheses), np.int64)
        block = max(1, _CELLS // len(self.hypotheses))
        for start in range(0, len(distinct), block):
            part = slice(start, start + block)
            wrong = self.hypotheses.evaluate(distinct[part, :-1]) != (distinct[part, -1:] == 1)
            errors += times[part] @ wrong
        return errors

    # What was learned

    @property
    def mechanism(self) -> Exponential:
        """The mechanism that is charged and chooses."""
        if self.has_learned:
            return mechanism_from_json_as(Exponential, self.transcript.steps[0].about["paid"])
        monotone = self.neighbours is Neighbours.ADD_REMOVE
        epsilon = read_epsilon(self.epsilon)
        return Exponential(sensitivity=1, epsilon=epsilon, size=len(self.hypotheses), monotone=monotone)

    @property
    def loss(self) -> Loss:
        """Privacy cost."""
        return super().loss if self.has_learned else Loss(self.mechanism.pure_epsilon)

    @property
    def name(self) -> str:
        """Name of the learned hypothesis, with column names if they are known."""
        if self.chosen < 0:
            raise BadInput("Nothing is learned yet.", next_step="Call fit first.")
        name = self.hypotheses.names[self.chosen]
        if not self.has_learned or self.hypotheses.described is None:
            return name
        columns = self._numbers_of(self.domain)[0]
        return re.sub(r"\bx(\d+)\b", lambda found: columns[int(found[1])], name)

    @property
    def learned(self) -> list[LearnedNumber]:
        return [LearnedNumber(f"errors of ({self.name}) above the fewest", float(self.errors_above(0.95)), 0.0)]

    @property
    def remarks(self) -> list[str]:
        return ["in 95 of 100 releases the hypothesis has at most this many more errors than the best of its class"]

    def predict_proba(self, rows: Any) -> Floats:
        yes = self._answers(rows)
        return np.stack([~yes, yes], axis=1).astype(np.float64)

    def predict(self, rows: Any) -> Any:
        """Predict each row: its class with features, yes or no without.

        Args:
            rows: As `fit` takes them.
        """
        return super().predict(rows) if self.has_learned else self._answers(rows)

    def _answers(self, rows: Any) -> Booleans:
        self.name  # noqa: B018  raises if nothing has been learned
        if self.has_learned:
            steps = _vectors(self._numbers_of(self.domain)[1], np.maximum(self.codes(rows), 0))
        else:
            steps = _on_grid(rows, self.hypotheses.columns)
        block = max(1, _CELLS // len(self.hypotheses))
        parts = [self.hypotheses.evaluate(steps[at : at + block])[:, self.chosen] for at in range(0, len(steps), block)]
        return np.concatenate(parts) if parts else np.zeros(0, bool)

    def errors_above(self, confidence: Number) -> int:
        """Return a bound on the number of errors above the best hypothesis of the class.

        Args:
            confidence: Share of releases in which it holds, such as 0.95.
        """
        return self.mechanism.error(confidence)

    def n_needed(self, alpha: Number, beta: Number, epsilon: Number | None = None) -> int:
        """Return a sufficient number of people for an error of at most `alpha` with probability 1 - `beta`, if some
        hypothesis never errs.

        max(8 ln(2|C|/beta)/alpha, 4 (ln|C| + ln(2/beta))/(alpha epsilon)), with 2 instead of 4 for add-remove
        neighbours (`docs/how-to/learn-models.md`).

        Args:
            alpha: Error on new people.
            beta: Probability that it is exceeded.
            epsilon: If it differs from the model's own.
        """
        error, failing = float(read_level(alpha, name="alpha")), float(read_level(beta, name="beta"))
        price = float(read_epsilon(self.epsilon if epsilon is None else epsilon))
        size = len(self.hypotheses)
        factor = 2 if self.neighbours is Neighbours.ADD_REMOVE else 4
        sampling = 8 * math.log(2 * size / failing) / error
        privacy = factor * (math.log(size) + math.log(2 / failing)) / (error * price)
        return math.ceil(max(sampling, privacy))

    def n_on_the_slide(self, alpha: Number, epsilon: Number | None = None) -> int:
        """Return 2 ln|C|/alpha² + ln|C|/(4 alpha epsilon), the number on the lecture's slide.

        It is not sufficient: the proof gives 4 where the slide has 1/4.

        Args:
            alpha: Error on new people.
            epsilon: If it differs from the model's own.
        """
        error = float(read_level(alpha, name="alpha"))
        price = float(read_epsilon(self.epsilon if epsilon is None else epsilon))
        size = math.log(len(self.hypotheses))
        return math.ceil(2 * size / error**2 + size / (4 * error * price))

    def __repr__(self) -> str:
        known = f"learned: {self.name}" if self.chosen >= 0 else "nothing learned yet"
        price = "" if self.epsilon is None else f", ε {float(exact(self.epsilon)):.4g}"
        return f"FiniteClass of {len(self.hypotheses):,} hypotheses{price}; {known}"


def _numbers(feature: Feature, column: Column) -> tuple[list[str], Integers]:
    """Return the names of a feature's numbers, and the numbers of each code.

    A numeric or boolean column has one number, another column one per value.
    """
    labels = [label for label in column.labels if label is not None]
    if is_numeric(column) and not isinstance(feature, Category):
        whole = [0 if label is None else math.floor(middle(label) * GRID) for label in column.labels]
        steps = [max(-_FARTHEST, min(step, _FARTHEST)) for step in whole]
        return [column.name], np.array([steps], np.int64).T
    if all(isinstance(label, bool) for label in labels):
        return [column.name], np.array([[GRID * (label is True)] for label in column.labels], np.int64)
    cells = [[GRID * (label == value) for value in labels] for label in column.labels]
    return [label_name(column.name, value) for value in labels], np.array(cells, np.int64)


def _vectors(tables: list[Integers], codes: Integers) -> Integers:
    """Return the numbers of each row of codes."""
    return np.concatenate([table[codes[:, at]] for at, table in enumerate(tables)], axis=1)


def _on_grid(rows: Any, columns: int) -> Integers:
    """Round numbers down to steps of 1/GRID. The steps of a row depend on that row alone."""
    if type(rows) is not np.ndarray or rows.dtype.kind not in "biuf" or rows.ndim != 2 or rows.shape[1] != columns:
        raise BadData(
            f"Rows are not an array of numbers with {columns} columns.",
            next_step="Give a numpy array with one row per person.",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.floor(np.nan_to_num(rows.astype(np.float64), nan=0.0) * GRID)
    return np.clip(scaled, -_FARTHEST, _FARTHEST).astype(np.int64)


def _labels(y: Any) -> Booleans:
    """Read labels one by one: True and 1 are a yes. One label must not change how another is read."""
    return np.array([isinstance(label, Real | np.bool_) and label == 1 for label in read_items(y)], bool)


def _distinct(rows: Integers) -> tuple[Integers, Integers]:
    """Return the distinct rows, and how often each occurs."""
    if not len(rows):
        return rows, np.zeros(0, np.int64)
    least = rows.min(axis=0)
    spans = [int(span) + 1 for span in np.ptp(rows, axis=0)]
    if math.prod(spans) >= 1 << 62:
        distinct, times = np.unique(rows, axis=0, return_counts=True)
        return distinct, times
    # Encode each row as one number: sorting numbers is many times faster than sorting rows.
    numbers = np.zeros(len(rows), np.int64)
    for column, span in enumerate(spans):
        numbers = numbers * span + (rows[:, column] - least[column])
    _, first, times = np.unique(numbers, return_index=True, return_counts=True)
    return rows[first], times
