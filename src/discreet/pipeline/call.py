"""A call of the API on its way through the pipeline: who is charged, under which name, who hears of its progress, and who may cancel it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from discreet.ledger.chain.entries import AT_HAND
from discreet.pipeline.time_padding import AT_ONCE, Departure
from discreet.planning.answer_size import AnswerLimit


def _ignore(_: object) -> None:
    """Nobody listens."""


def _no_slot() -> None:
    """Nobody measures how long a slot was waited for."""


def _at_once(_: float) -> Departure:
    """The owner of the data in this process may know how long it is read."""
    return AT_ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Who is charged for a call, how its progress is reported, and how it is cancelled."""

    analyst: str | None = None
    """Whose account is charged beside the dataset's; None for the data owner."""
    request_id: str | None = None
    """Name of the call: repeated under it, it is charged once."""
    actor: str = AT_HAND
    """Who makes the call, as the ledger records the actions of an owner."""
    waits_as: str | None = None
    """Who waits for a slot to plan in, if it is not the analyst."""
    on_step: Callable[[str], None] = _ignore
    """Hears that the query is planned, then that it is paid or was asked before."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Ends what comes before the charge, and nothing after it."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Ends everything: the curator closes."""
    leaving: Callable[[float], Departure] = _at_once
    """Hears how many seconds the query is expected to take, before anything is charged. It may refuse it, and says when the answer is returned."""
    on_place: Callable[[], None] = _no_slot
    """Hears that a slot to read is acquired."""
    on_look: Callable[[int], None] = _ignore
    """Hears how many measurements of a run are stored. Their times tell how long tables were read, so it is for the data owner only."""
    limit: AnswerLimit | None = None
    """An answer that does not fit is refused before it is charged."""
