"""What comes of a run: what was drawn, as it is stored, and whatever anybody can make of it. Nothing private is in it.

Each kind of run has its own class, which is found by what the transcript says that it is for.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from discreet.errors import BadRelease
from discreet.ledger.charges.release_json import mechanism_from_json_as
from discreet.measurement.domain import Domain, domain_from_json, domain_to_json
from discreet.measurement.release_files import no_release, read_release, release_as_bytes
from discreet.measurement.transcript import Transcript, measurements_in
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget


class RunRelease:
    """Made from stored bytes.

    Args:
        stored: The transcript of the run.
        name: What it is looked up by.
        receipt: Of its charge.
        replayed: Whether it was there already, and free.
    """

    kind: ClassVar[str]
    """What the transcript says that the run was for."""
    _kinds: ClassVar[dict[str, type[RunRelease]]] = {}

    def __init_subclass__(cls, *, kind: str) -> None:
        super().__init_subclass__()
        cls.kind, RunRelease._kinds[kind] = kind, cls

    def __init__(self, stored: bytes, *, name: str | None = None, receipt: str = "", replayed: bool = False) -> None:
        self.stored, self.transcript = stored, Transcript.decoded(stored)
        self.name, self.receipt, self.replayed = name, receipt, replayed
        if self.purpose["kind"] != self.kind:
            raise BadRelease(
                f"This is a release of another kind: {self.purpose['kind']}.", next_step="Load it as what it is."
            )

    @property
    def purpose(self) -> dict[str, Any]:
        """What the run was for."""
        purpose: dict[str, Any] = self.transcript.facts["purpose"]
        return purpose

    @cached_property
    def domain(self) -> Domain:
        """Columns with their labels, and how many rows of a person count."""
        return domain_from_json(self.transcript.facts["domain"])

    @property
    def budget(self) -> AdaptiveBudget:
        """What was paid for it."""
        return mechanism_from_json_as(AdaptiveBudget, self.transcript.facts["budget"])  # type: ignore[type-abstract]

    @property
    def reused(self) -> list[str]:
        """The names of earlier releases whose tables it has, free."""
        return [earlier.name for earlier in self.transcript.reused]

    @property
    def summary(self) -> dict[str, Any]:
        """What it was made of, in JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "columns": {column.name: column.size for column in self.domain.columns},
            "rows_per_person": self.domain.rows_per_person,
            "measurements": len(self.transcript.own),
            "reused": self.reused,
            "rho": self.budget.rho,
            "epsilon": pure_epsilon(self.budget),
            "receipt": self.receipt or None,
        }

    @property
    def details(self) -> dict[str, Any]:
        """The same, and what takes a moment to work out: for those who have paid."""
        return self.summary

    def as_bytes(self) -> bytes:
        """What `save` writes."""
        return release_as_bytes(self.stored, name=self.name, receipt=self.receipt)

    def save(self, path: str | Path) -> None:
        """Write all of it to a file, from which `load` makes it again; nothing in it is private.

        Args:
            path: Of the file.
        """
        Path(path).write_bytes(self.as_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A release as it was saved; a file that is damaged, foreign or newer is refused.

        Args:
            path: Of the file.
        """
        stored, name, receipt = read_release(Path(path).read_bytes())
        try:
            release = cls(stored, name=name, receipt=receipt)
            is_whole = domain_to_json(release.domain) == release.transcript.facts["domain"]
            release.summary, measurements_in(release.transcript.steps)
        except BadRelease:
            raise
        except Exception:  # noqa: BLE001  anybody may have written it, and worked out the checksum
            raise no_release() from None
        if not is_whole:
            raise no_release()
        return release

    @staticmethod
    def of_its_kind(stored: bytes, *, name: str | None, receipt: str = "", replayed: bool = True) -> RunRelease:
        """A stored release as what its transcript says that it is.

        Args:
            stored: The transcript of the run.
            name: What it was looked up by.
            receipt: Of its charge.
            replayed: Whether it was there already, and free.
        """
        kind = Transcript.decoded(stored).facts["purpose"]["kind"]
        if kind not in RunRelease._kinds:
            raise BadRelease(
                "This release is of a kind that is not known here.", next_step="Install a newer version of Discreet."
            )
        return RunRelease._kinds[kind](stored, name=name, receipt=receipt, replayed=replayed)


def pure_epsilon(budget: AdaptiveBudget) -> float | None:
    """What is counted of a budget beside rho; None where it has no pure epsilon.

    Args:
        budget: That was paid.
    """
    return None if isinstance(budget, Adaptive) else budget.pure_epsilon
