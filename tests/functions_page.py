"""The list of functions in docs/reference/sql-functions.md, from the registry: `python -m tests.functions_page` writes it."""

import itertools
from pathlib import Path

from discreet.algebra.functions.function_list import listing

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "sql-functions.md"
BEGIN, END = "<!-- functions: begin -->", "<!-- functions: end -->"


def page_with_functions(page):
    """The page with its list made anew."""
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    lines = ["", "| | written | means |", "|---|---|---|"]
    for group, rows in itertools.groupby(listing(), key=lambda row: row[0]):
        lines += [
            f"| {group if at == 0 else ''} | {_cell(used)} | {_cell(says)} |" for at, (_, used, says) in enumerate(rows)
        ]
    return head + BEGIN + "\n".join(lines) + "\n" + END + tail


def _cell(text):
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page_with_functions(PAGE.read_text()))
