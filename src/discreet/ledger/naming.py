"""Names of releases that are looked up later: each analyst has their own, and a release gets one when it is finished."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.errors import NameTaken
from discreet.ledger.draft import Draft
from discreet.ledger.requests import Request
from discreet.ledger.running import NAME

MOST_NAMES = 8
"""That an analyst gives one release: each is kept for as long as the books."""


def check(draft: Draft, request: Request) -> None:
    """Refuse a name that another release of this analyst has, or one too many; before anything is charged."""
    names = _names(draft, request)
    if request.name is None or names.get(request.name) == request.key:
        return
    if request.name in names:
        raise NameTaken("Another release of yours has this name.", next_step="Give it a name of its own.")
    if list(names.values()).count(request.key) >= MOST_NAMES:
        raise NameTaken(f"This release has {MOST_NAMES} names already.", next_step="Look it up by one of them.")


def give(draft: Draft, request: Request) -> None:
    """Write the name of a release that is answered into the books, if it has one, and it was not written before."""
    if request.name is not None and request.name not in _names(draft, request):
        draft.append(NAME, {"analyst": request.analyst, "name": request.name, "question": request.key})


def _names(draft: Draft, request: Request) -> Mapping[str, str]:
    return draft.running.named.get(request.analyst or "", {})
