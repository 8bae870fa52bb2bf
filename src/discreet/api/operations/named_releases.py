"""What a curator does about releases that are finished: finds them again by their names."""

from __future__ import annotations

from discreet.api.run_parts import CuratorPart
from discreet.measurement.run_release import RunRelease


class FindsReleases(CuratorPart):
    """A part of the curator."""

    def releases(self, *, analyst: str | None = None) -> list[str]:
        """The names of releases that are finished: those that the analyst has paid for, or all for the owner; and what the owner has published.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        return self.ledger.named_releases(analyst=analyst)

    def release(self, name: str, *, analyst: str | None = None) -> RunRelease:
        """A release by its name: synthetic data, or tables. Nothing is spent.

        Args:
            name: As it was given.
            analyst: Who asks; nobody is the owner at hand.
        """
        return RunRelease.of_its_kind(self.ledger.named_answer(name, analyst=analyst), name=name)

    def publish(self, name: str, *, given_by: str | None = None) -> None:
        """Show a finished release to all, free, from now on: for the owner. It is written into the books, and cannot be taken back.

        Args:
            name: As it was given.
            given_by: The analyst who gave it, where several did.
        """
        self.ledger.publish(name, analyst=given_by)
