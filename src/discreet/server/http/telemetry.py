"""The access log and the metrics. They contain no data, no text of a query and no duration."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

_LOG = logging.getLogger("discreet.server")
_MOST_LINES, _MOST_LINES_EACH = 50, 100
"""Maximum log lines per second: of all requests without a key, and of each key. More would fill the disk. The counters include all requests."""


class Telemetry:
    """Counters and gauges in the Prometheus text format, and the access log."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._refusals: Counter[str] = Counter()
        self._gauges: dict[str, tuple[str, Callable[[], int]]] = {}
        self._second = 0.0
        self._lines: Counter[str | None] = Counter()
        self._unwritten: list[str] = []

    def gauge(self, name: str, meaning: str, read: Callable[[], int]) -> None:
        """Add a gauge; `read` is called for each scrape."""
        self._gauges[name] = (meaning, read)

    def record(self, route: str, status: int, *, holder: str | None, code: str | None) -> None:
        """Count one request and log it: the route's pattern, never its arguments, and the id of the key."""
        self._requests[route, status] += 1
        if code is not None:
            self._refusals[code] += 1
        if not self._may_log(holder):
            return
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entry = {"time": now, "route": route, "status": status, "key": holder, "code": code}
        if not self._unwritten:
            asyncio.get_running_loop().call_soon(self._write)
        self._unwritten.append(json.dumps({name: value for name, value in entry.items() if value is not None}))

    def _write(self) -> None:
        """Write all lines of one event loop iteration together: one by one, they would cost as much as checking a key."""
        lines, self._unwritten = self._unwritten, []
        _LOG.info("\n".join(lines))

    def _may_log(self, holder: str | None) -> bool:
        now = time.monotonic()
        if now >= self._second + 1:
            self._second, self._lines = now, Counter()
        self._lines[holder] += 1
        return self._lines[holder] <= (_MOST_LINES if holder is None else _MOST_LINES_EACH)

    def text(self) -> str:
        """Return all metrics."""
        lines = _head("discreet_requests_total", "Requests by route and status.", "counter")
        lines += [
            f'discreet_requests_total{{route="{route}",status="{status}"}} {count}'
            for (route, status), count in sorted(self._requests.items())
        ]
        lines += _head("discreet_refusals_total", "Refusals by code.", "counter")
        lines += [f'discreet_refusals_total{{code="{code}"}} {count}' for code, count in sorted(self._refusals.items())]
        for name, (meaning, read) in self._gauges.items():
            lines += [*_head(name, meaning, "gauge"), f"{name} {read()}"]
        return "\n".join(lines) + "\n"


def _head(name: str, meaning: str, kind: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
