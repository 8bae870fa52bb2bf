"""Names of releases.

Each analyst has their own names, and a release gets its name when it is finished. Published names are for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import NameTaken, NotAnswered
from discreet.ledger.accounts.totals import COMPARE, NAME, PUBLISH
from discreet.ledger.charges.requests import Request
from discreet.ledger.charges.unit_of_work import UnitOfWork

MOST_NAMES = 8
"""Names that an analyst may give one release: each stays in the ledger forever."""


@dataclass(frozen=True, slots=True)
class NamedRelease:
    """A release under one of its names."""

    name: str
    query: str
    """The key of its query."""
    given_by: str | None
    """Analyst who gave the name (empty for the data owner); `None` for another analyst, who is not disclosed."""
    is_published: bool


def check_name(work: UnitOfWork, request: Request) -> None:
    """Refuse a name that another release of this analyst has, or too many names, before anything is charged."""
    names = _names(work, request)
    if request.name is None or names.get(request.name) == request.key:
        return
    if request.name in names:
        raise NameTaken("Another release of yours has this name.", next_step="Give it a name of its own.")
    if list(names.values()).count(request.key) >= MOST_NAMES:
        raise NameTaken(f"This release has {MOST_NAMES} names already.", next_step="Look it up by one of them.")


def record_name(work: UnitOfWork, request: Request) -> None:
    """Record the name of a finished release, if it has one that is not recorded yet."""
    if request.name is not None and request.name not in _names(work, request):
        work.append(NAME, {"analyst": request.analyst, "name": request.name, "question": request.key})


def _names(work: UnitOfWork, request: Request) -> Mapping[str, str]:
    return work.totals.named.get(request.analyst or "", {})


def names_of(work: UnitOfWork, analyst: str | None) -> dict[str, str]:
    """Return query keys by name: an analyst's own names, or all for the data owner.

    If a name is used twice, the data owner's own comes first, then that of the first analyst by name.
    """
    named = work.totals.named
    if analyst is not None:
        return dict(named.get(analyst, {}))
    return {name: query for whose in sorted(named, reverse=True) for name, query in named[whose].items()}


def published(work: UnitOfWork) -> dict[str, str]:
    """Return query keys by name of the published releases."""
    return {name: release.query for name, release in work.totals.published.items()}


def listed(work: UnitOfWork, analyst: str | None) -> list[NamedRelease]:
    """Return an analyst's names, or all for the data owner, and the published ones."""
    named, shown = work.totals.named, published(work)
    givers = sorted(named) if analyst is None else [analyst]
    given = [
        NamedRelease(name, query, given_by, shown.get(name) == query)
        for given_by in givers
        for name, query in named.get(given_by, {}).items()
    ]
    known = {(each.name, each.query) for each in given}
    others = [NamedRelease(name, query, None, True) for name, query in shown.items() if (name, query) not in known]
    return sorted([*given, *others], key=lambda each: each.name)


def visible(work: UnitOfWork, analyst: str | None) -> dict[str, str]:
    """Return names by query key: those of an analyst, or all for the data owner, and the published ones."""
    named = work.totals.named
    own = named.values() if analyst is None else [named.get(analyst, {})]
    names = [published(work), *own]
    return {query: name for each in names for name, query in each.items()}


def comparison_entry(
    work: UnitOfWork, name: str, analyst: str | None, what: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entry that records a comparison of a release with the exact numbers."""
    yield COMPARE, {"name": name, "question": key_of(work, name, analyst), "what": what}


def key_of(work: UnitOfWork, name: str, analyst: str | None) -> str:
    """Return the query key of a name that an analyst gave (`None`: the data owner, or any analyst)."""
    query = names_of(work, analyst).get(name)
    if query is None:
        raise NotAnswered(
            "No finished release has this name.",
            next_step="List the names with `discreet releases`, or on the page Publish.",
        )
    if analyst is None and _is_ambiguous(work, name):
        raise NameTaken("Several analysts gave this name to different releases.", next_step="Name the analyst too.")
    return query


def publication_entry(work: UnitOfWork, name: str, analyst: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entry that publishes a release under its name; none if it is published already."""
    query, known = key_of(work, name, analyst), published(work).get(name)
    if known not in (None, query):
        raise NameTaken("Another release was published under this name.", next_step="Give it another name first.")
    if known is None:
        yield PUBLISH, {"name": name, "question": query}


def _is_ambiguous(work: UnitOfWork, name: str) -> bool:
    """Return whether several analysts use the name for different releases: the wrong one could be published."""
    named = work.totals.named
    return name not in named.get("", {}) and len({names[name] for names in named.values() if name in names}) > 1
