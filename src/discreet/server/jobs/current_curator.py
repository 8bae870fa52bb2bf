"""The current curator of the server, and its replacement when the catalog or the data version changes.

A query runs to its end on the curator, and so the snapshot, that it started with. Replaced curators are kept for a while, so that a repeated
request finds its stored answer. If the new catalog is invalid or the source cannot be read, the current curator stays, and the owner sees the
reason.
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
"""Seconds between two checks of the catalog file and the data version."""
_KEPT, _KEPT_SECONDS = 2, 600.0
"""How many replaced curators are kept, and for how many seconds."""
_PATIENCE = 2.0
"""Seconds that a stopping server waits for a check in progress."""
_FIXED = {
    "source": "[source] path",
    "snapshot": "[source] snapshot",
    "ledger": "[ledger] path",
    "anchor": "[ledger] anchor",
    "reports": "[collector] path",
    "collector": "[collector]",
    "seconds": "[engine] seconds",
}
"""Settings that cannot change while the server runs, with their names in the catalog."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A curator, the number of its current users, and the time until which it is kept after it was replaced."""

    curator: Curator
    users: int = 0
    ends: float = math.inf
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class _Version:
    """What a curator serves: the hash of the catalog's text, and the data version."""

    catalog: str
    data: int


class CurrentCurator:
    """The curator for new queries. `config` is its catalog file, or None."""

    def __init__(
        self, curator: Curator, config: Path | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._config, self._current, self._now = config, _Entry(curator), now
        self._earlier: list[_Entry] = []
        self._is_closed = False
        self._lock, self._changing = threading.Lock(), threading.Lock()
        self._served = _Version(curator.declared.sha256, curator.version)
        self._source = _source_of(curator.declared)
        self._since = _now()
        self._refused: tuple[_Version, str] | None = None
        self._problem: DiscreetError | None = None

    @property
    def curator(self) -> Curator:
        """The current curator, for its ledger and catalog. To read data, use `acquire`, which keeps it open."""
        return self._current.curator

    @property
    def config(self) -> Path:
        """Return the catalog file, or refuse without one."""
        if self._config is None:
            raise BadInput(
                "This server has no catalog file.", next_step="Start it with `discreet serve discreet.toml`."
            )
        return self._config

    @contextmanager
    def acquire(self) -> Iterator[Curator]:
        """Provide the current curator; its data stays open within the context."""
        with self._using(lambda: [self._current]) as (curator,):
            yield curator

    @contextmanager
    def acquire_earlier(self) -> Iterator[list[Curator]]:
        """Provide the curators that were replaced recently, newest first."""
        with self._using(lambda: list(self._earlier)) as curators:
            yield curators

    @contextmanager
    def _using(self, choose: Callable[[], list[_Entry]]) -> Iterator[list[Curator]]:
        with self._lock:
            entries = choose()
            for entry in entries:
                entry.users += 1
        try:
            yield [entry.curator for entry in entries]
        finally:
            with self._lock:
                for entry in entries:
                    entry.users -= 1
            self._close_unused(entries)

    def _close_unused(self, entries: list[_Entry]) -> None:
        """Close curators that are neither in use nor kept."""
        with self._lock:
            kept = (self._current, *self._earlier)
            idle = [entry for entry in entries if not entry.users and not entry.is_closed and entry not in kept]
            for entry in idle:
                entry.is_closed = True
        for entry in idle:
            entry.curator.close_data()

    def refresh(self, *, by: str, takes_catalog: bool) -> int:
        """Create a new data version, serve it, and return its number; `by` is the actor.

        A changed catalog is served too if `takes_catalog`, which only the owner may request.
        """
        with self._changing:
            refused, problem = self._refused, self._problem
            try:
                self._replace(load_catalog(self.config) if takes_catalog else None, refreshed_by=by)
            except Exception as failure:
                self._record_failure(failure)
                if not takes_catalog:
                    self._refused = refused  # the file's current text was not checked
                raise
            if refused is not None and refused[0].catalog == self._text_hash() != self._served.catalog:
                self._refused = (self._newest(), self._source_on_disk())
                self._problem = problem
        return self.curator.version

    def update(self) -> None:
        """Serve a newer catalog or data version, if there is one. One that fails is not tried again until something changes."""
        self._drop_expired()
        if self._config is None or self._is_closed:
            return
        with self._changing:
            newest = self._newest()
            if newest == self._served:
                self._refused = self._problem = None
            elif self._refused != (newest, self._source_on_disk()):
                # An unchanged catalog is not recorded again: another process may have recorded a newer one since.
                is_changed = newest.catalog != self._served.catalog
                try:
                    self._replace(load_catalog(self.config) if is_changed else None)
                except Exception as failure:  # noqa: BLE001  no failure may be repeated every second
                    self._record_failure(failure)

    async def watch(self) -> None:
        """Check once per second, in a separate thread."""
        share = CapacityLimiter(1)
        while True:
            try:
                await run_sync(self.update, limiter=share, abandon_on_cancel=True)
            except Exception as failure:  # noqa: BLE001  /healthz reports a ledger that does not respond
                _LOG.error("checking for a new data version failed: %s", type(failure).__name__)
            await asyncio.sleep(_EVERY)

    def status(self) -> dict[str, Any]:
        """Return what is served and since when, whether something newer exists, and why it is not served."""
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
        """Close the data of all curators and the ledger, and stop checking for newer versions."""
        self._is_closed = True
        if self._changing.acquire(timeout=_PATIENCE):  # a check in progress would open the ledger again
            self._changing.release()
        with self._lock:
            earlier, self._earlier = self._earlier, []
        for entry in earlier:
            entry.curator.close_data()
        self.curator.close()

    def _replace(self, catalog: Catalog | None, *, refreshed_by: str | None = None) -> None:
        """Open the newest version, and replace the current curator. Without a catalog, only the data is newer."""
        declared = catalog or self.curator.declared
        _check_fixed(self.curator.declared, declared)
        source = _source_of(declared)
        following = successor(self.curator, catalog, refreshed_by=refreshed_by)
        with self._lock:
            before, self._current = self._current, _Entry(following)
            before.ends = self._now() + _KEPT_SECONDS
            self._earlier.insert(0, before)
        self._served, self._source, self._since = _Version(declared.sha256, following.version), source, _now()
        self._refused = self._problem = None
        self._drop_expired()

    def _drop_expired(self) -> None:
        """Drop replaced curators that are too many or too old."""
        with self._lock:
            before = self._earlier
            self._earlier = [entry for entry in before[:_KEPT] if self._now() < entry.ends]
        self._close_unused(before)

    def _newest(self) -> _Version:
        """Return the newest version that could be served."""
        return _Version(self._text_hash(), self.curator.ledger.data_version())

    def _record_failure(self, failure: Exception) -> None:
        """Record why the newest version is not served. Of an error that is not a `DiscreetError` only the class is logged: its text may quote a row."""
        if not isinstance(failure, DiscreetError):
            _LOG.error("the new version cannot be served: %s", type(failure).__name__)
        self._refused = (self._newest(), self._source_on_disk())
        self._problem = failure if isinstance(failure, DiscreetError) else _unexplained()

    def _source_on_disk(self) -> str:
        """Return the source of the catalog on disk; empty if it cannot be read."""
        with suppress(DiscreetError, OSError, ValueError):
            return _source_of(load_catalog(self.config))
        return ""

    def _text_hash(self) -> str:
        """Return the hash of the catalog file; empty if it is missing or unreadable."""
        with suppress(OSError):
            return "" if self._config is None else hashlib.sha256(self._config.read_bytes()).hexdigest()
        return ""


def _check_fixed(served: Catalog, newer: Catalog) -> None:
    changed = [called for name, called in _FIXED.items() if getattr(served, name) != getattr(newer, name)]
    for name, table in newer.all_tables.items():
        known = served.all_tables.get(name)
        # Only the terminal may add files: a key for the page must not give access to other files of the machine.
        if table.path != (known.path if known else None) or (known is None and not name.isidentifier()):
            changed.append(f"the file of {name}")
    if changed:
        raise BadCatalog(
            f"The catalog changes {', '.join(changed)}, which needs a restart.",
            next_step="Restart the server.",
        )


def _source_of(catalog: Catalog) -> str:
    """Return the location and modification times of the source; empty if a file is missing."""
    with suppress(DiscreetError, OSError):
        return location_of(catalog)
    return ""


def _unexplained() -> BadCatalog:
    return BadCatalog(
        "The new catalog or data cannot be served.", next_step="See the server's log for the class of the error."
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
