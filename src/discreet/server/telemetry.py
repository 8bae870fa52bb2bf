"""What is written down about requests: a line of JSON and a counter each; no data, no question's text, no duration."""

from __future__ import annotations

import json
import logging
from collections import Counter
from datetime import UTC, datetime

_LOG = logging.getLogger("discreet.server")


class Telemetry:
    """Counts by route and status, in the format that Prometheus reads."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, int]] = Counter()

    def note(self, route: str, status: int, *, holder: str | None, code: str | None) -> None:
        """One request, by the route's pattern (never its arguments) and the number of the key that came with it."""
        self._counts[route, status] += 1
        now = datetime.now(UTC).isoformat(timespec="seconds")
        facts = {"time": now, "route": route, "status": status, "key": holder, "code": code}
        _LOG.info(json.dumps({name: value for name, value in facts.items() if value is not None}))

    def text(self) -> str:
        """All counts."""
        lines = [
            "# HELP discreet_requests_total Requests by route and status.",
            "# TYPE discreet_requests_total counter",
        ]
        lines += [
            f'discreet_requests_total{{route="{route}",status="{status}"}} {count}'
            for (route, status), count in sorted(self._counts.items())
        ]
        return "\n".join(lines) + "\n"
