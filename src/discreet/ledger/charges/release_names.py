"""Names of releases that are looked up later: each analyst has their own, and a release gets one when it is finished. What the owner publishes all
find by its name.
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
"""That an analyst gives one release: each is kept for as long as the books."""


@dataclass(frozen=True, slots=True)
class NamedRelease:
    """A release by a name that it has."""

    name: str
    query: str
    """The key that it was paid under."""
    given_by: str | None
    """Who gave the name, the owner's being empty; None where it is another's, who is nobody's business."""
    is_published: bool


def check_name(work: UnitOfWork, request: Request) -> None:
    """Refuse a name that another release of this analyst has, or one too many; before anything is charged."""
    names = _names(work, request)
    if request.name is None or names.get(request.name) == request.key:
        return
    if request.name in names:
        raise NameTaken("Another release of yours has this name.", next_step="Give it a name of its own.")
    if list(names.values()).count(request.key) >= MOST_NAMES:
        raise NameTaken(f"This release has {MOST_NAMES} names already.", next_step="Look it up by one of them.")


def record_name(work: UnitOfWork, request: Request) -> None:
    """Write the name of a release that is answered into the books, if it has one, and it was not written before."""
    if request.name is not None and request.name not in _names(work, request):
        work.append(NAME, {"analyst": request.analyst, "name": request.name, "question": request.key})


def _names(work: UnitOfWork, request: Request) -> Mapping[str, str]:
    return work.totals.named.get(request.analyst or "", {})


def names_of(work: UnitOfWork, analyst: str | None) -> dict[str, str]:
    """Names and the keys that they mean: an analyst's own; for the owner everybody's, their own before others', and of others in the order of their names."""
    named = work.totals.named
    if analyst is not None:
        return dict(named.get(analyst, {}))
    return {name: query for whose in sorted(named, reverse=True) for name, query in named[whose].items()}


def published(work: UnitOfWork) -> dict[str, str]:
    """The same of what is shown to all."""
    return {name: release.query for name, release in work.totals.published.items()}


def listed(work: UnitOfWork, analyst: str | None) -> list[NamedRelease]:
    """Every name that an analyst gave, or that anybody gave for the owner, and what is published beside."""
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
    """The keys that an analyst gave names to, or everybody for the owner, and those that are published; each with its name."""
    named = work.totals.named
    own = named.values() if analyst is None else [named.get(analyst, {})]
    names = [published(work), *own]
    return {query: name for each in names for name, query in each.items()}


def comparison_entry(
    work: UnitOfWork, name: str, analyst: str | None, what: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entry by which it is known that the owner has looked at real numbers beside a release."""
    yield COMPARE, {"name": name, "question": key_of(work, name, analyst), "what": what}


def key_of(work: UnitOfWork, name: str, analyst: str | None) -> str:
    """The key of a release that an analyst (None: anybody, or the owner) gave a name; or a refusal."""
    query = names_of(work, analyst).get(name)
    if query is None:
        raise NotAnswered(
            "There is no finished release of this name.",
            next_step="See which there are: `discreet releases`, or the page Publish.",
        )
    if analyst is None and _is_ambiguous(work, name):
        raise NameTaken(
            "Several analysts gave this name to different releases.", next_step="Say whose of them is meant."
        )
    return query


def publication_entry(work: UnitOfWork, name: str, analyst: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entry by which all see a release that an analyst (None: anybody, or the owner) gave a name; none where they do already."""
    query, known = key_of(work, name, analyst), published(work).get(name)
    if known not in (None, query):
        raise NameTaken("Another release was published under this name.", next_step="Give it another name first.")
    if known is None:
        yield PUBLISH, {"name": name, "question": query}


def _is_ambiguous(work: UnitOfWork, name: str) -> bool:
    """Whether who has the name cannot be told from it: then nobody's release goes out in place of another's because they gave it the same name."""
    named = work.totals.named
    return name not in named.get("", {}) and len({names[name] for names in named.values() if name in names}) > 1
