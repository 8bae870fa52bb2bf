"""Cache results by object identity. Comparing two queries by value would take as long as computing the result again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from discreet.concurrency.lru_cache import LruCache

Argument = TypeVar("Argument")
Result = TypeVar("Result")
_MOST = 512
"""Same size as the cache of parsed queries."""


class IdentityCache(Generic[Argument, Result]):
    """A function that caches the results of its most recent arguments by identity. The arguments must be immutable."""

    def __init__(self, work: Callable[[Argument], Result]) -> None:
        self._work = work
        self._known: LruCache[int, tuple[Argument, Result]] = LruCache(_MOST)

    def __call__(self, argument: Argument) -> Result:
        known = self._known.get(id(argument))
        if known is not None and known[0] is argument:
            return known[1]
        result = self._work(argument)
        self._known.put(id(argument), (argument, result))
        return result
