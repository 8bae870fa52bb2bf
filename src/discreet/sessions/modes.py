"""How a session begins: what it spends before its first query, and what it believes and promises from then on.

A mode is a function of what was measured alone, so that whoever takes a session up again comes to the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.core.exact import UNIT, units_down
from discreet.errors import ScaleOutOfRange
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.measurer import Conjunction, Measurer
from discreet.measurement.run_budget import count_noise
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.sessions.session_models import Hypothesis, OfModel, Weights
from discreet.sessions.session_terms import FAILURE, MOST_ALARMS, Terms, terms
from discreet.synthetic.methods.affordability import MOST_NOISE
from discreet.synthetic.methods.method import Method, Model

FIT = Fraction(9, 10)
"""Of the budget, for the fit of a practical session's hypothesis; the guard has the rest."""
ROWS = Fraction(1, 50)
"""Of the budget, for the number of rows of a textbook session."""


class Mode(Protocol):
    """One way of beginning."""

    def begin(self, measurer: Measurer, budget: AdaptiveBudget, queries: int) -> tuple[Hypothesis, Terms]:
        """Spend what comes before the first query.

        Args:
            measurer: Through which rows are seen.
            budget: All of it.
            queries: How many may be asked.
        """

    def promised(self, domain: Domain, budget: AdaptiveBudget, queries: int) -> Terms | None:
        """What is promised before anything is measured, if it does not hang on that.

        Args:
            domain: What is public about the rows.
            budget: All of it.
            queries: How many may be asked.
        """


@dataclass(frozen=True, slots=True)
class Fitted:
    """A hypothesis that is fitted once, by most of the budget; the rest guards it.

    Args:
        method: Of synthetic data.
        wanted: Tables that the hypothesis shall be good at.
        alarms: How many answers may be measured instead.
    """

    method: Method
    wanted: Mapping[Columns, int]
    alarms: int

    def begin(self, measurer: Measurer, budget: AdaptiveBudget, queries: int) -> tuple[Hypothesis, Terms]:
        """Fit.

        Args:
            measurer: Through which rows are seen.
            budget: All of it.
            queries: How many may be asked.
        """
        self.method.measure(measurer.part(measurer.budget * FIT), self.wanted)
        model = self.method.model(measurer.domain, measurer.looks)
        return OfModel(model), self.promised(measurer.domain, budget, queries)

    def promised(self, domain: Domain, budget: AdaptiveBudget, queries: int) -> Terms:
        """The guard's terms.

        Args:
            domain: What is public about the rows.
            budget: All of it.
            queries: How many may be asked.
        """
        return terms(budget, domain, amount=budget.amount * (1 - FIT), alarms=self.alarms, queries=queries)


@dataclass(frozen=True, slots=True)
class Given:
    """A hypothesis from a release: the whole budget guards it.

    Args:
        model: Of the release.
        alarms: How many answers may be measured instead.
    """

    model: Model
    alarms: int

    def begin(self, measurer: Measurer, budget: AdaptiveBudget, queries: int) -> tuple[Hypothesis, Terms]:
        """Nothing is spent.

        Args:
            measurer: Through which rows are seen.
            budget: All of it.
            queries: How many may be asked.
        """
        return OfModel(self.model), self.promised(measurer.domain, budget, queries)

    def promised(self, domain: Domain, budget: AdaptiveBudget, queries: int) -> Terms:
        """The guard's terms.

        Args:
            domain: What is public about the rows.
            budget: All of it.
            queries: How many may be asked.
        """
        return terms(budget, domain, amount=budget.amount, alarms=self.alarms, queries=queries)


@dataclass(frozen=True, slots=True)
class Textbook:
    """Private multiplicative weights: even weights at first, an update at every alarm, and as many alarms as there can be.

    Guarantee: with a chance of 95 %, no alarm is the last, and no answer is further off than its terms say (`docs/explanation/proofs/sessions.md`).
    Citation: Hardt, Rothblum 2010; Dwork, Roth 2014, section 4.2.
    """

    def begin(self, measurer: Measurer, budget: AdaptiveBudget, queries: int) -> tuple[Hypothesis, Terms]:
        """Measure how many rows there are, and choose the number of alarms whose bound is the least for them.

        Args:
            measurer: Through which rows are seen.
            budget: All of it.
            queries: How many may be asked.
        """
        domain = measurer.domain
        noise = _rows_noise(domain, budget)
        rows = max(measurer.counted(Conjunction((), ()), noise), 1)
        off = noise.error(1 - FAILURE / 4)
        alpha, best = min(
            (
                _with_alarms(2**power, domain, budget, queries, rows=rows, off=off)
                for power in range(MOST_ALARMS.bit_length())
            ),
            key=lambda each: each[1].within,
        )
        return Weights(domain, float(rows), alpha / 2), best

    def promised(self, domain: Domain, budget: AdaptiveBudget, queries: int) -> Terms | None:
        """None: it hangs on the number of rows. Refused where any of what it may come to could not be drawn.

        Args:
            domain: What is public about the rows.
            budget: All of it.
            queries: How many may be asked.
        """
        off = _rows_noise(domain, budget).error(1 - FAILURE / 4)
        if off > MOST_NOISE:
            raise ScaleOutOfRange("The number of rows would be noise alone.", next_step="Pay more.")
        _with_alarms(MOST_ALARMS, domain, budget, queries, rows=1, off=off)
        return None


def _rows_noise(domain: Domain, budget: AdaptiveBudget) -> Gaussian | Laplace:
    return count_noise(budget, domain, Fraction(units_down(budget.amount * ROWS), UNIT))


def _with_alarms(
    alarms: int, domain: Domain, budget: AdaptiveBudget, queries: int, *, rows: int, off: int
) -> tuple[float, Terms]:
    """The least error, as a share of all rows, that so many updates are enough for; and the terms that sound above it."""
    alpha = math.sqrt(4 * math.log(max(domain.cells(domain.names), 2)) / alarms)
    gap = alpha * (rows + off) + off
    amount = budget.amount * (1 - ROWS)
    return alpha, terms(budget, domain, amount=amount, alarms=alarms, queries=queries, gap=gap)
