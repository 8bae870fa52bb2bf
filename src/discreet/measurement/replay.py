"""The steps of a run. Each measurement is stored before its outcome is used or shown, and is found again when the run is resumed."""

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
class PublicSums:
    """The exact sums that the data owner has declared public: what they are about, and the exact counts."""

    asked: Mapping[str, object]
    counts: Callable[[], Counts]

    def __repr__(self) -> str:
        return "PublicSums(hidden)"


class Run:
    """The state that all measurers of one run share: budget meter, stored and new steps, declared public sums, and deadline."""

    def __init__(
        self,
        meter: Meter,
        store: Journal,
        *,
        invariant: PublicSums | None = None,
        until: float = math.inf,
    ) -> None:
        self.meter, self._store, self.invariant, self._until = meter, store, invariant, until
        self._stored = [Step.decoded(body) for body in store.stored()]
        self.steps: list[Step] = []

    def begin_with(self, reused: Step) -> None:
        """Store the tables of earlier releases as the first step, which is free. If a first step is stored, it is used instead."""
        if not self._stored:
            self._stored.append(Step.decoded(self._store.store(0, reused.encoded(), mechanism=None)))
        self.steps.append(self._stored[0])

    def take_step(self, asked: dict[str, object], *, mechanism: Mechanism | None, draw: Callable[[], Counts]) -> Step:
        """Return the next step. A stored step is only charged to the meter; a new one is drawn (which charges the meter) and stored.

        The step that the journal returns is the outcome: another process may have stored it first.
        """
        number = len(self.steps)
        if number < len(self._stored):
            if mechanism is not None:
                self.meter.pay(mechanism)
        else:
            if time.monotonic() > self._until:
                raise OutOfTime(
                    "This run took far longer than expected and has stopped. It was charged.",
                    next_step="Send it again: it resumes after its last step and costs nothing more.",
                )
            self._stored.append(
                Step.decoded(self._store.store(number, Step(asked, draw()).encoded(), mechanism=mechanism))
            )
        step = self._stored[number]
        if step.about != asked:
            raise RunChanged(
                "This run was started by another version of Discreet, or with another catalog, and cannot be resumed.",
                next_step="Resume it with the version that started it; or change its cost, tables or method, which makes it another run "
                "with its own charge. Another name does not.",
            )
        self.steps.append(step)
        return step

    def is_next(self, asked: dict[str, object]) -> bool:
        """Return whether the next step is this one, which has no outcome and is free. It is stored now unless another step is."""
        number = len(self.steps)
        if number == len(self._stored):
            body = Step(asked, np.zeros(1, np.int64)).encoded()
            self._stored.append(Step.decoded(self._store.store(number, body, mechanism=None)))
        if self._stored[number].about != asked:
            return False
        self.steps.append(self._stored[number])
        return True

    def part(self, share: Fraction) -> Run:
        """Return the same run with a part of the budget, which new steps are charged to."""
        part = copy.copy(self)
        part.meter = self.meter.part(share)
        return part

    def resume_steps(self) -> list[Step]:
        """Return all further stored steps, and charge them to the meter as they were then."""
        further = self._stored[len(self.steps) :]
        for step in further:
            if step.about["paid"] is not None:
                self.meter.pay(mechanism_from_json(step.about["paid"]))
            self.steps.append(step)
        return further
