"""An account at hand: a cap, and what was spent of it, for as long as this process lives."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from discreet.accounting.charge_units import Charge
from discreet.accounting.filters import open_filter
from discreet.core.exact import Number
from discreet.core.loss import Loss
from discreet.errors import BudgetExceeded
from discreet.mechanisms.mechanism import Guarantee


class Account:
    """Pays for releases until its cap; what lasts, and is shared, is a ledger.

    Args:
        epsilon: All that may be spent.
        delta: Beside it; 0 for an account of pure epsilons.
    """

    def __init__(self, epsilon: Number, delta: Number = 0.0) -> None:
        self._filter = open_filter(epsilon, delta)
        self._total = Charge()
        self._lock = threading.Lock()

    def charge(self, releases: Sequence[Guarantee]) -> None:
        """Pay for releases that are made together, or refuse and pay nothing.

        Args:
            releases: The mechanisms that are about to be drawn from.
        """
        with self._lock:
            total = self._total + self._filter.price(releases)
            if not self._filter.allows(total):
                raise BudgetExceeded(
                    f"This would bring the account above its cap: {self!r}.",
                    next_step="Ask for a smaller epsilon, or stop here.",
                )
            self._total = total

    @property
    def spent(self) -> Loss:
        """What was spent so far."""
        return self._filter.spent(self._total)

    @property
    def cap(self) -> Loss:
        """What may be spent."""
        return self._filter.cap

    def __repr__(self) -> str:
        return f"ε {self.spent.epsilon:.4g} of {self.cap.epsilon:.4g} spent"
