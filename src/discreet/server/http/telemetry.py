"""What is written down about requests: a line of JSON and a counter each; no data, no query's text, no duration."""

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
"""A second, of all requests without a key, and of those with one: nobody shall fill a disk with them. All are counted."""


class Telemetry:
    """Counts and gauges, in the format that Prometheus reads."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._refusals: Counter[str] = Counter()
        self._gauges: dict[str, tuple[str, Callable[[], int]]] = {}
        self._second = 0.0
        self._lines: Counter[str | None] = Counter()
        self._unwritten: list[str] = []

    def gauge(self, name: str, meaning: str, read: Callable[[], int]) -> None:
        """Something that goes up and down, read when it is asked for."""
        self._gauges[name] = (meaning, read)

    def note(self, route: str, status: int, *, holder: str | None, code: str | None) -> None:
        """One request, by the route's pattern (never its arguments) and the number of the key that came with it."""
        self._requests[route, status] += 1
        if code is not None:
            self._refusals[code] += 1
        if not self._has_room(holder):
            return
        now = datetime.now(UTC).isoformat(timespec="seconds")
        facts = {"time": now, "route": route, "status": status, "key": holder, "code": code}
        if not self._unwritten:
            asyncio.get_running_loop().call_soon(self._write)
        self._unwritten.append(json.dumps({name: value for name, value in facts.items() if value is not None}))

    def _write(self) -> None:
        """All lines of one turn of the loop together: one by one they took as long as a key."""
        lines, self._unwritten = self._unwritten, []
        _LOG.info("\n".join(lines))

    def _has_room(self, holder: str | None) -> bool:
        now = time.monotonic()
        if now >= self._second + 1:
            self._second, self._lines = now, Counter()
        self._lines[holder] += 1
        return self._lines[holder] <= (_MOST_LINES if holder is None else _MOST_LINES_EACH)

    def text(self) -> str:
        """All of them."""
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
