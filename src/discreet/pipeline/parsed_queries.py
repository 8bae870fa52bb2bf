"""A cache of parsed queries. The meaning of a text depends on the catalog and on public tables, neither of which change."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import date

from discreet.catalog import Catalog
from discreet.concurrency.lru_cache import LruCache
from discreet.engines import Engine
from discreet.pipeline.pipeline import cancellation_error
from discreet.sql.reader.queries import Reading, read_query
from discreet.sql.reader.query_text import Parameters

_CAPACITY = 512


class ParsedQueries:
    """Parses each text once, and checks before the charge that the engine can bind it."""

    def __init__(self, catalog: Catalog, engine: Engine, *, today: date) -> None:
        self._catalog, self._engine, self._today = catalog, engine, today
        self._known: LruCache[str, Reading] = LruCache(_CAPACITY)

    def read(self, sql: str, parameters: Parameters, *, cancelled: threading.Event) -> Reading:
        """Return the parsed query, or refuse it. It stops as soon as the call is cancelled."""
        _check_cancelled(cancelled)
        key = repr((sql, dict(parameters) if isinstance(parameters, Mapping) else tuple(parameters)))
        known = self._known.get(key)
        if known is not None:
            return known
        reading = read_query(sql, self._catalog, self._engine, parameters=parameters, today=self._today)
        for query in reading.queries:
            _check_cancelled(cancelled)
            self._engine.bind(query)
        self._known.put(key, reading)
        return reading


def _check_cancelled(cancelled: threading.Event) -> None:
    if cancelled.is_set():
        raise cancellation_error()
