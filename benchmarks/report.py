"""Where benchmark tables go: one marked section each in docs/explanation/benchmarks.md."""

from __future__ import annotations

import datetime
import os
import platform
import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "benchmarks.md"


def write_section(name: str, body: str) -> None:
    """Replace the section between its markers, and print it."""
    print(body)
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    page = PAGE.read_text()
    pattern = re.compile(re.escape(begin) + ".*" + re.escape(end), re.DOTALL)
    if not pattern.search(page):
        message = f"docs/explanation/benchmarks.md has no section {name}"
        raise SystemExit(message)
    PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{body}\n{end}", page))


def where() -> str:
    """One line about the machine and the day."""
    today = datetime.datetime.now(datetime.UTC).date()
    return f"Measured {today} in one run: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}."


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
