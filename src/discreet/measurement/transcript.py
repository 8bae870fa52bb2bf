"""The stored form of steps and transcripts.

A step is one line of canonical JSON that describes the measurement, then the outcome as little-endian 64-bit integers. A transcript is one line
that describes the run and the length of each step, then the steps. Nothing in it is private: outcomes are released.

A run that reuses earlier releases stores their tables as its first step, so that everything computed from a transcript follows from it alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LedgerDamaged, WrongFormat
from discreet.ledger.chain.entries import canonical
from discreet.ledger.charges.release_json import mechanism_from_json_as, mechanism_to_json
from discreet.measurement.measurer import Chosen, Measured, MeasurementResult, SmallDatabase
from discreet.mechanisms import Exponential, Gaussian, Laplace, Mechanism

FORMAT = 2
REUSED = "reused"
"""The kind of the step with the tables of earlier releases."""
_INTEGERS = np.dtype("<i8")


@dataclass(frozen=True, slots=True)
class Step:
    """A measurement (`about`, in JSON) and its outcome."""

    about: Mapping[str, Any]
    outcome: NDArray[np.int64]

    @property
    def kind(self) -> str:
        return str(self.about["kind"])

    def encoded(self) -> bytes:
        """Return the stored form: one line, then integers."""
        return canonical(self.about).encode() + b"\n" + self.outcome.astype(_INTEGERS).tobytes()

    @classmethod
    def decoded(cls, body: bytes) -> Step:
        """Read it from its stored form."""
        line, _, integers = body.partition(b"\n")
        return cls(json.loads(line), np.frombuffer(integers, _INTEGERS).astype(np.int64))

    @property
    def measurements(self) -> tuple[MeasurementResult, ...]:
        """The table, choice or small database of the step, or all reused tables; empty for steps of a sparse vector."""
        match self.kind:
            case "table":
                return (self.measured(),)
            case "choice":
                candidates = tuple(tuple(columns) for columns in self.about["candidates"])
                return (Chosen(candidates[int(self.outcome[0])], candidates, self._choice()),)
            case "small":
                return (self.small_database(),)
        steps = (step for earlier in self.reused() for step in earlier.steps)
        return tuple(replace(step.measured(), is_reused=True) for step in steps if step.kind == "table")

    def measured(self) -> Measured:
        """Return the outcome as a table."""
        values = self.outcome.reshape(self.about["shape"])
        groups = {name: tuple(codes) for name, codes in self.about["groups"].items()}
        return Measured(tuple(self.about["columns"]), values, self.noise, groups)

    def small_database(self) -> SmallDatabase:
        """Return the outcome as a small database."""
        return SmallDatabase(tuple(self.outcome.tolist()), self.about["rows_each"], self._choice())

    def reused(self) -> tuple[Earlier, ...]:
        """Return the earlier releases in this step; none if the step is of another kind."""
        outcome, found = self.outcome, []
        for release in self.about["releases"] if self.kind == REUSED else ():
            steps = []
            for about_it in release["steps"]:
                facts = {name: value for name, value in about_it.items() if name != "length"}
                drawn, outcome = np.split(outcome, [about_it["length"]])
                steps.append(Step(facts, drawn))
            found.append(Earlier(release["name"], release["run"], tuple(steps)))
        return tuple(found)

    @property
    def noise(self) -> Gaussian | Laplace:
        """The noise that was added to each number of the outcome."""
        if self.about["paid"]["mechanism"] == "Laplace":
            return mechanism_from_json_as(Laplace, self.about["paid"])
        return mechanism_from_json_as(Gaussian, self.about["paid"])

    def _choice(self) -> Exponential:
        return mechanism_from_json_as(Exponential, self.about["paid"])


@dataclass(frozen=True, slots=True)
class Earlier:
    """Steps of an earlier release that are reused, with its name and the key of its charge."""

    name: str
    run: str
    steps: tuple[Step, ...]


def reusing(releases: Iterable[Earlier]) -> Step:
    """Return the first step of a run that reuses measurements of earlier releases."""
    listed = list(releases)
    facts = [
        {
            "name": earlier.name,
            "run": earlier.run,
            "steps": [{**step.about, "length": step.outcome.size} for step in earlier.steps],
        }
        for earlier in listed
    ]
    outcomes = [step.outcome for earlier in listed for step in earlier.steps]
    return Step(about(REUSED, paid=None, releases=facts), np.concatenate([np.zeros(0, np.int64), *outcomes]))


def about(kind: str, *, paid: Mechanism | None, **details: Any) -> dict[str, Any]:
    """Return the description of a measurement, in the form it has when it is read back from JSON."""
    facts = {"kind": kind, "paid": None if paid is None else mechanism_to_json(paid), **details}
    return dict(json.loads(canonical(facts)))


def measurements_in(steps: Iterable[Step]) -> tuple[MeasurementResult, ...]:
    """Return the tables and choices among steps, in order; reused ones first."""
    return tuple(look for step in steps for look in step.measurements)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A finished run: its public description and its steps."""

    facts: Mapping[str, Any]
    steps: tuple[Step, ...]

    @property
    def reused(self) -> tuple[Earlier, ...]:
        """The earlier releases that it started with."""
        return tuple(earlier for step in self.steps[:1] for earlier in step.reused())

    @property
    def own(self) -> tuple[Step, ...]:
        """Its steps without those of earlier releases."""
        return tuple(step for step in self.steps if step.kind != REUSED)

    def encoded(self) -> bytes:
        """Return the stored form."""
        bodies = [step.encoded() for step in self.steps]
        head = {"transcript": FORMAT, "facts": self.facts, "lengths": [len(body) for body in bodies]}
        return b"".join([canonical(head).encode(), b"\n", *bodies])

    @classmethod
    def decoded(cls, stored: bytes) -> Transcript:
        """Read it from its stored form."""
        line, _, rest = stored.partition(b"\n")
        head = json.loads(line)
        if head.get("transcript") != FORMAT:
            raise WrongFormat(
                "A stored transcript was written by another version of Discreet.", next_step="Use that version."
            )
        if sum(head["lengths"]) != len(rest):
            raise LedgerDamaged("A stored transcript cannot be read.", next_step="Ask the owner to verify the ledger.")
        return cls(head["facts"], tuple(Step.decoded(body) for body in _parts(rest, head["lengths"])))


def _parts(rest: bytes, lengths: Sequence[int]) -> Iterable[bytes]:
    start = 0
    for length in lengths:
        yield rest[start : start + length]
        start += length
