"""What a curator does for the owner alone: shows real numbers beside those of a release. None of it is private, none is charged or stored, and the
books say that somebody looked.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from discreet.api.run_parts import CuratorPart
from discreet.comparing.column_comparison import overlay, pair_of
from discreet.comparing.counted_rows import CountedRows, synthetic_rows
from discreet.comparing.distances import distances
from discreet.comparing.training_comparison import trained
from discreet.core.exact import Number, read_epsilon
from discreet.errors import BadInput, DiscreetError, EngineFailure
from discreet.ledger.chain.entries import AT_HAND
from discreet.measurement.domain import Bin, Column, domain_to_json
from discreet.measurement.run_budget import budget_of
from discreet.measurement.run_release import RunRelease, pure_epsilon
from discreet.measurement.runs import Basis, domain_of, source_in
from discreet.mechanisms import Adaptive, PureAdaptive
from discreet.noise import SYSTEM_BITS
from discreet.pipeline.journal import NoSteps
from discreet.pipeline.pipeline import PLACES, Desk
from discreet.sql.coded_rows import PeoplesRows, plan_rows
from discreet.sql.reader.query_text import Parameters
from discreet.synthetic.synthesis_run import synthesis, tables_of
from discreet.synthetic.synthetic_release import SyntheticRelease

NOT_PRIVATE = "Not private: do not show, do not publish."
DELTA = 1e-9
"""At which a rho is told as an epsilon here, so that prices stand on one axis."""
SECONDS = 30.0
"""That tables are compared, and the same again that models are learned; then what there is counts."""
_LOG = logging.getLogger("discreet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Which release the owner looks at, and how.

    Args:
        name: As it was given to the release.
        given_by: The analyst who gave it, where several did.
        parameters: Of its source, where that has any: the books do not keep them.
        by: Who looks, for the books.
    """

    name: str
    given_by: str | None = None
    parameters: Parameters = ()
    by: str = AT_HAND


@dataclass(frozen=True, slots=True)
class _Comparable:
    """A release, and the rows of its source as they are served now, coded as the release has them."""

    release: SyntheticRelease
    rows: PeoplesRows
    source: str


