"""The release of a run: its stored outcomes and what can be computed from them. Nothing private is in it.

Each kind of run has its own class, which is found by the kind in its transcript.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from discreet.errors import BadRelease
from discreet.ledger.charges.release_json import mechanism_from_json_as
from discreet.measurement.domain import Domain, domain_from_json, domain_to_json
from discreet.measurement.release_files import not_a_release, read_release, release_as_bytes
from discreet.measurement.transcript import Transcript, measurements_in
from discreet.mechanisms import Adaptive
from discreet.mechanisms.adaptive_budget import AdaptiveBudget


class RunRelease:
    """The release of a run, read from its stored transcript.

    Args:
        stored: Stored transcript of the run.
        name: Name by which the release can be loaded.
        receipt: Receipt of the charge.
        replayed: Whether the release was stored before this call, and so free.
    """

    kind: ClassVar[str]
    """The kind of run, as the transcript names it."""
    _kinds: ClassVar[dict[str, type[RunRelease]]] = {}

    def __init_subclass__(cls, *, kind: str) -> None:
        super().__init_subclass__()
        cls.kind, RunRelease._kinds[kind] = kind, cls

    def __init__(self, stored: bytes, *, name: str | None = None, receipt: str = "", replayed: bool = False) -> None:
        self.stored, self.transcript = stored, Transcript.decoded(stored)
        self.name, self.receipt, self.replayed = name, receipt, replayed
        if self.purpose["kind"] != self.kind:
            raise BadRelease(
                f"This is a release of another kind: {self.purpose['kind']}.",
                next_step="Load it with the class of that kind.",
            )

    @property
    def purpose(self) -> dict[str, Any]:
        """The purpose of the run, in JSON."""
        purpose: dict[str, Any] = self.transcript.facts["purpose"]
        return purpose

    @cached_property
    def domain(self) -> Domain:
        """Columns with their labels, and the most rows of one person."""
        return domain_from_json(self.transcript.facts["domain"])

    @property
    def budget(self) -> AdaptiveBudget:
        """The budget that was charged."""
        return mechanism_from_json_as(AdaptiveBudget, self.transcript.facts["budget"])  # type: ignore[type-abstract]

    @property
    def reused(self) -> list[str]:
        """The names of the earlier releases whose tables it reuses."""
        return [earlier.name for earlier in self.transcript.reused]

    @property
    def summary(self) -> dict[str, Any]:
        """A short description in JSON."""
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
        """The summary with values that take longer to compute."""
        return self.summary

    def as_bytes(self) -> bytes:
        """Return the content of the file that `save` writes."""
        return release_as_bytes(self.stored, name=self.name, receipt=self.receipt)

    def save(self, path: str | Path) -> None:
        """Write the release to a file that `load` reads. Nothing in it is private.

        Args:
            path: File to write; an existing file is replaced.
        """
        Path(path).write_bytes(self.as_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved release. A file that is damaged, of another kind or of another format is refused.

        Args:
            path: File that `save` wrote.
        """
        stored, name, receipt = read_release(Path(path).read_bytes())
        try:
            release = cls(stored, name=name, receipt=receipt)
            is_whole = domain_to_json(release.domain) == release.transcript.facts["domain"]
            release.summary, measurements_in(release.transcript.steps)
        except BadRelease:
            raise
        except Exception:  # noqa: BLE001  anyone can write a file with a right checksum
            raise not_a_release() from None
        if not is_whole:
            raise not_a_release()
        return release

    @staticmethod
    def of_its_kind(stored: bytes, *, name: str | None, receipt: str = "", replayed: bool = True) -> RunRelease:
        """Return a stored release as an object of the class of its kind.

        Args:
            stored: Stored transcript of the run.
            name: Name by which the release was loaded.
            receipt: Receipt of the charge.
            replayed: Whether the release was stored before this call, and so free.
        """
        kind = Transcript.decoded(stored).facts["purpose"]["kind"]
        if kind not in RunRelease._kinds:
            raise BadRelease(
                "This version of Discreet does not know this kind of release.",
                next_step="Install a newer version of Discreet.",
            )
        return RunRelease._kinds[kind](stored, name=name, receipt=receipt, replayed=replayed)


def pure_epsilon(budget: AdaptiveBudget) -> float | None:
    """Return the pure epsilon of a budget; None if it has none."""
    return None if isinstance(budget, Adaptive) else budget.pure_epsilon
