"""What texts mean, remembered: the meaning depends on text, catalog and public tables, none of which change."""

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

_MOST = 512


class Readings:
    """Reads each text once, and finds it bindable by the engine before anything is charged."""

    def __init__(self, catalog: Catalog, engine: Engine, *, today: date) -> None:
        self._catalog, self._engine, self._today = catalog, engine, today
        self._known: LruCache[str, Reading] = LruCache(_MOST)

    def read(self, sql: str, parameters: Parameters, *, cancelled: threading.Event) -> Reading:
        """The meaning of a text, or a refusal by name; looked for no further than until the query is cancelled."""
        _check_wanted(cancelled)
        key = repr((sql, dict(parameters) if isinstance(parameters, Mapping) else tuple(parameters)))
        known = self._known.get(key)
        if known is not None:
            return known
        reading = read_query(sql, self._catalog, self._engine, parameters=parameters, today=self._today)
        for query in reading.queries:
            _check_wanted(cancelled)
            self._engine.bind(query)
        self._known.put(key, reading)
        return reading


def _check_wanted(cancelled: threading.Event) -> None:
    if cancelled.is_set():
        raise cancellation_error()
