"""What texts mean, remembered: the meaning depends on text, catalog and public tables, none of which change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import date

from discreet.catalog import Catalog
from discreet.engines import Engine
from discreet.pipeline.pipeline import cancelled
from discreet.sql.reader.queries import Reading, read_query
from discreet.sql.reader.query_text import Parameters

_MOST = 512


class Readings:
    """Reads each text once, and finds it bindable by the engine before anything is charged."""

    def __init__(self, catalog: Catalog, engine: Engine, *, today: date) -> None:
        self._catalog, self._engine, self._today = catalog, engine, today
        self._known: OrderedDict[str, Reading] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, sql: str, parameters: Parameters, *, taken_back: threading.Event) -> Reading:
        """The meaning of a text, or a refusal by name; looked for no further than until the query is taken back."""
        _check_wanted(taken_back)
        key = repr((sql, dict(parameters) if isinstance(parameters, Mapping) else tuple(parameters)))
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        reading = read_query(sql, self._catalog, self._engine, parameters=parameters, today=self._today)
        for query in reading.queries:
            _check_wanted(taken_back)
            self._engine.bind(query)
        with self._lock:
            self._known[key] = reading
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return reading


def _check_wanted(taken_back: threading.Event) -> None:
    if taken_back.is_set():
        raise cancelled()
