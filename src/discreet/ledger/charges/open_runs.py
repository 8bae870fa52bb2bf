"""Open runs: queries whose budget is spent step by step, and the state of each."""

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
"""The entry of a step: its number, its cost, and the salted hash of what is stored."""


@dataclass(frozen=True, slots=True)
class Run:
    """A budget, the number of steps, and their total cost in units."""

    budget: Mapping[str, Any]
    """In the JSON form of the ledger."""
    steps: int = 0
    spent: int = 0

    def cost_of(self, paid: Mechanism | None) -> int:
        """Return the cost of a step in units: 0 if an earlier step paid for it."""
        return 0 if paid is None else self._adaptive.units(paid)

    def after_step(self, cost: int) -> Run:
        """Return the run after one more step with this cost."""
        return replace(self, steps=self.steps + 1, spent=self.spent + cost)

    @property
    def is_within_budget(self) -> bool:
        return self.spent <= units_down(self._adaptive.amount)

    @property
    def _adaptive(self) -> AdaptiveBudget:
        budget = mechanism_from_json(self.budget)
        assert isinstance(budget, AdaptiveBudget)  # noqa: S101  only such releases open a run
        return budget


def budgets_among(releases: Iterable[Mechanism]) -> list[AdaptiveBudget]:
    """Return the releases whose budget is spent step by step."""
    return [release for release in releases if isinstance(release, AdaptiveBudget)]


def check_one_budget(releases: Iterable[Mechanism]) -> None:
    """Refuse more than one adaptive budget: a step could not say which one it spends."""
    if len(budgets_among(releases)) > 1:
        raise BadInput("A query has one budget for its steps.", next_step="Charge one that is large enough.")
