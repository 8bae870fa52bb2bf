"""A session as something to ask for: its mode, what makes two of them the same, and the run that is charged."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from discreet.core.exact import read_count
from discreet.errors import BadInput, ScaleOutOfRange, UnknownName
from discreet.measurement.domain import MOST_COUNTED, Domain
from discreet.measurement.run_options import RunOptions
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


class SessionOptions(RunOptions, total=False):
    """What a session shall be, beside its price."""

    mode: Annotated[str, '"practical", or "textbook" for private multiplicative weights with their theorem.']
    workload: Annotated[
        Wanted | None,
        "Tables that a practical hypothesis shall be good at: all over so many columns (3), or by the names of their columns.",
    ]
    alarms: Annotated[
        int, "How many badly answered questions a practical session can find and measure; a restart takes one away."
    ]
    release: Annotated[
        str | RunRelease | None,
        "Synthetic data of the same columns, as a release or its name, to be the hypothesis: then the guard has the whole price.",
    ]
    name: Annotated[str, "Another name makes another session, which is paid for anew."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a session shall be.

    Args:
        queries: How many different ones there may be.
        mode: "practical" or "textbook".
        workload: Tables that a practical hypothesis shall be good at.
        alarms: How many badly answered queries a practical session can find.
        release: What the hypothesis is, where it is not fitted.
        name: Another name makes another session.
    """

    queries: int
    mode: str = "practical"
    workload: Wanted | None = None
    alarms: int = ALARMS
    release: RunRelease | None = None
    name: str = ""

    def __post_init__(self) -> None:
        read_count(self.queries, name="queries", most=MOST_QUERIES)
        read_count(self.alarms, name="alarms", most=MOST_ALARMS)
        if self.mode not in {"practical", "textbook"}:
            raise BadInput("There is no such mode.", next_step="Use practical or textbook.")
        if not isinstance(self.name, str) or len(self.name) > 200:
            raise BadInput("The name of a session is text of at most 200 characters.", next_step="Give another one.")
        if self.mode == "textbook" and (self.release, self.workload, self.alarms) != (None, None, ALARMS):
            raise BadInput(
                "A textbook session has even weights at first, and as many alarms as its theorem needs.",
                next_step="Leave out release, workload and alarms.",
            )
        if self.release is not None and self.workload is not None:
            raise BadInput("A release is good at what it was made for.", next_step="Give a release or a workload.")


def opening_of(wish: Wish, basis: Basis, *, analyst: str | None, reuse: Reuse | None = None) -> Opening:
    """What is charged and begun, or a refusal by name. Nothing is read.

    Args:
        wish: What it shall be.
        basis: Whose rows, and what may be spent.
        analyst: Whose session it is: nobody else goes on with it.
        reuse: What was measured of the same rows before, if that enters the hypothesis.
    """
    domain, budget = basis.domain, basis.budget
    mode, facts, work = _mode(wish, domain, budget)
    try:
        mode.promised(domain, budget, wish.queries)
    except (BadInput, ScaleOutOfRange):
        raise ScaleOutOfRange(
            "The price is too small for a guard of this session.", next_step="Pay more, or ask for fewer alarms."
        ) from None
    purpose: Mapping[str, object] = {
        "kind": PURPOSE,
        "rules": _RULES,
        "mode": wish.mode,
        "questions": wish.queries,
        "analyst": analyst,
        "name": wish.name,
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
    return Opening(run, mode, wish.queries, analyst)


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


def _mode(wish: Wish, domain: Domain, budget: AdaptiveBudget) -> tuple[Mode, Mapping[str, object], Work]:
    """How it begins, what of that makes two sessions the same, and how much work it is."""
    if wish.mode == "textbook":
        domain.check(domain.names, most=MOST_COUNTED)
        return Textbook(), {}, Work(1, domain.cells(domain.names) * _CELL)
    if wish.release is not None:
        model = _of_the_same_columns(wish.release, domain).model
        digest = hashlib.sha256(wish.release.stored).hexdigest()
        return Given(model, wish.alarms), {"release": digest, "alarms": wish.alarms}, Work(1, 0.0)
    workload = min(3, len(domain.columns)) if wish.workload is None else wish.workload
    wanted, method = tables_wanted(workload, domain), method_named(_METHOD)
    check_affordable(method, domain, wanted, budget.part(budget.amount * FIT))
    tables = [[list(columns), weight] for columns, weight in wanted.items()]
    facts = {"method": _METHOD, "version": method.version, "tables": tables, "alarms": wish.alarms}
    return Fitted(method, wanted, wish.alarms), facts, work_of(method, domain, wanted)


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
