"""The one way to an answer, for any release: reserve → read → release → store.

What is released brings its own reading and its own noise; this is the one place that charges, and the one place that holds both the engine
and the randomness. The charge is on disk before anything is read, the answer before it leaves.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from discreet.algebra.digest import FORMAT
from discreet.answering.answer import stored_form
from discreet.answering.plan import Plan
from discreet.answering.release import release
from discreet.engines import Engine
from discreet.errors import AccountFrozen, Cancelled, EngineFailure
from discreet.ledger import Ledger, Request, Reservation
from discreet.mechanisms import Mechanism
from discreet.noise import RandomBits

_LOG = logging.getLogger("discreet")


def _no_step(_: str) -> None:
    """Nobody looks on."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question on its way: who wants to hear of its steps (planned, paid), and how it can be taken back."""

    on_step: Callable[[str], None] = _no_step
    taken_back: threading.Event = field(default_factory=threading.Event)


class Releasable(Protocol):
    """Something that can be released: what it costs, what names it, how it is read, and how noise turns it into bytes that may leave."""

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """What is charged is what is sampled."""

    @property
    def digest(self) -> str:
        """What makes two of them the same."""

    @property
    def label(self) -> str:
        """How the books call it."""

    def read(self, engine: Engine, taken_back: threading.Event) -> Any:
        """Exact integers, which stay between this and `noisy`."""

    def noisy(self, exact: Any, bits: RandomBits) -> bytes:
        """The stored form of what may leave."""


@dataclass(frozen=True, slots=True)
class SqlRelease:
    """A planned SQL question."""

    plan: Plan
    digest: str
    label: str

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        return self.plan.releases

    def read(self, engine: Engine, taken_back: threading.Event) -> Any:
        return [engine.run(question, taken_back=taken_back) for question in self.plan.questions]

    def noisy(self, exact: Any, bits: RandomBits) -> bytes:
        return stored_form(release(self.plan, exact, bits))


@dataclass(frozen=True, slots=True)
class Paid:
    """What was stored, and what the books say of it."""

    stored: bytes
    reservation: Reservation | None
    """None for what is public and free."""


class Pipeline:
    """Ledger, engine and randomness, in the only order there is."""

    def __init__(self, ledger: Ledger, engine: Engine) -> None:
        self.ledger, self._engine, self._bits = ledger, engine, RandomBits()

    def answer(
        self, wanted: Releasable, *, analyst: str | None, request_id: str | None = None, asking: Asking | None = None
    ) -> Paid:
        """Charge for a release, read, add noise and store; or find it stored.

        `analyst` is whose account is charged beside the dataset's, None for the owner. A repeated `request_id` is paid for once.
        """
        steps = asking or Asking()
        steps.on_step("planned")
        if not wanted.releases:
            return Paid(self._fresh(wanted, analyst, steps), None)
        reservation = self.ledger.reserve(_request(wanted, analyst, request_id))
        steps.on_step("paid")
        stored = reservation.answer
        if stored is None:
            stored = self.ledger.finish(reservation, self._fresh(wanted, analyst, steps))
        return Paid(stored, reservation)

    def is_paid(self, wanted: Releasable, *, analyst: str | None) -> bool:
        """Whether a release would cost nothing: public, or answered and paid for before."""
        return not wanted.releases or self.ledger.is_paid(_request(wanted, analyst, None))

    def take_back(self, asking: Asking) -> None:
        """Stop reading for a question that somebody else is asking; its price stays paid."""
        self._engine.take_back(asking.taken_back)

    def _fresh(self, wanted: Releasable, analyst: str | None, asking: Asking) -> bytes:
        """Read and add noise. Whatever fails past the charge may hang on somebody's row, so it is one sentence and a bit about the data:
        it stops the analyst until the owner looks.
        """
        try:
            noisy = wanted.noisy(wanted.read(self._engine, asking.taken_back), self._bits)
        except Cancelled:
            raise  # the analyst's own doing says nothing about the data
        except Exception as failure:  # noqa: BLE001  not only what engines are known to raise
            _LOG.error("a release failed past its charge: %s", type(failure).__name__)
            if analyst is not None:
                with suppress(AccountFrozen):
                    self.ledger.freeze(analyst)
            raise EngineFailure(
                "The engine could not answer. The price was paid.", next_step="Tell the owner of the data."
            ) from None
        if asking.taken_back.is_set():
            raise Cancelled(
                "The question was taken back. The price was paid.", next_step="Ask again: it costs nothing more."
            )
        return noisy


def _request(wanted: Releasable, analyst: str | None, request_id: str | None) -> Request:
    return Request(
        id=request_id or os.urandom(16).hex(),
        question=wanted.digest,
        releases=wanted.releases,
        analyst=analyst,
        label=wanted.label,
        format=FORMAT,
    )
