"""Workloads as JSON and back: what a run in the books says that it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.workloads.families import Family, Listed, Points, Ranges, Thresholds
from discreet.workloads.workload import Tables, Term, Workload

_PLAIN: Mapping[str, type[Family]] = {"points": Points, "ranges": Ranges, "thresholds": Thresholds}


def described(workload: Workload) -> list[dict[str, Any]]:
    """A workload as JSON has it.

    Args:
        workload: What is asked.
    """
    return [_term(term) for term in workload.terms]


def rebuilt(terms: Sequence[Mapping[str, Any]]) -> Workload:
    """The workload that was described.

    Args:
        terms: As they were written.
    """
    return Workload(tuple(_rebuilt_term(term) for term in terms))


def _term(term: Term | Tables) -> dict[str, Any]:
    if isinstance(term, Tables):
        return {"tables": term.columns, "weight": repr(term.weight)}
    return {"families": {name: _family(family) for name, family in term.families}, "weight": repr(term.weight)}


def _family(family: Family) -> Any:
    if isinstance(family, Listed):
        return [[repr(number) for number in row] for row in family.rows.tolist()]
    return next(name for name, kind in _PLAIN.items() if type(family) is kind)


def _rebuilt_term(term: Mapping[str, Any]) -> Term | Tables:
    weight = float(term["weight"])
    if "tables" in term:
        return Tables(int(term["tables"]), weight)
    return Term(tuple((name, _rebuilt_family(family)) for name, family in term["families"].items()), weight)


def _rebuilt_family(family: Any) -> Family:
    if isinstance(family, str):
        return _PLAIN[family]()
    return Listed(np.array([[float(number) for number in row] for row in family]))
