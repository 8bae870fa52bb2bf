"""Tables and short texts for generated pages."""

import inspect
import re
import textwrap

WIDTH, CELL, WORDS = 118, 200, 120


def table(header, rows):
    """A Markdown table as lines."""
    return [_row(header), "|" + "---|" * len(header), *map(_row, rows)]


def _row(cells):
    return "| " + " | ".join(_short(cell).replace("|", "\\|") for cell in cells) + " |"


def _short(cell):
    """A cell of at most 200 characters, cut between words."""
    return cell if len(cell) <= CELL else textwrap.shorten(cell, CELL - 1, placeholder=" …")


def summary(thing):
    """The first sentence of what is said about something, or an empty text."""
    first = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    return re.split(r"(?<=[.:]) (?=[A-Z])", first)[0]


def first_paragraph(text):
    """The first paragraph of a docstring as wrapped lines, without what would not fit a page."""
    words = inspect.cleandoc(text or "").partition("\n\n")[0].split()
    cut = " ".join(words[:WORDS]) + (" …" if len(words) > WORDS else "")
    return textwrap.wrap(cut, WIDTH, break_long_words=False, break_on_hyphens=False)
