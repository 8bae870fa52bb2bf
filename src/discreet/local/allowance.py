"""How many messages come from one place: a bucket for each, in memory, which fills up again in a day."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

_DAY = 86400
_MOST_PLACES = 50_000


class Allowance:
    """At most `a_day` messages at once from one place, and as many a day in the long run.

    What is known of the place that was silent longest is forgotten when there are too many places.
    """

    def __init__(self, *, a_day: int, clock: Callable[[], float]) -> None:
        self._a_day, self._clock = a_day, clock
        self._places: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, place: str) -> bool:
        """Whether the place may send one more."""
        now = self._clock()
        with self._lock:
            left, since = self._places.pop(place, (float(self._a_day), now))
            left = min(float(self._a_day), left + max(0.0, now - since) * self._a_day / _DAY)
            self._places[place] = (left - 1 if left >= 1 else left, now)
            if len(self._places) > _MOST_PLACES:
                self._places.popitem(last=False)
            return left >= 1
