"""The private PAC learner: the hypothesis of a finite class that errs least, nearly, chosen by the exponential mechanism.

Classes are public, and every hypothesis is a function of one row in whole numbers: how often each errs are exact counts.
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
from discreet.learning.runs.measurement_plan import NoisyLook, Work
from discreet.learning.runs.model_card import Learned
from discreet.ledger.charges.release_json import mechanism_from_json_as
from discreet.measurement.domain import Column, Domain
from discreet.measurement.feature_vectors import Deciding, Score, SumMeasurer
from discreet.measurement.transcript import Transcript
from discreet.mechanisms import Exponential
from discreet.mechanisms.values.value_reading import read_items
from discreet.noise import SYSTEM_BITS

__all__ = ["GRID", "FiniteClass", "Hypotheses", "conjunctions", "halfspaces", "own", "stumps", "thresholds"]

MOST_ANSWERS, MOST_ANSWERS_OF_OWN = 2**31, 2**22
"""Of all hypotheses about all cells that there can be: within the time that a run is given. Functions of one's own take a microsecond each."""
_ANSWER = 3e-9
"""Seconds for one of them."""
_FARTHEST = 1 << 40
_CELLS = 1 << 24
_bits = SYSTEM_BITS


@dataclass(kw_only=True, eq=False, repr=False)
class FiniteClass(Classifier):
    """Learn which hypothesis of a finite class errs least on labelled rows. Pure where it is paid for in epsilon.

    Guarantee: epsilon-DP. One person more raises all numbers of errors by 0 or 1 (times the rows of a person), so they are monotone, and
    add-remove needs half the noise.
    Citation: Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2008 (arXiv:0803.0924); Sapienza slides, "Private PAC Learning".

    Args:
        hypotheses: The class: `conjunctions(5)`, `stumps(…)`, `thresholds(…)`, `halfspaces(…)` or `own(…)`.
        features: Whose numbers a hypothesis sees, in order: a number as it is, yes or no as 1 or 0, of other columns 1 or 0 for each value. None
            for rows at hand in an array.
        neighbours: Of rows at hand: a row that comes or goes, or one that is replaced.
    """

    hypotheses: Hypotheses
    features: Any = ()
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE
    chosen: int = field(default=-1, init=False)
    """Which hypothesis was learned."""

    bins = 16

    def __post_init__(self) -> None:
        self.neighbours = read_neighbours(self.neighbours)
        if self.epsilon is not None:
            read_epsilon(self.epsilon)
        if self.features:
            super().__post_init__()

    # On protected rows, and on rows at hand by the names of columns

    def _settings(self) -> dict[str, Any]:
        return {"hypotheses": self.hypotheses.described}

    def described_for(self, domain: Domain) -> dict[str, Any]:
        """Functions of one's own are known by what they say of every cell."""
        if self.hypotheses.described is not None:
            return self.described
        said = hashlib.sha256(repr(self.hypotheses.names).encode())
        for block in self._blocks(domain):
            said.update(np.packbits(self.hypotheses.says(block)).tobytes())
        return {**self.described, "said": said.hexdigest()}

    def check(self, domain: Domain) -> None:
        if domain.column(self.target).size != 2:
            raise BadInput("A hypothesis says yes or no.", next_step="Name a target of two classes.")
        names = self._numbers_of(domain)[0]
        if len(names) != self.hypotheses.columns:
            raise BadInput(
                f"These features have {len(names)} numbers, and the hypotheses are about {self.hypotheses.columns}.",
                next_step=f"Make the class for {len(names)}: {', '.join(names[:20])}.",
            )
        most = MOST_ANSWERS if self.hypotheses.described is not None else MOST_ANSWERS_OF_OWN
        if domain.cells(domain.check(domain.names)) * len(self.hypotheses) > most:
            raise TooLarge(
                "So many hypotheses about so many cells would take too long.",
                next_step="Take fewer hypotheses, columns or bins.",
            )

    def work(self, domain: Domain) -> Work:
        return Work(len(domain.columns), _ANSWER * domain.cells(domain.names) * len(self.hypotheses))

    def looks(self, measurer: SumMeasurer) -> list[NoisyLook[Exponential]]:
        return [NoisyLook("hypothesis", 1, measurer.error_choice(len(self.hypotheses), measurer.left))]

    def measure(self, measurer: SumMeasurer) -> None:
        (look,) = self.looks(measurer)
        _, tables = self._numbers_of(measurer.domain)

        def says(codes: Integers) -> Booleans:
            return self.hypotheses.says(_vectors(tables, codes))

        class_of = hashlib.sha256(repr(self.hypotheses.described or self.hypotheses.names).encode()).hexdigest()
        measurer.fewest_errors(says, self.target, class_of, look.noise)

    def conclude(self, _domain: Domain, transcript: Transcript) -> None:
        self.chosen = int(transcript.steps[0].outcome[0])

    def _numbers_of(self, domain: Domain) -> tuple[list[str], list[Integers]]:
        """What the numbers of a row are called, and for each feature those of each code, in steps of 1/GRID."""
        parts = [_numbers(feature, domain.column(name_of(feature))) for feature in self.features]
        return [name for names, _ in parts for name in names], [table for _, table in parts]

    def _blocks(self, domain: Domain) -> list[Integers]:
        """The numbers of every cell of the features."""
        shape = tuple(domain.column(name_of(feature)).size for feature in self.features)
        codes = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=1)
        _, tables = self._numbers_of(domain)
        size = max(1, _CELLS // len(self.hypotheses))
        return [_vectors(tables, codes[at : at + size]) for at in range(0, len(codes), size)]

    def deciding(self) -> Deciding:
        added = self.hypotheses.added
        if added is None:
            raise BadInput(
                "A hypothesis of your own is not evaluated here.", next_step="Use conjunctions, stumps or halfspaces."
            )
        _, tables = self._numbers_of(self.domain)
        entries, start = {}, 0
        for at, table in enumerate(tables):
            rows = np.zeros((len(table), self.hypotheses.columns), np.int64)
            places = slice(start, start + table.shape[1])
            rows[:, places] = table
            parts, constant = added(self.chosen, rows)
            entries[at] = tuple(int(2 * part) for part in parts[:, places].sum(axis=1))
            start += table.shape[1]
        none = Score({at: (0,) * len(column) for at, column in entries.items()})
        return Deciding(2, (none, Score(entries, 2 * constant + 1)))  # a tie is a yes

    # On rows at hand in an array

    def fit(
        self,
        rows: Any,
        y: Any = None,
        *,
        account: Account | None = None,
        neighbours: Neighbours | None = None,
    ) -> Self:
        """Learn from rows at hand, one row a person.

        Args:
            rows: With features as other models take them; without, an array of numbers, put on a grid of 1/1024; what is no number is 0.
            y: Whether each row is a yes: True and 1 are, or with features the second class.
            account: What pays for it; nothing is drawn unless it does.
            neighbours: What a person changes, where it is not said already.
        """
        self.neighbours = read_neighbours(neighbours or self.neighbours)
        if self.features:
            return super().fit(rows, y, account=account, neighbours=self.neighbours)
        steps, yes = _on_grid(rows, self.hypotheses.columns), _labels(y)
        if len(steps) != len(yes):
            raise BadData("There is one label for each row.", next_step="Give as many labels as rows.")
        mechanism = self.mechanism
        if account is not None:
            account.charge([mechanism])
        self.chosen = mechanism.release(-self._errors(steps, yes), _bits)
        return self

    def _errors(self, steps: Integers, yes: Booleans) -> Integers:
        """How often each hypothesis errs, with equal rows looked at once."""
        labelled = np.concatenate([steps, yes[:, None].astype(np.int64)], axis=1)
        distinct, times = _distinct(labelled)
        errors = np.zeros(len(self.hypotheses), np.int64)
        block = max(1, _CELLS // len(self.hypotheses))
        for start in range(0, len(distinct), block):
            part = slice(start, start + block)
            wrong = self.hypotheses.says(distinct[part, :-1]) != (distinct[part, -1:] == 1)
            errors += times[part] @ wrong
        return errors

    # What was learned

    @property
    def mechanism(self) -> Exponential:
        """What is charged and drawn."""
        if self.has_learned:
            return mechanism_from_json_as(Exponential, self.transcript.steps[0].about["paid"])
        monotone = self.neighbours is Neighbours.ADD_REMOVE
        epsilon = read_epsilon(self.epsilon)
        return Exponential(sensitivity=1, epsilon=epsilon, size=len(self.hypotheses), monotone=monotone)

    @property
    def loss(self) -> Loss:
        """What learning costs."""
        return super().loss if self.has_learned else Loss(self.mechanism.pure_epsilon)

    @property
    def name(self) -> str:
        """Of the hypothesis that was learned, with the names of columns where they are known."""
        if self.chosen < 0:
            raise BadInput("Nothing is learned yet.", next_step="Call fit first.")
        name = self.hypotheses.names[self.chosen]
        if not self.has_learned or self.hypotheses.described is None:
            return name
        columns = self._numbers_of(self.domain)[0]
        return re.sub(r"\bx(\d+)\b", lambda place: columns[int(place[1])], name)

    @property
    def learned(self) -> list[Learned]:
        return [Learned(f"errors of ({self.name}) above the fewest", float(self.errors_above(0.95)), 0.0)]

    @property
    def remarks(self) -> list[str]:
        return ["in 95 of 100 releases the hypothesis errs on at most so many rows more than the best of its class"]

    def predict_proba(self, rows: Any) -> Floats:
        yes = self._says(rows)
        return np.stack([~yes, yes], axis=1).astype(np.float64)

    def predict(self, rows: Any) -> Any:
        """What the hypothesis says of each row: a class with features, yes or no without.

        Args:
            rows: As `fit` takes them.
        """
        return super().predict(rows) if self.has_learned else self._says(rows)

    def _says(self, rows: Any) -> Booleans:
        self.name  # noqa: B018  refuses if nothing is learned
        if self.has_learned:
            steps = _vectors(self._numbers_of(self.domain)[1], np.maximum(self.codes(rows), 0))
        else:
            steps = _on_grid(rows, self.hypotheses.columns)
        block = max(1, _CELLS // len(self.hypotheses))
        parts = [self.hypotheses.says(steps[at : at + block])[:, self.chosen] for at in range(0, len(steps), block)]
        return np.concatenate(parts) if parts else np.zeros(0, bool)

    def errors_above(self, confidence: Number) -> int:
        """The hypothesis errs on at most this many rows more than the best of the class, in `confidence` of all releases.

        Args:
            confidence: In which share, such as 0.95.
        """
        return self.mechanism.error(confidence)

    def n_needed(self, alpha: Number, beta: Number, epsilon: Number | None = None) -> int:
        """How many people are enough for an error of at most `alpha` in 1 - `beta` of all runs, if some hypothesis never errs.

        max(8 ln(2|C|/beta)/alpha, 4 (ln|C| + ln(2/beta))/(alpha epsilon)), with 2 in place of the 4 under add-remove
        (`docs/how-to/learn-models.md`).

        Args:
            alpha: The error on people who are yet to come.
            beta: In which share of runs it may be exceeded.
            epsilon: Another one than that of the learner.
        """
        error, failing = float(read_level(alpha, name="alpha")), float(read_level(beta, name="beta"))
        price = float(read_epsilon(self.epsilon if epsilon is None else epsilon))
        size = len(self.hypotheses)
        factor = 2 if self.neighbours is Neighbours.ADD_REMOVE else 4
        sampling = 8 * math.log(2 * size / failing) / error
        privacy = factor * (math.log(size) + math.log(2 / failing)) / (error * price)
        return math.ceil(max(sampling, privacy))

    def n_on_the_slide(self, alpha: Number, epsilon: Number | None = None) -> int:
        """2 ln|C|/alpha² + ln|C|/(4 alpha epsilon), as the lecture has it: its proof gives 4 where it writes 1/4, and it is not enough.

        Args:
            alpha: The error on people who are yet to come.
            epsilon: Another one than that of the learner.
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
    """What the numbers of a feature are called, and those of each code: one for numbers and for yes or no, else one for each value."""
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
    """The numbers of each row of codes."""
    return np.concatenate([table[codes[:, at]] for at, table in enumerate(tables)], axis=1)


def _on_grid(rows: Any, columns: int) -> Integers:
    """Numbers in steps of 1/GRID, rounded down; a row's steps depend on that row alone."""
    if type(rows) is not np.ndarray or rows.dtype.kind not in "biuf" or rows.ndim != 2 or rows.shape[1] != columns:
        raise BadData(
            f"Rows are an array of numbers with {columns} columns.", next_step="Give a numpy array, a row a person."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.floor(np.nan_to_num(rows.astype(np.float64), nan=0.0) * GRID)
    return np.clip(scaled, -_FARTHEST, _FARTHEST).astype(np.int64)


def _labels(y: Any) -> Booleans:
    """True and 1, one by one: nobody's label decides how another's is read."""
    return np.array([isinstance(label, Real | np.bool_) and label == 1 for label in read_items(y)], bool)


def _distinct(rows: Integers) -> tuple[Integers, Integers]:
    """Each row once, and how often it is there."""
    if not len(rows):
        return rows, np.zeros(0, np.int64)
    least = rows.min(axis=0)
    spans = [int(span) + 1 for span in np.ptp(rows, axis=0)]
    if math.prod(spans) >= 1 << 62:
        distinct, times = np.unique(rows, axis=0, return_counts=True)
        return distinct, times
    # A row as one number: sorting those is many times faster.
    numbers = np.zeros(len(rows), np.int64)
    for column, span in enumerate(spans):
        numbers = numbers * span + (rows[:, column] - least[column])
    _, first, times = np.unique(numbers, return_index=True, return_counts=True)
    return rows[first], times
