"""Runs under way: queries whose price is a budget that is spent step by step, and how far each has got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.core.exact import units_down
from discreet.errors import BadInput
from discreet.ledger.charges.release_json import mechanism_from_json
from discreet.mechanisms import Mechanism
from discreet.mechanisms.adaptive_budget import AdaptiveBudget

KIND = "step"
"""The entry of a step: the number, what it cost, and the hash of what is stored, with its salt."""


@dataclass(frozen=True, slots=True)
class Run:
    """A budget, how many steps there are, and what they cost together, in units."""

    budget: Mapping[str, Any]
    """As the books describe it."""
    steps: int = 0
    spent: int = 0

    def cost_of(self, paid: Mechanism | None) -> int:
        """What a step takes of the budget, in units: nothing, if a step before has paid for it."""
        return 0 if paid is None else self._adaptive.units(paid)

    def after_step(self, cost: int) -> Run:
        """With one more step, and what it cost."""
        return replace(self, steps=self.steps + 1, spent=self.spent + cost)

    @property
    def is_within_budget(self) -> bool:
        return self.spent <= units_down(self._adaptive.amount)

    @property
    def _adaptive(self) -> AdaptiveBudget:
        budget = mechanism_from_json(self.budget)
        assert isinstance(budget, AdaptiveBudget)  # noqa: S101  runs are made of such
        return budget


def budgets_among(releases: Iterable[Mechanism]) -> list[AdaptiveBudget]:
    """What of a price is spent along the way."""
    return [release for release in releases if isinstance(release, AdaptiveBudget)]


def check_one_budget(releases: Iterable[Mechanism]) -> None:
    """A step must say what it is paid from."""
    if len(budgets_among(releases)) > 1:
        raise BadInput("A question has one budget for its steps.", next_step="Charge one that is large enough.")