class ComparesReal(CuratorPart):
    """A part of the curator."""

    def compare(self, compared: Compared) -> dict[str, Any]:
        """Real numbers beside a release: every column, how far tables are off, and what is learned from either. Not private.

        Args:
            compared: The release.
        """
        found = self._comparable(compared)
        domain = found.release.domain
        synthetic = synthetic_rows(found.release.model, domain)
        self._note(compared, "columns")
        with self._real_rows(found.rows, found.release) as (real, known, held_out):
            return {
                **self._comparison_facts(compared, found.release),
                "rows": real.number,
                "synthetic_rows": synthetic.number,
                "columns": [overlay(column, real, synthetic) for column in domain.columns],
                "errors": distances(real, synthetic, _ends_in(SECONDS)),
                "trained": trained(known, synthetic, held_out, _ends_in(SECONDS)),
            }

    def compare_pair(self, compared: Compared, columns: tuple[str, str]) -> dict[str, Any]:
        """The table of two columns, real beside synthetic. Not private.

        Args:
            compared: The release.
            columns: Two of its columns.
        """
        found = self._comparable(compared)
        domain = found.release.domain
        pair = domain.check(domain.ordered(columns))
        if len(pair) != len(columns):
            raise BadInput("A pair is two columns.", next_step="Name two different ones.")
        synthetic = synthetic_rows(found.release.model, domain)
        self._note(compared, "a pair of columns")
        with self._real_rows(found.rows, found.release) as (real, _, _):
            return {**self._comparison_facts(compared, found.release), **pair_of(pair, real, synthetic)}

    def compare_price(self, compared: Compared, *, epsilon: Number) -> dict[str, Any]:
        """How far the same release would be off at another price: made once from the real rows, compared, and thrown away. Not private.

        Nothing is charged, since nothing of it may leave; it is neither stored nor named.

        Args:
            compared: The release.
            epsilon: The price to try: at a delta of 1e-9, unless the release is pure.
        """
        found, price = self._comparable(compared), float(read_epsilon(epsilon))
        self._note(compared, f"what epsilon {price:g} would do")
        with _told_plainly():
            tried = self._release_at(found, epsilon)
        synthetic = synthetic_rows(tried.model, tried.domain)
        with self._real_rows(found.rows, tried) as (real, _, _):
            return {**self._comparison_facts(compared, tried), "errors": distances(real, synthetic, _ends_in(SECONDS))}

    def _release_at(self, found: _Comparable, epsilon: Number) -> SyntheticRelease:
        """The same release at another price, which nobody but the owner hears of."""
        is_pure = isinstance(found.release.budget, PureAdaptive)
        budget = budget_of(epsilon=epsilon, delta=None if is_pure else DELTA, rho=None, is_pure_account=is_pure)
        basis = Basis(found.rows, found.release.domain, budget, self.version, found.source, None)
        run = synthesis(basis, workload=list(tables_of(found.release.purpose)), method=found.release.method)
        with self._engine.holding(run.queries):
            return SyntheticRelease(run.made(Desk(self._engine, SYSTEM_BITS, threading.Event(), NoSteps())))

    def _note(self, compared: Compared, what: str) -> None:
        """Write down who looks at what, before any row is read for them."""
        self.ledger.note_comparison(compared.name, what, analyst=compared.given_by, by=compared.by)

    def _comparable(self, compared: Compared) -> _Comparable:
        """A release and what its rows are; or a refusal. Nothing is read."""
        stored, words = self.ledger.named_run(compared.name, analyst=compared.given_by)
        release = RunRelease.of_its_kind(stored, name=compared.name)
        if not isinstance(release, SyntheticRelease):
            raise BadInput("Only synthetic data is compared with rows.", next_step="Compare another release.")
        rows = self._rows_again(release, source_in(words), compared.parameters)
        return _Comparable(release, rows, source_in(words))

    def _rows_again(self, release: SyntheticRelease, source: str, parameters: Parameters) -> PeoplesRows:
        columns = release.domain.columns
        rows = plan_rows(
            source,
            self.declared,
            self._engine,
            bins={column.name: _bins(column) for column in columns if _bins(column)},
            found={column.name: column.labels for column in columns if not _bins(column)},
            parameters=parameters,
            today=self.ledger.data_day(),
        )
        self._engine.bind_rows(rows.query)
        now = domain_of(rows, self.declared.neighbours)
        if domain_to_json(now)["columns"] != domain_to_json(release.domain)["columns"]:
            raise BadInput(
                "The catalog has other columns or bounds than when this release was made.",
                next_step="Compare one that is made now.",
            )
        return rows

    @contextmanager
    def _real_rows(
        self, rows: PeoplesRows, release: SyntheticRelease
    ) -> Iterator[tuple[CountedRows, CountedRows, CountedRows]]:
        """All real rows; most of them; and the others."""
        with (
            _told_plainly(),
            self._engine.holding([rows.query]),
            self._engine.parted_tables(rows.query, cancelled=threading.Event(), sharing=PLACES) as parted,
        ):
            real, known, held_out = (CountedRows(release.domain, tables) for tables in parted)
            yield real, known, held_out

    def _comparison_facts(self, compared: Compared, release: SyntheticRelease) -> dict[str, Any]:
        """What every comparison says first."""
        budget = release.budget
        is_pure = not isinstance(budget, Adaptive)
        return {
            "not_private": NOT_PRIVATE,
            "name": compared.name,
            "data_version": self.version,
            "method": release.method,
            "rho": budget.rho,
            "epsilon": pure_epsilon(budget) if is_pure else budget.epsilon_at(DELTA),
            "delta": None if is_pure else DELTA,
        }


@contextmanager
def _told_plainly() -> Iterator[None]:
    """One sentence for whatever engines fail with: their text quotes cells, and ends in a log."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as failure:  # noqa: BLE001  not only what engines are known to raise
        _LOG.error("a comparison failed: %s", type(failure).__name__)
        raise EngineFailure(
            "The rows could not be counted.",
            next_step="Try again when the server is quiet, or give the engine more memory.",
        ) from None


def _ends_in(seconds: float) -> Callable[[], bool]:
    until = time.monotonic() + seconds
    return lambda: time.monotonic() > until


def _bins(column: Column) -> int:
    """How many bins a column has; none where its values stand for themselves."""
    return sum(isinstance(label, Bin) for label in column.labels)
