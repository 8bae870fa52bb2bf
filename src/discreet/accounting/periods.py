"""Periods of a cap that renews: calendar days, weeks, months, quarters or years, in UTC. Which one a day is in is public."""

from __future__ import annotations

from datetime import date, timedelta
from enum import Enum

from discreet.errors import BadInput


class Period(Enum):
    """How often a cap renews; the shortest first."""

    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    YEARLY = "yearly"

    @property
    def noun(self) -> str:
        """One of them, as people say it."""
        return _NOUNS[self]

    @property
    def most_in_a_year(self) -> int:
        """How many have a day in one calendar year, at most: a leap year that begins on a Sunday touches 54 weeks."""
        return _MOST_IN_A_YEAR[self]

    def first_day(self, day: date) -> date:
        """The first day of the period that a day is in; weeks begin on Monday.

        Args:
            day: Any day of the period.
        """
        match self:
            case Period.DAILY:
                return day
            case Period.WEEKLY:
                return day - timedelta(days=day.weekday())
            case Period.MONTHLY:
                return day.replace(day=1)
            case Period.QUARTERLY:
                return day.replace(month=day.month - (day.month - 1) % 3, day=1)
            case Period.YEARLY:
                return day.replace(month=1, day=1)

    def next_first_day(self, day: date) -> date:
        """The first day of the period after the one that a day is in.

        Args:
            day: Any day of the period.
        """
        first = self.first_day(day)
        days_left = (date.max - first).days
        return self.first_day(first + timedelta(days=min(_LONGEST[self], days_left)))

    def slower(self, other: Period | None) -> Period | None:
        """Of two periods the longer; for ever, which is None, is the longest.

        Args:
            other: The second one.
        """
        kinds = list(Period)
        return None if other is None else max(self, other, key=kinds.index)


_NOUNS = {
    Period.DAILY: "day",
    Period.WEEKLY: "week",
    Period.MONTHLY: "month",
    Period.QUARTERLY: "quarter",
    Period.YEARLY: "year",
}
_MOST_IN_A_YEAR = {Period.DAILY: 366, Period.WEEKLY: 54, Period.MONTHLY: 12, Period.QUARTERLY: 4, Period.YEARLY: 1}
_LONGEST = {Period.DAILY: 1, Period.WEEKLY: 7, Period.MONTHLY: 31, Period.QUARTERLY: 92, Period.YEARLY: 366}
"""In days: so many after the first day of a period the next one has begun, and not yet ended."""


def read_period(given: object) -> Period | None:
    """A period by its word, or none; or a refusal.

    Args:
        given: Such as "monthly", or None where a cap holds for ever.
    """
    if given is None or isinstance(given, Period):
        return given
    if given not in [period.value for period in Period]:
        raise BadInput(
            "A cap renews by calendar periods.",
            next_step=f"Give one of: {', '.join(period.value for period in Period)}; or leave it out.",
        )
    return Period(given)
