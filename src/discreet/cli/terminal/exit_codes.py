"""What a command's exit code means, and how an error becomes one."""

from __future__ import annotations

from enum import IntEnum

from discreet.errors import AccountFrozen, BudgetExceeded, DiscreetError, EngineFailure, LedgerDamaged, StoreUnavailable


class ExitCode(IntEnum):
    """The same for every command."""

    ANSWERED = 0
    USAGE = 2
    REFUSED = 3
    BUDGET = 4
    FAILURE = 5
    VIOLATED = 6

    @property
    def meaning(self) -> str:
        """In a few words."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.ANSWERED: "done",
    ExitCode.USAGE: "the command was not understood",
    ExitCode.REFUSED: "refused, nothing was spent",
    ExitCode.BUDGET: "the budget does not allow it, nothing was spent",
    ExitCode.FAILURE: "failed, perhaps after the charge",
    ExitCode.VIOLATED: "an attack did better than the guarantee allows",
}


def exit_code(error: DiscreetError) -> ExitCode:
    """The code for an error that was raised on purpose."""
    if isinstance(error, BudgetExceeded):
        return ExitCode.BUDGET
    failures = (StoreUnavailable, LedgerDamaged, EngineFailure, AccountFrozen)  # each may come after a charge
    return ExitCode.FAILURE if isinstance(error, failures) else ExitCode.REFUSED
