"""The modes of a session: what it spends before its first query, the hypothesis that answers, and the error bounds.

A mode depends only on stored measurements. So a session that is opened again comes to the same hypothesis and bounds.
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
from discreet.sessions.session_hypotheses import Hypothesis, ModelHypothesis, Weights
from discreet.sessions.session_terms import FAILURE, MOST_ALARMS, Terms, terms_for
from discreet.synthetic.methods.affordability import MOST_NOISE
from discreet.synthetic.methods.method import Method, Model

FIT = Fraction(9, 10)
"""Share of the budget that fits the hypothesis of a practical session. The rest checks its answers."""
ROWS = Fraction(1, 50)
"""Share of the budget that measures the number of rows of a textbook session."""


class Mode(Protocol):
    """How a session starts."""

    def begin(self, measurer: Measurer, budget: AdaptiveBudget, queries: int) -> tuple[Hypothesis, Terms]:
        """Take the measurements that come before the first query; return the hypothesis and the terms of its checks."""

    def terms_before_charge(self, domain: Domain, budget: AdaptiveBudget, queries: int) -> Terms | None:
        """Return the terms of a session over a domain, or None if they depend on a measurement.

        Raises `ScaleOutOfRange` if the budget is too small for any terms that the session could have.
        """


@dataclass(frozen=True, slots=True)
class Fitted:
    """Fit a hypothesis once with most of the budget; check its answers with the rest.

    Args:
        method: Method of synthetic data that fits it.
        tables: Marginals to preserve, with their weights.
        alarms: Largest number of answers that can be measured instead.
    """

    method: Method
    tables: Mapping[Columns, int]
    alarms: int

    def begin(self, measurer: Measurer, budget: AdaptiveBudget, queries: int) -> tuple[Hypothesis, Terms]:
        """Fit the model."""
        self.method.measure(measurer.part(measurer.budget * FIT), self.tables)
        model = self.method.model(measurer.domain, measurer.measurements)
        return ModelHypothesis(model), self.terms_before_charge(measurer.domain, budget, queries)

    def terms_before_charge(self, domain: Domain, budget: AdaptiveBudget, queries: int) -> Terms:
        """Return the terms, which do not depend on measurements."""
        return terms_for(budget, domain, amount=budget.amount * (1 - FIT), alarms=self.alarms, queries=queries)


@dataclass(frozen=True, slots=True)
class FromRelease:
    """Take the model of a release as the hypothesis; check its answers with the whole budget.

    Args:
        model: Model of the release.
        alarms: Largest number of answers that can be measured instead.
    """

    model: Model
    alarms: int

    def begin(self, measurer: Measurer, budget: AdaptiveBudget, queries: int) -> tuple[Hypothesis, Terms]:
        """Spend nothing."""
        return ModelHypothesis(self.model), self.terms_before_charge(measurer.domain, budget, queries)

    def terms_before_charge(self, domain: Domain, budget: AdaptiveBudget, queries: int) -> Terms:
        """Return the terms, which do not depend on measurements."""
        return terms_for(budget, domain, amount=budget.amount, alarms=self.alarms, queries=queries)


@dataclass(frozen=True, slots=True)
class Textbook:
    """Private multiplicative weights: start from even weights, and update them at every alarm.

    The number of alarms is the one with the smallest error bound for the measured number of rows.

    Guarantee: with probability 95 %, there is no alarm after the last update, and no answer is further off than its
    terms say (`docs/explanation/proofs/sessions.md`).
    Citation: Hardt, Rothblum 2010; Dwork, Roth 2014, section 4.2.
    """

    def begin(self, measurer: Measurer, budget: AdaptiveBudget, queries: int) -> tuple[Hypothesis, Terms]:
        """Measure the number of rows, and choose the number of alarms."""
        domain = measurer.domain
        noise = _noise_of_rows(domain, budget)
        rows = max(measurer.counted(Conjunction((), ()), noise), 1)
        margin = noise.error(1 - FAILURE / 4)
        alpha, best = min(
            (
                _terms_with_alarms(2**power, domain, budget, queries, rows=rows, margin=margin)
                for power in range(MOST_ALARMS.bit_length())
            ),
            key=lambda each: each[1].within,
        )
        return Weights(domain, float(rows), alpha / 2), best

    def terms_before_charge(self, domain: Domain, budget: AdaptiveBudget, queries: int) -> Terms | None:
        """Return None: the terms depend on the number of rows. Refuse a budget for which some of them have no noise."""
        margin = _noise_of_rows(domain, budget).error(1 - FAILURE / 4)
        if margin > MOST_NOISE:
            raise ScaleOutOfRange("The number of rows would be noise alone.", next_step="Use a larger budget.")
        # The most alarms have the least budget for each, so if these terms exist, all others do.
        _terms_with_alarms(MOST_ALARMS, domain, budget, queries, rows=1, margin=margin)
        return None


def _noise_of_rows(domain: Domain, budget: AdaptiveBudget) -> Gaussian | Laplace:
    return count_noise(budget, domain, Fraction(units_down(budget.amount * ROWS), UNIT))


def _terms_with_alarms(
    alarms: int, domain: Domain, budget: AdaptiveBudget, queries: int, *, rows: int, margin: int
) -> tuple[float, Terms]:
    """The error alpha, as a share of the rows, for which the updates are enough; and the terms of that error."""
    alpha = math.sqrt(4 * math.log(max(domain.cells(domain.names), 2)) / alarms)
    gap = alpha * (rows + margin) + margin
    amount = budget.amount * (1 - ROWS)
    return alpha, terms_for(budget, domain, amount=amount, alarms=alarms, queries=queries, gap=gap)
