"""Exit codes of the commands, and the mapping from errors to exit codes."""

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
    ExitCode.USAGE: "the command line is wrong",
    ExitCode.REFUSED: "refused, nothing was spent",
    ExitCode.BUDGET: "over budget, nothing was spent",
    ExitCode.FAILURE: "failed, possibly after the charge",
    ExitCode.VIOLATED: "an attack exceeded the guarantee",
}


def exit_code(error: DiscreetError) -> ExitCode:
    """The code for an error that was raised on purpose."""
    if isinstance(error, BudgetExceeded):
        return ExitCode.BUDGET
    failures = (StoreUnavailable, LedgerDamaged, EngineFailure, AccountFrozen)  # each may come after a charge
    return ExitCode.FAILURE if isinstance(error, failures) else ExitCode.REFUSED
