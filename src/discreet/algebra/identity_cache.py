"""What was worked out about queries, remembered while they are: to compare two by their meaning would take as long as to work it out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from discreet.concurrency.lru_cache import LruCache

Thing = TypeVar("Thing")
Outcome = TypeVar("Outcome")
_MOST = 512
"""As many as texts whose meaning is remembered."""


class IdentityCache(Generic[Thing, Outcome]):
    """A function of the last few objects that it was called with, each known by itself: none of them is ever changed."""

    def __init__(self, work: Callable[[Thing], Outcome]) -> None:
        self._work = work
        self._known: LruCache[int, tuple[Thing, Outcome]] = LruCache(_MOST)

    def __call__(self, thing: Thing) -> Outcome:
        known = self._known.get(id(thing))
        if known is not None and known[0] is thing:
            return known[1]
        outcome = self._work(thing)
        self._known.put(id(thing), (thing, outcome))
        return outcome
