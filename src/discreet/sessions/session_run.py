"""The run of a session: its settings, what makes two sessions the same, and its cost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from discreet.core.exact import read_count
from discreet.errors import BadInput, ScaleOutOfRange, UnknownName
from discreet.measurement.domain import MOST_COUNTED, Domain
from discreet.measurement.run_release import RunRelease
from discreet.measurement.runs import Basis, Reuse
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.sessions.modes import FIT, Fitted, FromRelease, Mode, Textbook
from discreet.sessions.session import Opening
from discreet.sessions.session_terms import MOST_ALARMS
from discreet.synthetic.methods.affordability import MOST_NOISE, Work, check_affordable, work_of
from discreet.synthetic.methods.reused_tables import fitting_tables
from discreet.synthetic.synthesis_run import Workload, method_named, workload_marginals
from discreet.synthetic.synthetic_release import SyntheticRelease

PURPOSE = "session"
ALARMS = 4
"""Alarms of a practical session, if no other number is given."""
MOST_QUERIES = 1_000_000
_RULES = 1
"""Part of a session's digest. Raise it with every change of which measurements follow which outcomes, so that no
session is continued by other rules than it was opened with."""
_METHOD = "aim"
_SECONDS_PER_CELL = 20e-9
"""Expected time for each cell of a textbook session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What a session is, beside its rows and its budget.

    Args:
        queries: Largest number of different queries.
        mode: "practical" or "textbook".
        workload: Marginals that the model of a practical session preserves.
        alarms: How many badly answered queries a practical session can find.
        release: Synthetic data to answer from, instead of a model that is fitted.
        name: Another name is another session.
    """

    queries: int
    mode: str
    workload: Workload | None
    alarms: int
    release: RunRelease | None
    name: str

    def __post_init__(self) -> None:
        read_count(self.queries, name="queries", most=MOST_QUERIES)
        read_count(self.alarms, name="alarms", most=MOST_ALARMS)
        if not isinstance(self.name, str) or len(self.name) > 200:
            raise BadInput("The name of a session is text of at most 200 characters.", next_step="Give another one.")


def opening_of(settings: SessionSettings, basis: Basis, *, analyst: str | None, reuse: Reuse | None = None) -> Opening:
    """Prepare a session, or refuse it. Reads no protected row.

    Args:
        settings: What the session is.
        basis: Its rows and its budget.
        analyst: Who opens it. The analyst is part of its digest, so nobody else can continue it.
        reuse: Earlier measurements of the same rows that enter the hypothesis.
    """
    domain, budget = basis.domain, basis.budget
    mode, details, work = _mode(settings, domain, budget)
    try:
        mode.terms_before_charge(domain, budget, settings.queries)
    except (BadInput, ScaleOutOfRange):
        raise ScaleOutOfRange(
            "The budget is too small to check the answers of this session.",
            next_step="Use a larger budget, or fewer alarms.",
        ) from None
    purpose: Mapping[str, object] = {  # stored, and part of the digest: the keys stay
        "kind": PURPOSE,
        "rules": _RULES,
        "mode": settings.mode,
        "questions": settings.queries,
        "analyst": analyst,
        "name": settings.name,
        **details,
    }
    if reuse is not None:
        reuse = _reuse_for(mode, reuse, domain, budget)
    run = basis.run(
        "session",
        purpose=purpose,
        measure=_refuse_to_measure,
        reuse=reuse,
        measurements=work.measurements,
        computing=work.seconds,
    )
    return Opening(run, mode, settings.queries, analyst)


def _reuse_for(mode: Mode, reuse: Reuse, domain: Domain, budget: AdaptiveBudget) -> Reuse:
    """The earlier tables that the hypothesis of a mode can use."""
    if not isinstance(mode, Fitted):
        raise BadInput(
            "Only a practical session that fits a model reuses tables.",
            next_step="Leave out reuse, or mode and release.",
        )
    part = budget.part(budget.amount * FIT)
    return replace(reuse, releases=fitting_tables(reuse.releases, mode.method, domain, mode.tables, part))


def _refuse_to_measure(_: object) -> None:
    """A session measures from call to call, and never in one go as other runs do."""
    raise NotImplementedError


def _mode(settings: SessionSettings, domain: Domain, budget: AdaptiveBudget) -> tuple[Mode, Mapping[str, object], Work]:
    """The mode of a session, what of it enters the digest, and its expected work."""
    if settings.mode == "textbook":
        domain.check(domain.names, most=MOST_COUNTED)
        return Textbook(), {}, Work(1, domain.cells(domain.names) * _SECONDS_PER_CELL)
    if settings.release is not None:
        model = _check_release(settings.release, domain).model
        digest = hashlib.sha256(settings.release.stored).hexdigest()
        details: dict[str, object] = {"release": digest, "alarms": settings.alarms}
        return FromRelease(model, settings.alarms), details, Work(1, 0.0)
    workload = min(3, len(domain.columns)) if settings.workload is None else settings.workload
    tables, method = workload_marginals(workload, domain), method_named(_METHOD)
    check_affordable(method, domain, tables, budget.part(budget.amount * FIT))
    listed = [[list(columns), weight] for columns, weight in tables.items()]
    details = {"method": _METHOD, "version": method.version, "tables": listed, "alarms": settings.alarms}
    return Fitted(method, tables, settings.alarms), details, work_of(method, domain, tables)


def _check_release(release: RunRelease, domain: Domain) -> SyntheticRelease:
    """A release whose model can answer queries over a domain, or a refusal."""
    if not isinstance(release, SyntheticRelease):
        raise BadInput("A session answers from synthetic data.", next_step="Give a release of synthetic data.")
    for column in domain.columns:
        if column.name not in release.domain.names or release.domain.column(column.name) != column:
            raise UnknownName(
                f"The release has no column {column.name} with these values.",
                next_step="Give a release of the same source, with the same bins; or select the columns that it has.",
            )
    if not 0 <= release.total <= MOST_NOISE:
        raise BadInput("The release has an impossible number of rows.", next_step="Give another release.")
    return release
