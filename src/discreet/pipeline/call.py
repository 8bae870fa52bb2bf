"""One call of the API: who is charged, how its progress is reported, and how it is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from discreet.ledger.chain.entries import COMMAND_LINE
from discreet.pipeline.time_padding import NO_PADDING, ReturnSchedule
from discreet.planning.answer_size import AnswerLimit


def _ignore(_: object) -> None:
    """Report nothing."""


def _no_slot() -> None:
    """Report nothing."""


def _no_padding(_: float) -> ReturnSchedule:
    """The data owner in this process may know how long the data is read."""
    return NO_PADDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Who is charged for a call, how its progress is reported, and how it is cancelled."""

    analyst: str | None = None
    """The analyst whose account is charged, together with the account of the dataset. None for the data owner."""
    request_id: str | None = None
    """Name of the call. A call that is repeated under the same name is charged once."""
    actor: str = COMMAND_LINE
    """Who makes the call, as the ledger records the actions of an owner."""
    waits_as: str | None = None
    """Who waits for a slot to plan in, if it is not the analyst."""
    on_step: Callable[[str], None] = _ignore
    """Called when the query is planned, and again when it is charged or found to have been charged before."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Cancels the call. It has no effect after the charge."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Stops everything at once: the curator closes."""
    schedule_return: Callable[[float], ReturnSchedule] = _no_padding
    """Called with the expected seconds of the query before the charge. It returns when the answer is returned, or refuses the query."""
    on_slot: Callable[[], None] = _no_slot
    """Called when a read slot is acquired."""
    on_measurement: Callable[[int], None] = _ignore
    """Called with the number of stored measurements of a run. Its times reveal how long tables are read: for the data owner only."""
    limit: AnswerLimit | None = None
    """An answer that could exceed it is refused before the charge."""
