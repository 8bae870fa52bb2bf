"""Show exact numbers beside a release, for the data owner only.

The numbers are not private, and are neither charged nor stored. The ledger records who compared.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from discreet.api.context import Context
from discreet.api.requests.compare import ComparePairRequest, ComparePriceRequest, CompareRequest
from discreet.api.stored_releases import stored_release
from discreet.comparing.column_comparison import overlay, pair_of
from discreet.comparing.counted_rows import CountedRows, synthetic_rows
from discreet.comparing.distances import distances
from discreet.comparing.training_comparison import trained
from discreet.core.exact import Number, read_epsilon
from discreet.errors import BadInput, DiscreetError, EngineFailure, Forbidden
from discreet.measurement.domain import Bin, Column, domain_to_json
from discreet.measurement.run_budget import budget_of
from discreet.measurement.run_release import pure_epsilon
from discreet.measurement.runs import Basis, domain_of, source_in
from discreet.mechanisms import Adaptive, PureAdaptive
from discreet.noise import SYSTEM_BITS
from discreet.pipeline.journal import NoJournal
from discreet.pipeline.pipeline import READ_SLOTS, Resources
from discreet.sql.coded_rows import CodedSource, plan_rows
from discreet.synthetic.synthesis_run import synthesis, tables_of
from discreet.synthetic.synthetic_release import SyntheticRelease

NOT_PRIVATE = "Not private: do not show, do not publish."
DELTA = 1e-9
"""Delta at which rho is converted to epsilon here, so that all costs share one axis."""
SECONDS = 30.0
"""That tables are compared, and the same again that models are learned; then what there is counts."""
_LOG = logging.getLogger("discreet")


@dataclass(frozen=True, slots=True)
class _Comparable:
    """A release, and the rows of its source as they are served now, coded as the release has them."""

    release: SyntheticRelease
    rows: CodedSource
    source: str


def run(request: CompareRequest, context: Context) -> dict[str, Any]:
    """Compare a release with the rows that are served now."""
    if context.analyst is not None:
        raise Forbidden("Only the data owner can compare a release with real rows.", next_step="Ask the owner.")
    found = _comparable(request, context)
    match request:
        case ComparePairRequest():
            return _compare_pair(request, found, context)
        case ComparePriceRequest():
            return _compare_price(request, found, context)
    synthetic = synthetic_rows(found.release.model, found.release.domain)
    _record(request, "columns", context)
    with _real_rows(found.rows, found.release, context) as (real, known, held_out):
        return {
            **_summary(request, found.release, context),
            "rows": real.number,
            "synthetic_rows": synthetic.number,
            "columns": [overlay(column, real, synthetic) for column in found.release.domain.columns],
            "errors": distances(real, synthetic, _ends_in(SECONDS)),
            "trained": trained(known, synthetic, held_out, _ends_in(SECONDS)),
        }


def _compare_pair(request: ComparePairRequest, found: _Comparable, context: Context) -> dict[str, Any]:
    domain = found.release.domain
    pair = domain.check(domain.ordered(request.columns))
    if len(pair) != 2 or len(request.columns) != 2:
        raise BadInput("A pair is two columns.", next_step="Name two different ones.")
    synthetic = synthetic_rows(found.release.model, domain)
    _record(request, "a pair of columns", context)
    with _real_rows(found.rows, found.release, context) as (real, _, _):
        return {**_summary(request, found.release, context), **pair_of(pair, real, synthetic)}


def _compare_price(request: ComparePriceRequest, found: _Comparable, context: Context) -> dict[str, Any]:
    epsilon = float(read_epsilon(request.epsilon))
    _record(request, f"what epsilon {epsilon:g} would do", context)
    with _hide_engine_errors():
        tried = _release_at(found, request.epsilon, context)
    synthetic = synthetic_rows(tried.model, tried.domain)
    with _real_rows(found.rows, tried, context) as (real, _, _):
        return {**_summary(request, tried, context), "errors": distances(real, synthetic, _ends_in(SECONDS))}


def _release_at(found: _Comparable, epsilon: Number, context: Context) -> SyntheticRelease:
    """The same release at another epsilon, which only the owner sees."""
    is_pure = isinstance(found.release.budget, PureAdaptive)
    budget = budget_of(epsilon=epsilon, delta=None if is_pure else DELTA, rho=None, is_pure_account=is_pure)
    basis = Basis(found.rows, found.release.domain, budget, context.version, found.source, None)
    run = synthesis(basis, workload=list(tables_of(found.release.purpose)), method=found.release.method)
    with context.engine.holding(run.queries):
        return SyntheticRelease(run.compute(Resources(context.engine, SYSTEM_BITS, threading.Event(), NoJournal())))


def _record(request: CompareRequest, what: str, context: Context) -> None:
    """Write to the ledger who looks at what, before any row is read for them."""
    context.ledger.record_comparison(request.name, what, analyst=request.given_by, by=context.call.actor)


def _comparable(request: CompareRequest, context: Context) -> _Comparable:
    """A release and its rows, or a refusal. Nothing is read."""
    stored, label = context.ledger.named_run(request.name, analyst=request.given_by)
    release = stored_release(stored, name=request.name)
    if not isinstance(release, SyntheticRelease):
        raise BadInput("Only synthetic data is compared with rows.", next_step="Compare another release.")
    source = source_in(label)
    return _Comparable(release, _rows_of(release, source, request, context), source)


def _rows_of(release: SyntheticRelease, source: str, request: CompareRequest, context: Context) -> CodedSource:
    columns = release.domain.columns
    rows = plan_rows(
        source,
        context.catalog,
        context.engine,
        bins={column.name: _bins(column) for column in columns if _bins(column)},
        found={column.name: column.labels for column in columns if not _bins(column)},
        parameters=request.parameters,
        today=context.ledger.data_day(),
    )
    context.engine.bind_rows(rows.query)
    now = domain_of(rows, context.catalog.neighbours)
    if domain_to_json(now)["columns"] != domain_to_json(release.domain)["columns"]:
        raise BadInput(
            "The catalog has other columns or bounds than when this release was made.",
            next_step="Compare one that is made now.",
        )
    return rows


@contextmanager
def _real_rows(
    rows: CodedSource, release: SyntheticRelease, context: Context
) -> Iterator[tuple[CountedRows, CountedRows, CountedRows]]:
    """All real rows; most of them; and the others."""
    engine = context.engine
    with (
        _hide_engine_errors(),
        engine.holding([rows.query]),
        engine.parted_tables(rows.query, cancelled=threading.Event(), sharing=READ_SLOTS) as parted,
    ):
        real, known, held_out = (CountedRows(release.domain, tables) for tables in parted)
        yield real, known, held_out


def _summary(request: CompareRequest, release: SyntheticRelease, context: Context) -> dict[str, Any]:
    """What every comparison says first."""
    budget = release.budget
    is_pure = not isinstance(budget, Adaptive)
    return {
        "not_private": NOT_PRIVATE,
        "name": request.name,
        "data_version": context.version,
        "method": release.method,
        "rho": budget.rho,
        "epsilon": pure_epsilon(budget) if is_pure else budget.epsilon_at(DELTA),
        "delta": None if is_pure else DELTA,
    }


@contextmanager
def _hide_engine_errors() -> Iterator[None]:
    """Replace every engine error by one fixed message. Engine errors quote cells, so only their class is logged."""
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
