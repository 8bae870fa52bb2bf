"""The interface of a session, local or remote."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from discreet.sessions.count_queries import SessionQuery
from discreet.sessions.session_terms import SessionAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """How far a session has got."""

    id: str
    receipt: str
    left: int
    alarms_left: int
    within: float
    reused: tuple[str, ...] = ()
    """Names of releases whose tables entered the model that answers."""


@dataclass(frozen=True, slots=True)
class SessionAnswers:
    """Answers to some queries, and the state of the session after them."""

    answers: Sequence[SessionAnswer]
    state: SessionState


class SessionBase(ABC):
    """A session, local or remote. The same query always has the same answer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    @abstractmethod
    def state(self) -> SessionState:
        """How far the session has got."""

    @property
    def id(self) -> str:
        """The same whenever the session is opened again."""
        return self.state.id

    @property
    def left(self) -> int:
        """How many new queries can still be answered."""
        return self.state.left

    @property
    def alarms_left(self) -> int:
        """How many badly answered queries can still be found and measured. Opening the session again uses one."""
        return self.state.alarms_left

    @property
    def within(self) -> float:
        """In rows: with probability 95 %, no checked answer is further off."""
        return self.state.within

    def answer(self, query: SessionQuery) -> SessionAnswer:
        """Answer how many rows meet a condition.

        Args:
            query: Conditions by column, such as `{"ward": ["ICU", "surgery"], "age": Between(30, 49)}`; or a condition
                in SQL, as in WHERE.
        """
        return self.answer_many([query])[0]

    @abstractmethod
    def answer_many(self, queries: Iterable[SessionQuery]) -> list[SessionAnswer]:
        """Answer many queries. All answers are stored together, which takes as long as storing one.

        Args:
            queries: In the order of the answers.
        """

    @abstractmethod
    def close(self) -> None:
        """Free the memory of the session. It can be opened again without a charge."""
