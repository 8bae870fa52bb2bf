"""The private PAC learner: the hypothesis of a finite class that errs least, nearly, chosen by the exponential mechanism.

Classes are public, and every hypothesis is a function of one row in whole numbers: how often each errs are exact counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadData, BadInput
from discreet.exact import Number, exact, finite, read_count, read_epsilon, read_level
from discreet.loss import Loss, Neighbours, read_neighbours
from discreet.mechanisms import Exponential
from discreet.mechanisms.bounded import Account
from discreet.mechanisms.reading import read_items
from discreet.noise import SYSTEM_BITS
from discreet.noise.choice import MOST_CANDIDATES

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
GRID = 1 << 10
"""Numbers are put on so many steps of 1, from -GRID to GRID times GRID."""
_FARTHEST = 1 << 40
_CELLS = 1 << 24
_bits = SYSTEM_BITS


@dataclass(frozen=True, slots=True, eq=False)
class Hypotheses:
    """A finite class of functions from a row to yes or no.

    Args:
        names: One a function, public.
        columns: How many numbers a row has.
        says: From rows of whole numbers (in steps of 1/`GRID`) to an array with a row each and a column for each function.
    """

    names: tuple[str, ...]
    columns: int
    says: Callable[[Integers], Booleans]

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= MOST_CANDIDATES:
            raise BadInput("A class has from 1 to 2**24 hypotheses.", next_step="Take fewer columns or a coarser grid.")

    def __len__(self) -> int:
        return len(self.names)


def conjunctions(columns: int) -> Hypotheses:
    """All ANDs of columns of 0 and 1, each of them required, required not, or left out: 3**columns.

    Args:
        columns: How many, at most 10.
    """
    count = read_count(columns, name="columns", most=10)
    forms = list(itertools.product((None, True, False), repeat=count))
    names = [
        " and ".join(("" if wanted else "not ") + f"x{at}" for at, wanted in enumerate(form) if wanted is not None)
        for form in forms
    ]

    def says(rows: Integers) -> Booleans:
        yes = rows == GRID
        answers = np.ones((len(rows), len(forms)), bool)
        for place, form in enumerate(forms):
            for at, wanted in enumerate(form):
                if wanted is not None:
                    answers[:, place] &= yes[:, at] == wanted
        return answers

    return Hypotheses(tuple(name or "always" for name in names), count, says)


def thresholds(points: Sequence[Number]) -> Hypotheses:
    """x0 >= t for each of some points, of one column.

    Args:
        points: From public knowledge.
    """
    return stumps(1, points, both=False)


def stumps(columns: int, points: Sequence[Number], *, both: bool = True) -> Hypotheses:
    """Column >= t, and column < t with `both`, for each column and each of some points.

    Args:
        columns: How many.
        points: From public knowledge.
        both: Whether the other direction is in the class too.
    """
    count = read_count(columns, name="columns", most=10_000)
    at = [_step(point) for point in points]
    signs = (True, False) if both else (True,)
    forms = [(column, step, sign) for column in range(count) for step in at for sign in signs]
    names = [f"x{column} {'>=' if sign else '<'} {step / GRID:g}" for column, step, sign in forms]
    places, steps = np.array([form[0] for form in forms], np.int64), np.array([form[1] for form in forms], np.int64)
    wanted = np.array([form[2] for form in forms], bool)
    return Hypotheses(tuple(names), count, lambda rows: (rows[:, places] >= steps) == wanted)


def halfspaces(columns: int, *, weights: int, offsets: Sequence[Number]) -> Hypotheses:
    """All of w · x >= t, for whole weights from -`weights` to `weights`, not all 0, and some offsets t.

    Args:
        columns: How many.
        weights: The largest weight.
        offsets: From public knowledge.
    """
    count, most = read_count(columns, name="columns", most=16), read_count(weights, name="weights", most=100)
    if (2 * most + 1) ** count * len(offsets) > MOST_CANDIDATES:
        raise BadInput("These are too many halfspaces.", next_step="Take fewer columns, weights or offsets.")
    all_weights = [w for w in itertools.product(range(-most, most + 1), repeat=count) if any(w)]
    steps = [_step(offset) for offset in offsets]
    matrix = np.array(all_weights, np.int64).T
    names = [f"{w} · x >= {step / GRID:g}" for w in all_weights for step in steps]

    def says(rows: Integers) -> Booleans:
        sums = rows @ matrix  # whole numbers: exact, in whatever order they are added
        return (sums[:, :, None] >= np.array(steps)).reshape(len(rows), -1)

    return Hypotheses(tuple(names), count, says)


def own(columns: int, functions: dict[str, Callable[[tuple[float, ...]], bool]]) -> Hypotheses:
    """A class of one's own. Each function sees one row at a time; what it does not answer with True is a no.

    Args:
        columns: How many numbers a row has.
        functions: By name. They must not look at anything but the row.
    """
    count = read_count(columns, name="columns", most=10_000)

    def says(rows: Integers) -> Booleans:
        answers = np.zeros((len(rows), len(functions)), bool)
        for at, row in enumerate(rows.tolist()):
            numbers = tuple(step / GRID for step in row)
            for place, function in enumerate(functions.values()):
                answers[at, place] = _answer(function, numbers)
        return answers

    return Hypotheses(tuple(functions), count, says)


def _answer(function: Callable[[tuple[float, ...]], bool], row: tuple[float, ...]) -> bool:
    try:
        return function(row) is True
    except Exception:  # noqa: BLE001  nobody's row may decide whether there is an answer
        return False


@dataclass(kw_only=True, eq=False, repr=False)
class FiniteClass:
    """Learn which hypothesis of a finite class errs least on labelled rows, one row a person. Pure.

    Guarantee: epsilon-DP. One person more changes all numbers of errors by 0 or 1, so they are monotone, and add-remove needs half the noise.
    Citation: Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2008 (arXiv:0803.0924); Sapienza slides, "Private PAC Learning".

    Args:
        hypotheses: The class: `conjunctions(5)`, `stumps(…)`, `thresholds(…)`, `halfspaces(…)` or `own(…)`.
        epsilon: How much may be learned about a person; there is no default.
        neighbours: What a person changes: a row that comes or goes, or one that is replaced.
    """

    hypotheses: Hypotheses
    epsilon: Number
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE
    chosen: int = field(default=-1, init=False)
    """Which hypothesis was learned."""

    def __post_init__(self) -> None:
        self.neighbours = read_neighbours(self.neighbours)
        read_epsilon(self.epsilon)

    @property
    def mechanism(self) -> Exponential:
        """What is charged and drawn."""
        monotone = self.neighbours is Neighbours.ADD_REMOVE
        return Exponential(sensitivity=1, epsilon=self.epsilon, size=len(self.hypotheses), monotone=monotone)

    def fit(self, rows: Any, y: Any, *, account: Account | None = None) -> Self:
        """Learn.

        Args:
            rows: An array of numbers, a row a person. They are put on a grid of 1/1024; what is no number is 0.
            y: Whether each row is a yes: True and 1 are.
            account: What pays for it; nothing is drawn unless it does.
        """
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

    @property
    def name(self) -> str:
        """Of the hypothesis that was learned."""
        if self.chosen < 0:
            raise BadInput("Nothing is learned yet.", next_step="Call fit first.")
        return self.hypotheses.names[self.chosen]

    @property
    def loss(self) -> Loss:
        """What learning costs."""
        return Loss(self.mechanism.pure_epsilon)

    def predict(self, rows: Any) -> Booleans:
        """What the hypothesis says of each row.

        Args:
            rows: As `fit` takes them.
        """
        self.name  # noqa: B018  refuses if nothing is learned
        chosen, steps = self.chosen, _on_grid(rows, self.hypotheses.columns)
        block = max(1, _CELLS // len(self.hypotheses))
        parts = [self.hypotheses.says(steps[at : at + block])[:, chosen] for at in range(0, len(steps), block)]
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
        (`docs/learning.md`).

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
        return f"FiniteClass of {len(self.hypotheses):,} hypotheses, ε {float(exact(self.epsilon)):.4g}; {known}"


def _step(point: Number) -> int:
    number = finite(point)
    if number is None:
        raise BadInput("Points are finite numbers.", next_step="Give numbers from public knowledge.")
    return math.ceil(Fraction(number) * GRID)


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
