"""The looks of a run, one after another: each is a step, stored before its outcome is used or shown, and found again by whoever takes the run up."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import OutOfTime, RunChanged
from discreet.ledger.charges.release_json import mechanism_from_json
from discreet.measurement.measurer import Counts
from discreet.measurement.transcript import Step
from discreet.mechanisms import Mechanism
from discreet.mechanisms.adaptive_budget import Meter
from discreet.pipeline.journal import Journal


@dataclass(frozen=True, slots=True, repr=False)
class FreeLook:
    """The one look that the owner has declared to be published as it is: what it is about, and exact counts of rows that the owner has named."""

    asked: Mapping[str, object]
    counts: Callable[[], Counts]

    def __repr__(self) -> str:
        return "FreeLook(hidden)"


class Run:
    """What all measurers of one run share: the meter, the steps of before and of now, the one look that the owner declared to be free, and until
    when further looks are taken.
    """

    def __init__(
        self,
        meter: Meter,
        store: Journal,
        *,
        invariant: FreeLook | None = None,
        until: float = math.inf,
    ) -> None:
        self.meter, self._store, self.invariant, self._until = meter, store, invariant, until
        self._stored = [Step.decoded(body) for body in store.stored()]
        self.steps: list[Step] = []

    def begin_with(self, reused: Step) -> None:
        """Store the tables of earlier releases as the first step, which costs nothing; where one was stored, that is the one, whatever there is by now."""
        if not self._stored:
            self._stored.append(Step.decoded(self._store.store(0, reused.encoded(), mechanism=None)))
        self.steps.append(self._stored[0])

    def look(self, asked: dict[str, object], *, paid: Mechanism | None, drawn: Callable[[], Counts]) -> Step:
        """The next step: as it was stored, and then only paid for; or drawn (which pays) and stored. What the store returns is the outcome."""
        number = len(self.steps)
        if number < len(self._stored):
            if paid is not None:
                self.meter.pay(paid)
        else:
            if time.monotonic() > self._until:
                raise OutOfTime(
                    "This run has taken far longer than it was expected to, and has stopped. Its price is paid.",
                    next_step="Ask again: it goes on from where it has got to, and costs nothing more.",
                )
            self._stored.append(Step.decoded(self._store.store(number, Step(asked, drawn()).encoded(), mechanism=paid)))
        step = self._stored[number]
        if step.about != asked:
            raise RunChanged(
                "This run was begun by another release of the program, or with other public facts, and cannot go on.",
                next_step="Go on with the release that began it; or ask at another price, for other tables or by another method, "
                "which is another run and paid for anew. Another name makes no other run.",
            )
        self.steps.append(step)
        return step

    def is_next(self, asked: dict[str, object]) -> bool:
        """Whether the next step is this one, which says and costs nothing: as it was stored, or stored now, unless another is there first."""
        number = len(self.steps)
        if number == len(self._stored):
            body = Step(asked, np.zeros(1, np.int64)).encoded()
            self._stored.append(Step.decoded(self._store.store(number, body, mechanism=None)))
        if self._stored[number].about != asked:
            return False
        self.steps.append(self._stored[number])
        return True

    def part(self, share: Fraction) -> Run:
        """The same steps, of which those that are taken here are paid from a part of the budget."""
        part = copy.copy(self)
        part.meter = self.meter.part(share)
        return part

    def taken_up(self) -> list[Step]:
        """All further steps that were stored before, paid for as they were then."""
        further = self._stored[len(self.steps) :]
        for step in further:
            if step.about["paid"] is not None:
                self.meter.pay(mechanism_from_json(step.about["paid"]))
            self.steps.append(step)
        return further
