"""Looks as bytes: what a step stores, and what a finished run stores of all its steps.

A step is one line of canonical JSON that says what was asked, then the outcome as 64-bit integers, little-endian. A transcript is one line that
says what the run was and how long each step is, then the steps. Nothing here is private: it is what was drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.answering.measurer import Chosen, Look, Measured, SmallDatabase
from discreet.errors import LedgerDamaged
from discreet.ledger.entries import canonical
from discreet.ledger.releases import describe, rebuild_as
from discreet.mechanisms import Exponential, Gaussian, Laplace, Mechanism

FORMAT = 1
_INTEGERS = np.dtype("<i8")


@dataclass(frozen=True, slots=True)
class Step:
    """What was asked (`about`, as JSON has it) and what came out."""

    about: Mapping[str, Any]
    outcome: NDArray[np.int64]

    @property
    def kind(self) -> str:
        return str(self.about["kind"])

    def encoded(self) -> bytes:
        """One line, then integers."""
        return canonical(self.about).encode() + b"\n" + self.outcome.astype(_INTEGERS).tobytes()

    @classmethod
    def decoded(cls, body: bytes) -> Step:
        """The same from stored bytes."""
        line, _, integers = body.partition(b"\n")
        return cls(json.loads(line), np.frombuffer(integers, _INTEGERS).astype(np.int64))

    @property
    def look(self) -> Look | None:
        """The table, the choice or the small database that it is; None for what guards."""
        if self.kind == "table":
            return self.measured()
        if self.kind == "choice":
            candidates = tuple(tuple(columns) for columns in self.about["candidates"])
            return Chosen(candidates[int(self.outcome[0])], candidates, self._choice())
        return self.small_database() if self.kind == "small" else None

    def measured(self) -> Measured:
        """The table that was asked for."""
        values = self.outcome.reshape(self.about["shape"])
        groups = {name: tuple(codes) for name, codes in self.about["groups"].items()}
        return Measured(tuple(self.about["columns"]), values, self.noise, groups)

    def small_database(self) -> SmallDatabase:
        """The small database that was asked for."""
        return SmallDatabase(tuple(self.outcome.tolist()), self.about["rows_each"], self._choice())

    @property
    def noise(self) -> Gaussian | Laplace:
        """What was added to each number of the outcome."""
        if self.about["paid"]["mechanism"] == "Laplace":
            return rebuild_as(Laplace, self.about["paid"])
        return rebuild_as(Gaussian, self.about["paid"])

    def _choice(self) -> Exponential:
        return rebuild_as(Exponential, self.about["paid"])


def about(kind: str, *, paid: Mechanism | None, **details: Any) -> dict[str, Any]:
    """What a look says of itself, in the form that it has when it is read again."""
    facts = {"kind": kind, "paid": None if paid is None else describe(paid), **details}
    return dict(json.loads(canonical(facts)))


def looks_in(steps: Iterable[Step]) -> tuple[Look, ...]:
    """The tables and choices among steps, in order."""
    looks = [step.look for step in steps]
    return tuple(look for look in looks if look is not None)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A finished run: public facts about it, and its steps."""

    facts: Mapping[str, Any]
    steps: tuple[Step, ...]

    def encoded(self) -> bytes:
        """What is stored of it."""
        bodies = [step.encoded() for step in self.steps]
        head = {"transcript": FORMAT, "facts": self.facts, "lengths": [len(body) for body in bodies]}
        return b"".join([canonical(head).encode(), b"\n", *bodies])

    @classmethod
    def decoded(cls, stored: bytes) -> Transcript:
        """The same from stored bytes."""
        line, _, rest = stored.partition(b"\n")
        head = json.loads(line)
        if head.get("transcript") != FORMAT or sum(head["lengths"]) != len(rest):
            raise LedgerDamaged("A stored transcript cannot be read.", next_step="Ask the owner to verify the books.")
        return cls(head["facts"], tuple(Step.decoded(body) for body in _parts(rest, head["lengths"])))


def _parts(rest: bytes, lengths: Sequence[int]) -> Iterable[bytes]:
    start = 0
    for length in lengths:
        yield rest[start : start + length]
        start += length
