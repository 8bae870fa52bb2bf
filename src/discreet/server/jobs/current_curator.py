"""What is served now: one place that holds the current curator, notices what is newer than it, and puts the newer one in its place.

A query is answered to its end by the curator that it began with, on that one's snapshot; the next one has the newer. The older one is kept for
a while, for who asks again for what they paid for there. What cannot be served, a catalog with a mistake or a source that cannot be read, changes
nothing: the older one goes on, and the owner is told why.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from discreet.api.local import Curator
from discreet.api.opening import successor
from discreet.catalog import Catalog, load_catalog
from discreet.engines import location_of
from discreet.errors import BadCatalog, BadInput, DiscreetError
from discreet.server.http.error_responses import error_json

_LOG = logging.getLogger("discreet.server")
_EVERY = 1.0
"""Seconds between two looks at the catalog's file and at the data version."""
_KEPT, _KEPT_SECONDS = 2, 600.0
"""How many curators that were followed are kept, and for how long."""
_PATIENCE = 2.0
"""Seconds that a server which stops waits for a look that is under way."""
_FIXED = {
    "source": "[source] path",
    "snapshot": "[source] snapshot",
    "ledger": "[ledger] path",
    "anchor": "[ledger] anchor",
    "reports": "[collector] path",
    "collector": "[collector]",
    "seconds": "[engine] seconds",
}
"""What a running server holds on to, and how a catalog calls it."""


@dataclass(slots=True, eq=False)
class _Held:
    """A curator, how many queries are with it, and until when it is kept once it was followed."""

    curator: Curator
    users: int = 0
    ends: float = math.inf
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class _Version:
    """What a curator is made of: the catalog's text by its hash, and the number of the data."""

    catalog: str
    data: int


