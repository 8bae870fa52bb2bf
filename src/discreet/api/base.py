"""What an analyst sees of a curator, near or far: one protocol, which speaks in `facts.py`."""

from __future__ import annotations

from typing import Protocol

from discreet.core.documenting import Told
from discreet.core.exact import Number
from discreet.measurement.run_release import RunRelease
from discreet.results.answer_base import Shown
from discreet.results.models import PAGE, Balance, Card, CatalogFacts, Explanation, PastRelease
from discreet.results.watch_base import WatchFace
from discreet.sql.builder import Table
from discreet.sql.reader.query_text import Parameters


class CuratorFace(Told, Protocol):
    """What an analyst can do, wherever the data is."""

    def table(self, name: str) -> Table:
        """A question built step by step instead of written.

        Args:
            name: Of a table in the catalog.
        """

    def ask(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        request_id: str | None = None,
    ) -> Shown:
        """Ask, pay, and get an answer with its ±.

        Args:
            sql: One SELECT, or a table with steps.
            epsilon: What it may cost; or say how exact it must be. There is no default.
            within: How exact: every number within ± this much.
            confidence: In which share of all answers, such as 0.95; goes with `within`.
            delta: For groups whose values are not declared.
            mechanism: "laplace", "gaussian" or "choose".
            parameters: A mapping for :name, or a sequence for ?.
            request_id: A name for this call: repeated under it, it is paid for once.
        """

    def explain(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
    ) -> Explanation:
        """What a question would read, measure and cost. Spends nothing.

        Args:
            sql: One SELECT, or a table with steps.
            epsilon: What it may cost; or say how exact it must be. There is no default.
            within: How exact: every number within ± this much.
            confidence: In which share of all answers, such as 0.95; goes with `within`.
            delta: For groups whose values are not declared.
            mechanism: "laplace", "gaussian" or "choose".
            parameters: A mapping for :name, or a sequence for ?.
        """

    def watch(
        self,
        sql: str | Table,
        *,
        threshold: Number,
        epsilon: Number | None = None,
        parameters: Parameters = (),
        run: int = 1,
        request_id: str | None = None,
    ) -> WatchFace:
        """Watch one count or sum over data versions until it is above, noisily: paid for in full now, and once.

        After a watch has ended, another of the same count is run 2, paid for anew.

        Args:
            sql: One count or sum.
            threshold: In the unit of what is counted.
            epsilon: What all of it may cost.
            parameters: A mapping for :name, or a sequence for ?.
            run: 1, and one more after each that has ended.
            request_id: A name for this call: repeated under it, it is paid for once.
        """

    def budget(self) -> list[Balance]:
        """The accounts that pay, and what is left of them."""

    def history(self, *, before: int | None = None, limit: int = PAGE) -> list[PastRelease]:
        """What was asked, newest first.

        Args:
            before: The number of a release: only what came before it.
            limit: How many at most.
        """

    def catalog(self) -> CatalogFacts:
        """What is public about the data."""

    def card(self) -> Card:
        """What was spent on what, for everybody."""

    def releases(self) -> list[str]:
        """The names of releases that are finished and yours to see: those that you have paid for, or all for the owner; and what is published."""

    def release(self, name: str) -> RunRelease:
        """A release by its name: synthetic data, or tables. Nothing is spent.

        Args:
            name: As it was given.
        """
