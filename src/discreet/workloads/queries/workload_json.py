"""The JSON form of workloads, in stored runs and over HTTP. Stored runs write numbers as text with all digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.workloads.queries.families import Family, Listed, Points, Ranges, Thresholds
from discreet.workloads.queries.workload import Tables, Term, Workload, marginals, predicates

_PLAIN: Mapping[str, type[Family]] = {"points": Points, "ranges": Ranges, "thresholds": Thresholds}


def workload_to_json(workload: Workload, *, number: Callable[[float], Any] = repr) -> list[dict[str, Any]]:
    """Write a workload as JSON.

    Args:
        workload: The workload.
        number: How numbers are written: `repr` for stored runs, `float` over HTTP.
    """
    return [_term_to_json(term, number) for term in workload.terms]


def workload_from_json(terms: Sequence[Mapping[str, Any]]) -> Workload:
    """Read a workload from JSON.

    Args:
        terms: The JSON of its terms, with numbers as text or as numbers.
    """
    parts = [_term_from_json(term).weighted(float(term.get("weight", 1))) for term in terms]
    return Workload(tuple(term for part in parts for term in part.terms))


def _term_to_json(term: Term | Tables, number: Callable[[float], Any]) -> dict[str, Any]:
    if isinstance(term, Tables):
        return {"tables": term.columns, "weight": number(term.weight)}
    families = {name: _family_to_json(family, number) for name, family in term.families}
    return {"families": families, "weight": number(term.weight)}


def _family_to_json(family: Family, number: Callable[[float], Any]) -> Any:
    if isinstance(family, Listed):
        return [[number(each) for each in row] for row in family.rows.tolist()]
    return next(name for name, kind in _PLAIN.items() if type(family) is kind)


def _term_from_json(term: Mapping[str, Any]) -> Workload:
    if "tables" in term:
        return marginals(term["tables"])
    whole = Workload((Term(()),))
    for name, family in term["families"].items():
        whole *= _family_from_json(name, family)
    return whole


def _family_from_json(column: str, family: Any) -> Workload:
    if isinstance(family, str):
        return Workload((Term(((column, _PLAIN[family]()),)),))
    return predicates(column, [[float(number) for number in row] for row in family])
