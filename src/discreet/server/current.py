"""What is served now: one place that holds the current curator, notices what is newer than it, and puts the newer one in its place.

A question is answered to its end by the curator that it began with, on that one's snapshot; the next one has the newer. What cannot be served,
a catalog with a mistake or a source that cannot be read, changes nothing: the older one goes on, and the owner is told why.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from discreet.catalog import Catalog, load_catalog
from discreet.curator import Curator
from discreet.engines import place_of, with_public_columns
from discreet.errors import BadCatalog, BadInput, DiscreetError
from discreet.opening import successor
from discreet.server.refusals import refusal_facts

_LOG = logging.getLogger("discreet.server")
_EVERY = 1.0
"""Seconds between two looks at the catalog's file and at the data version."""
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


@dataclass(slots=True)
class _Held:
    """A curator, and how many questions are with it."""

    curator: Curator
    users: int = 0


@dataclass(frozen=True, slots=True)
class _Version:
    """What a curator is made of: the catalog's text by its hash, and the number of the data."""

    catalog: str
    data: int


class Current:
    """The curator that new questions go to. `config` is its catalog's file, None where there is none to look at."""

    def __init__(self, curator: Curator, config: Path | None = None) -> None:
        self._config, self._held = config, _Held(curator)
        self._lock, self._changing = threading.Lock(), threading.Lock()
        self._served = _Version(self._text_hash() if self._is_on_disk(curator) else "", curator.version)
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
        with self._lock:
            mine = self._held
            mine.users += 1
        try:
            yield mine.curator
        finally:
            with self._lock:
                mine.users -= 1
                is_last = not mine.users and mine is not self._held
            if is_last:
                mine.curator.close_data()

    def refresh(self, *, by: str) -> int:
        """Begin a data version and serve it; `by` is who wants that. Returned is its number."""
        with self._changing:
            try:
                self._follow(self._text_hash(), refreshed_by=by)
            except Exception as failure:
                self._note(failure)
                raise
        return self.curator.version

    def look(self) -> None:
        """Serve a catalog or a data version that is newer than the current one; once where it is refused, until something changes."""
        if self._config is None:
            return
        with self._changing:
            newest = _Version(self._text_hash(), self.curator.ledger.data_version())
            if newest == self._served:
                self._refused = self._problem = None
            elif self._refused != (newest, self._source_on_disk()):
                try:
                    self._follow(newest.catalog)
                except Exception as failure:  # noqa: BLE001  whatever it is, it must not be tried every second
                    self._note(failure)

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
            "problem": None if problem is None else refusal_facts(problem),
        }

    def close(self) -> None:
        """Let go of the data of the current curator."""
        self.curator.close_data()

    def _follow(self, text_hash: str, *, refreshed_by: str | None = None) -> None:
        """Open what is newest, and put it in the place of the current one."""
        catalog = load_catalog(self.config)
        _check_fixed(self.curator.declared, catalog)
        source = _source_of(catalog)
        following = successor(self.curator, catalog, refreshed_by=refreshed_by)
        with self._lock:
            before, self._held = self._held, _Held(following)
            is_idle = not before.users
        self._served, self._source, self._since = _Version(text_hash, following.version), source, _now()
        self._refused = self._problem = None
        if is_idle:
            before.curator.close_data()

    def _note(self, failure: Exception) -> None:
        """Why the newest is not served; the text of an error that is none of ours may quote a row."""
        if not isinstance(failure, DiscreetError):
            _LOG.error("what is newer cannot be served: %s", type(failure).__name__)
        newest = _Version(self._text_hash(), self.curator.ledger.data_version())
        self._refused = (newest, self._source_on_disk())
        self._problem = failure if isinstance(failure, DiscreetError) else _unexplained()

    def _is_on_disk(self, curator: Curator) -> bool:
        """Whether the file still says what the curator was opened with."""
        with suppress(DiscreetError, OSError, ValueError):
            return self._config is None or with_public_columns(load_catalog(self._config)) == curator.declared
        return False

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
    for name, table in newer.tables.items():
        known = served.tables.get(name)
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
        return place_of(catalog)
    return ""


def _unexplained() -> BadCatalog:
    return BadCatalog("What is newer cannot be served.", next_step="See the server's log for the kind of error.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
