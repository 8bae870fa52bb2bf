"""The run that makes synthetic data: its workload, its method and its measurements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from discreet.core.exact import read_count
from discreet.errors import BadInput, TooLarge
from discreet.measurement.domain import Columns, Domain
from discreet.measurement.runs import Basis, Reuse, TableRun
from discreet.synthetic.methods.affordability import check_affordable, work_of
from discreet.synthetic.methods.candidates import check_number, number_of
from discreet.synthetic.methods.method import Method
from discreet.synthetic.methods.method_registry import METHODS
from discreet.synthetic.methods.reused_tables import fitting_tables

Workload: TypeAlias = int | Iterable[Iterable[str]]
"""A number of columns, for all tables over that many; or tables, each by its column names."""
PURPOSE = "synthesize"
MOST_TABLES = 10_000


def workload_marginals(workload: Workload, domain: Domain) -> dict[Columns, int]:
    """Return the marginals of a workload with their weights, or refuse the workload."""
    if isinstance(workload, str) or not isinstance(workload, int | Iterable):
        raise BadInput(
            "A workload is a number of columns, or a list of tables.",
            next_step="Give a number such as 3, or tables by their columns.",
        )
    if not isinstance(workload, int):
        named = [domain.ordered(columns) for columns in workload]
    else:
        count, columns = read_count(workload, name="workload"), len(domain.columns)
        if count > columns:
            raise BadInput(
                f"There are {columns} columns, so there is no table over {count}.",
                next_step=f"Give a workload of at most {columns}.",
            )
        if math.comb(columns, count) > MOST_TABLES:
            raise TooLarge(f"These are more than {MOST_TABLES:,} tables.", next_step="Give a smaller workload.")
        named = list(itertools.combinations(domain.names, count))
    if not named or len(named) > MOST_TABLES:
        raise BadInput(f"A workload has from 1 to {MOST_TABLES:,} tables.", next_step="Name other tables.")
    marginals = {domain.check(columns): 1 for columns in named}
    check_number(number_of(domain, marginals))
    return marginals


def tables_of(purpose: Mapping[str, Any]) -> dict[Columns, int]:
    """Return the marginals that the stored purpose of a run names."""
    return {tuple(columns): weight for columns, weight in purpose["tables"]}


def method_named(name: str) -> Method:
    """Return a method by its name."""
    if name not in METHODS:
        raise BadInput("There is no such method.", next_step=f"Use one of: {', '.join(METHODS)}.")
    return METHODS[name]


def synthesis(basis: Basis, *, workload: Workload, method: str, reuse: Reuse | None = None) -> TableRun:
    """Return the run that makes synthetic data, with the earlier tables that its method can use. It reads no rows."""
    domain = basis.domain
    marginals, way = workload_marginals(workload, domain), method_named(method)
    way.check(domain, marginals)
    check_affordable(way, domain, marginals, basis.budget)
    tables = [[list(columns), weight] for columns, weight in marginals.items()]
    purpose: Mapping[str, object] = {"kind": PURPOSE, "method": method, "version": way.version, "tables": tables}
    work = work_of(way, domain, marginals)
    measure = partial(way.measure, marginals=marginals)
    if reuse is not None:
        reuse = replace(reuse, releases=fitting_tables(reuse.releases, way, domain, marginals, basis.budget))
    return basis.run(
        "synthetic data",
        purpose=purpose,
        measure=measure,
        reuse=reuse,
        measurements=work.measurements,
        computing=work.seconds,
    )
