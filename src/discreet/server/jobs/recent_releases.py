"""Cache of recently used synthetic releases: their models are fitted once, not for each request."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from discreet.concurrency.lru_cache import LruCache
from discreet.synthetic.synthetic_release import SyntheticRelease

MOST = 4
"""Releases in the cache. A model has up to about ten million numbers."""


@dataclass(slots=True)
class RecentReleases:
    """Releases by the hash of their bytes. Sharing is safe: a caller that has the bytes can compute all the rest."""

    _kept: LruCache[str, SyntheticRelease] = field(default_factory=lambda: LruCache(MOST))

    def the_same_as(self, release: SyntheticRelease) -> SyntheticRelease:
        """Return a recent release with the same bytes, or this one."""
        key = hashlib.sha256(release.stored).hexdigest()
        known = self._kept.get(key) or release
        self._kept.put(key, known)
        return known
