"""A session as something to ask for: its mode, what makes two of them the same, and the run that is charged."""

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
from discreet.sessions.modes import FIT, Fitted, Given, Mode, Textbook
from discreet.sessions.session import Opening
from discreet.sessions.session_terms import MOST_ALARMS
from discreet.synthetic.methods.affordability import MOST_NOISE, Work, check_affordable, work_of
from discreet.synthetic.methods.reused_tables import fitting_tables
from discreet.synthetic.synthesis_run import Wanted, method_named, tables_wanted
from discreet.synthetic.synthetic_release import SyntheticRelease

PURPOSE = "session"
ALARMS = 4
"""Answers that are measured where the guard finds them wrong, unless another number is asked for; a restart takes one away."""
MOST_QUERIES = 1_000_000
_RULES = 1
"""Raised with every change of what a session asks for after which outcomes: so that none is gone on with by other rules."""
_METHOD = "aim"
_CELL = 20e-9
"""Seconds for each cell of even weights."""


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
    workload: Wanted | None
    alarms: int
    release: RunRelease | None
    name: str

    def __post_init__(self) -> None:
        read_count(self.queries, name="queries", most=MOST_QUERIES)
        read_count(self.alarms, name="alarms", most=MOST_ALARMS)
        if not isinstance(self.name, str) or len(self.name) > 200:
            raise BadInput("The name of a session is text of at most 200 characters.", next_step="Give another one.")


def opening_of(settings: SessionSettings, basis: Basis, *, analyst: str | None, reuse: Reuse | None = None) -> Opening:
    """What is charged and begun, or a refusal by name. Nothing is read.

    Args:
        settings: What it is.
        basis: Whose rows, and what may be spent.
        analyst: Whose session it is: nobody else goes on with it.
        reuse: What was measured of the same rows before, if that enters the hypothesis.
    """
    domain, budget = basis.domain, basis.budget
    mode, facts, work = _mode(settings, domain, budget)
    try:
        mode.promised(domain, budget, settings.queries)
    except (BadInput, ScaleOutOfRange):
        raise ScaleOutOfRange(
            "The price is too small for a guard of this session.", next_step="Pay more, or ask for fewer alarms."
        ) from None
    purpose: Mapping[str, object] = {
        "kind": PURPOSE,
        "rules": _RULES,
        "mode": settings.mode,
        "questions": settings.queries,
        "analyst": analyst,
        "name": settings.name,
        **facts,
    }
    if reuse is not None:
        reuse = _fitting(reuse, mode, domain, budget)
    run = basis.run(
        "session",
        purpose=purpose,
        measure=_finished_by_nobody,
        reuse=reuse,
        looks=work.looks,
        computing=work.seconds,
    )
    return Opening(run, mode, settings.queries, analyst)


def _fitting(reuse: Reuse, mode: Mode, domain: Domain, budget: AdaptiveBudget) -> Reuse:
    """Those tables that enter the hypothesis of a mode."""
    if not isinstance(mode, Fitted):
        raise BadInput(
            "Only a hypothesis that is fitted reuses tables.", next_step="Leave out reuse, or mode and release."
        )
    part = budget.part(budget.amount * FIT)
    return replace(reuse, releases=fitting_tables(reuse.releases, mode.method, domain, mode.wanted, part))


def _finished_by_nobody(_: object) -> None:
    """A session is begun and gone on with, and never made at one go."""
    raise NotImplementedError


def _mode(settings: SessionSettings, domain: Domain, budget: AdaptiveBudget) -> tuple[Mode, Mapping[str, object], Work]:
    """How it begins, what of that makes two sessions the same, and how much work it is."""
    if settings.mode == "textbook":
        domain.check(domain.names, most=MOST_COUNTED)
        return Textbook(), {}, Work(1, domain.cells(domain.names) * _CELL)
    if settings.release is not None:
        model = _of_the_same_columns(settings.release, domain).model
        digest = hashlib.sha256(settings.release.stored).hexdigest()
        return Given(model, settings.alarms), {"release": digest, "alarms": settings.alarms}, Work(1, 0.0)
    workload = min(3, len(domain.columns)) if settings.workload is None else settings.workload
    wanted, method = tables_wanted(workload, domain), method_named(_METHOD)
    check_affordable(method, domain, wanted, budget.part(budget.amount * FIT))
    tables = [[list(columns), weight] for columns, weight in wanted.items()]
    facts = {"method": _METHOD, "version": method.version, "tables": tables, "alarms": settings.alarms}
    return Fitted(method, wanted, settings.alarms), facts, work_of(method, domain, wanted)


def _of_the_same_columns(release: RunRelease, domain: Domain) -> SyntheticRelease:
    if not isinstance(release, SyntheticRelease):
        raise BadInput("A hypothesis has every table.", next_step="Give a release of synthetic data.")
    for column in domain.columns:
        if column.name not in release.domain.names or release.domain.column(column.name) != column:
            raise UnknownName(
                f"The release has no column {column.name} with these values.",
                next_step="Give a release of the same source, with the same bins; or select the columns that it has.",
            )
    if not 0 <= release.total <= MOST_NOISE:
        raise BadInput("The release has more rows than there can be.", next_step="Give another one.")
    return release
