"""Workloads as JSON and back: what a run in the books says that it is for, and what is asked over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.workloads.queries.families import Family, Listed, Points, Ranges, Thresholds
from discreet.workloads.queries.workload import Tables, Term, Workload, marginals, predicates

_PLAIN: Mapping[str, type[Family]] = {"points": Points, "ranges": Ranges, "thresholds": Thresholds}


def workload_to_json(workload: Workload, *, number: Callable[[float], Any] = repr) -> list[dict[str, Any]]:
    """A workload as JSON has it.

    Args:
        workload: What is asked.
        number: How numbers are written: as text that says all digits, which is how the books have them, or as `float`.
    """
    return [_term(term, number) for term in workload.terms]


def workload_from_json(terms: Sequence[Mapping[str, Any]]) -> Workload:
    """The workload that was described.

    Args:
        terms: As they were written, with numbers in either form.
    """
    parts = [_rebuilt_term(term).weighted(float(term.get("weight", 1))) for term in terms]
    return Workload(tuple(term for part in parts for term in part.terms))


def _term(term: Term | Tables, number: Callable[[float], Any]) -> dict[str, Any]:
    if isinstance(term, Tables):
        return {"tables": term.columns, "weight": number(term.weight)}
    families = {name: _family(family, number) for name, family in term.families}
    return {"families": families, "weight": number(term.weight)}


def _family(family: Family, number: Callable[[float], Any]) -> Any:
    if isinstance(family, Listed):
        return [[number(each) for each in row] for row in family.rows.tolist()]
    return next(name for name, kind in _PLAIN.items() if type(family) is kind)


def _rebuilt_term(term: Mapping[str, Any]) -> Workload:
    if "tables" in term:
        return marginals(term["tables"])
    whole = Workload((Term(()),))
    for name, family in term["families"].items():
        whole *= _rebuilt_family(name, family)
    return whole


def _rebuilt_family(column: str, family: Any) -> Workload:
    if isinstance(family, str):
        return Workload((Term(((column, _PLAIN[family]()),)),))
    return predicates(column, [[float(number) for number in row] for row in family])
