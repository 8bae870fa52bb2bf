"""What is seen of a session, near or far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from discreet.sessions.count_queries import SessionQuery
from discreet.sessions.session_terms import SessionAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """How far a session has got."""

    id: str
    receipt: str
    left: int
    alarms_left: int
    within: float
    reused: tuple[str, ...] = ()
    """Names of releases whose tables its hypothesis began with."""


class SessionFace(ABC):
    """A session, wherever its rows are. The same query has the same answer, whenever it is asked."""

    @property
    @abstractmethod
    def facts(self) -> SessionFacts:
        """How far it has got."""

    @property
    def id(self) -> str:
        """The same whenever it is opened again."""
        return self.facts.id

    @property
    def left(self) -> int:
        """How many new queries may still be asked."""
        return self.facts.left

    @property
    def alarms_left(self) -> int:
        """How many badly answered queries can still be found, and measured. A restart costs one, too."""
        return self.facts.alarms_left

    @property
    def within(self) -> float:
        """In rows: with a chance of 95 %, no answer that the guard let pass is further off than this."""
        return self.facts.within

    def answer(self, query: SessionQuery) -> SessionAnswer:
        """How many rows meet a condition.

        Args:
            query: On each of some columns, such as `{"ward": ["ICU", "surgery"], "age": Between(30, 49)}`; or as SQL has it behind WHERE.
        """
        return self.answer_many([query])[0]

    @abstractmethod
    def answer_many(self, queries: Iterable[SessionQuery]) -> list[SessionAnswer]:
        """The same for many queries: they are stored together, which is as fast as storing one.

        Args:
            queries: In order.
        """
