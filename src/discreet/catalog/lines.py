"""Where in a TOML text a key stands, so that an error can point at it."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+\s*(#.*)?$")
_KEY = re.compile(r'^\s*((?:[\w-]+|"[^"]*")(?:\s*\.\s*(?:[\w-]+|"[^"]*"))*)\s*=')


def key_lines(text: str) -> dict[str, int]:
    """Dotted key to line number; a key inside an inline table stands on its owner's line."""
    lines: dict[str, int] = {}
    prefix = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            prefix = _plain(header[1])
            lines.setdefault(prefix, number)
        elif key := _KEY.match(line):
            lines.setdefault(".".join(filter(None, (prefix, _plain(key[1])))), number)
    return lines


def line_of(lines: dict[str, int], key: str) -> int | None:
    """The line of a key, or of the nearest thing that contains it."""
    while key:
        if key in lines:
            return lines[key]
        key = key.rpartition(".")[0]
    return None


def _plain(key: str) -> str:
    return ".".join(part.strip().strip('"') for part in key.split("."))
