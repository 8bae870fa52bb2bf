"""Where benchmark tables go: one marked section each in a page of docs/explanation/benchmarks."""

from __future__ import annotations

import datetime
import os
import platform
import re
import textwrap
from pathlib import Path

PAGES = Path(__file__).parent.parent / "docs" / "explanation" / "benchmarks"
WIDTH, WORDS = 118, 110
"""Of a line, and at most of a paragraph, as the pages are written."""


def write_section(name: str, body: str) -> None:
    """Replace the section between its markers, and print it."""
    body = "\n\n".join(map(_as_prose, body.split("\n\n")))
    print(body)
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + ".*" + re.escape(end), re.DOTALL)
    found = [page for page in PAGES.glob("*.md") if pattern.search(page.read_text())]
    if not found:
        message = f"No page of {PAGES} has a section {name}"
        raise SystemExit(message)
    found[0].write_text(pattern.sub(lambda _: f"{begin}\n{body}\n{end}", found[0].read_text()))


def _as_prose(block: str) -> str:
    """A table as it is; a paragraph in lines that fit, divided between sentences where it is long."""
    if block.startswith("|"):
        return block
    paragraphs, words = [], 0
    for sentence in re.split(r"(?<=[.:;]) (?=[A-Z`*])", " ".join(block.split())):
        words += len(sentence.split())
        if not paragraphs or words > WORDS:
            paragraphs, words = [*paragraphs, sentence], len(sentence.split())
        else:
            paragraphs[-1] += f" {sentence}"
    wrapped = (textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False) for text in paragraphs)
    return "\n\n".join("\n".join(lines) for lines in wrapped)


def where() -> str:
    """One line about the machine and the day."""
    today = datetime.datetime.now(datetime.UTC).date()
    return f"Measured {today} in one run: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}."


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