class Current:
    """The curator that new queries go to. `config` is its catalog's file, None where there is none to look at."""

    def __init__(
        self, curator: Curator, config: Path | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._config, self._held, self._now = config, _Held(curator), now
        self._earlier: list[_Held] = []
        self._is_closed = False
        self._lock, self._changing = threading.Lock(), threading.Lock()
        self._served = _Version(curator.declared.sha256, curator.version)
        self._source = _source_of(curator.declared)
        self._since = _now()
        self._refused: tuple[_Version, str] | None = None
        self._problem: DiscreetError | None = None

    @property
    def curator(self) -> Curator:
        """For the books and the catalog; whoever reads data holds it."""
        return self._held.curator

    @property
    def config(self) -> Path:
        """The catalog's file, or a refusal."""
        if self._config is None:
            raise BadInput(
                "This server has no catalog file.", next_step="Start it with `discreet serve discreet.toml`."
            )
        return self._config

    @contextmanager
    def held(self) -> Iterator[Curator]:
        """The current curator, whose data stays open while it lasts."""
        with self._using(lambda: [self._held]) as (curator,):
            yield curator

    @contextmanager
    def held_earlier(self) -> Iterator[list[Curator]]:
        """The same of those that were followed a while ago, the last one first."""
        with self._using(lambda: list(self._earlier)) as curators:
            yield curators

    @contextmanager
    def _using(self, choose: Callable[[], list[_Held]]) -> Iterator[list[Curator]]:
        with self._lock:
            those = choose()
            for held in those:
                held.users += 1
        try:
            yield [held.curator for held in those]
        finally:
            with self._lock:
                for held in those:
                    held.users -= 1
            self._close_unused(those)

    def _close_unused(self, those: list[_Held]) -> None:
        """Close what is neither used nor kept."""
        with self._lock:
            kept = (self._held, *self._earlier)
            idle = [held for held in those if not held.users and not held.is_closed and held not in kept]
            for held in idle:
                held.is_closed = True
        for held in idle:
            held.curator.close_data()

    def refresh(self, *, by: str, takes_catalog: bool) -> int:
        """Begin a data version and serve it; `by` is who wants that. Returned is its number.

        A catalog that changed is served with it only where `takes_catalog`: that is for the owner. Else it waits as it did before.
        """
        with self._changing:
            refused, problem = self._refused, self._problem
            try:
                self._replace(load_catalog(self.config) if takes_catalog else None, refreshed_by=by)
            except Exception as failure:
                self._record_failure(failure)
                if not takes_catalog:
                    self._refused = refused  # nothing was found out about what the file says now
                raise
            if refused is not None and refused[0].catalog == self._text_hash() != self._served.catalog:
                self._refused = (self._newest(), self._source_on_disk())
                self._problem = problem
        return self.curator.version

    def look(self) -> None:
        """Serve a catalog or a data version that is newer than the current one; once where it is refused, until something changes."""
        self._drop_expired()
        if self._config is None or self._is_closed:
            return
        with self._changing:
            newest = self._newest()
            if newest == self._served:
                self._refused = self._problem = None
            elif self._refused != (newest, self._source_on_disk()):
                # One that was not changed was stated before: another process, with another catalog, may have been told something else since.
                is_changed = newest.catalog != self._served.catalog
                try:
                    self._replace(load_catalog(self.config) if is_changed else None)
                except Exception as failure:  # noqa: BLE001  whatever it is, it must not be tried every second
                    self._record_failure(failure)

    async def watch(self) -> None:
        """Look again and again, in a thread of its own."""
        share = CapacityLimiter(1)
        while True:
            try:
                await run_sync(self.look, limiter=share, abandon_on_cancel=True)
            except Exception as failure:  # noqa: BLE001  books that do not answer are told of by /healthz
                _LOG.error("what is newer was not looked for: %s", type(failure).__name__)
            await asyncio.sleep(_EVERY)

    def facts(self) -> dict[str, Any]:
        """What is served since when, what is newer, and why that is not served."""
        curator, problem = self.curator, self._problem
        return {
            "dataset": curator.dataset,
            "data_version": curator.version,
            "since": self._since,
            "catalog": self._served.catalog[:12],
            "newest_data_version": curator.ledger.data_version(),
            "catalog_changed": self._text_hash() != self._served.catalog,
            "source_changed": _source_of(curator.declared) != self._source,
            "problem": None if problem is None else error_json(problem),
        }

    def close(self) -> None:
        """Let go of the data, of curators that were followed too, and of the books. Nothing newer is looked for from then on."""
        self._is_closed = True
        if self._changing.acquire(timeout=_PATIENCE):  # a look that is under way would open the books again
            self._changing.release()
        with self._lock:
            earlier, self._earlier = self._earlier, []
        for held in earlier:
            held.curator.close_data()
        self.curator.close()

    def _replace(self, catalog: Catalog | None, *, refreshed_by: str | None = None) -> None:
        """Open what is newest, and put it in the place of the current one; without a catalog, only the data is newer."""
        declared = catalog or self.curator.declared
        _check_fixed(self.curator.declared, declared)
        source = _source_of(declared)
        following = successor(self.curator, catalog, refreshed_by=refreshed_by)
        with self._lock:
            before, self._held = self._held, _Held(following)
            before.ends = self._now() + _KEPT_SECONDS
            self._earlier.insert(0, before)
        self._served, self._source, self._since = _Version(declared.sha256, following.version), source, _now()
        self._refused = self._problem = None
        self._drop_expired()

    def _drop_expired(self) -> None:
        """Keep the last few curators that were followed, for a while."""
        with self._lock:
            before = self._earlier
            self._earlier = [held for held in before[:_KEPT] if self._now() < held.ends]
        self._close_unused(before)

    def _newest(self) -> _Version:
        """What there is to be served."""
        return _Version(self._text_hash(), self.curator.ledger.data_version())

    def _record_failure(self, failure: Exception) -> None:
        """Why the newest is not served; the text of an error that is none of ours may quote a row."""
        if not isinstance(failure, DiscreetError):
            _LOG.error("what is newer cannot be served: %s", type(failure).__name__)
        self._refused = (self._newest(), self._source_on_disk())
        self._problem = failure if isinstance(failure, DiscreetError) else _unexplained()

    def _source_on_disk(self) -> str:
        """Of the catalog as the file has it now; empty where it cannot be read."""
        with suppress(DiscreetError, OSError, ValueError):
            return _source_of(load_catalog(self.config))
        return ""

    def _text_hash(self) -> str:
        """Empty where there is no file, or none that can be read."""
        with suppress(OSError):
            return "" if self._config is None else hashlib.sha256(self._config.read_bytes()).hexdigest()
        return ""


def _check_fixed(served: Catalog, newer: Catalog) -> None:
    changed = [called for name, called in _FIXED.items() if getattr(served, name) != getattr(newer, name)]
    for name, table in newer.all_tables.items():
        known = served.all_tables.get(name)
        # Other files are for somebody at the terminal: a key for the page does not open them.
        if table.path != (known.path if known else None) or (known is None and not name.isidentifier()):
            changed.append(f"the file of {name}")
    if changed:
        raise BadCatalog(
            f"The catalog changes {', '.join(changed)}, which a running server keeps.",
            next_step="Start the server again to serve it.",
        )


def _source_of(catalog: Catalog) -> str:
    """Where the source is and when it changed; empty where a file of it is missing."""
    with suppress(DiscreetError, OSError):
        return location_of(catalog)
    return ""


def _unexplained() -> BadCatalog:
    return BadCatalog("What is newer cannot be served.", next_step="See the server's log for the kind of error.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
