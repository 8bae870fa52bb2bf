"""Where in a TOML text a key stands, so that an error can point at it."""

from __future__ import annotations

import re
import tomllib

_NAME = r"""(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"^\s*\[+\s*({_DOTTED})\s*\]+\s*(#.*)?$")
_KEY = re.compile(rf"^\s*({_DOTTED})\s*=")


def key_lines(text: str) -> dict[str, int]:
    """Dotted key to line number; a key inside an inline table stands on its owner's line."""
    lines: dict[str, int] = {}
    prefix = ""
    for number, line in enumerate(text.split("\n"), start=1):  # only \n ends a line in TOML
        if header := _HEADER.match(line):
            prefix = _plain(header[1])
            lines.setdefault(prefix, number)
        elif key := _KEY.match(line):
            lines.setdefault(".".join(filter(None, (prefix, _plain(key[1])))), number)
    return lines


def line_of(lines: dict[str, int], key: str) -> int | None:
    """Return the line of a key, or of the section that contains it."""
    while key:
        if key in lines:
            return lines[key]
        key = key.rpartition(".")[0]
    return None


def end_of_table(line: str) -> int | None:
    """Return where the inline table of a line ends; None if it does not start and end on this line."""
    if (key := _KEY.match(line)) is None or not line[key.end() :].lstrip().startswith("{"):
        return None
    depth = 0
    for part in re.finditer(rf"{_NAME}|[{{}}#]", line[key.end() :]):
        if part[0] == "#":
            return None
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if part[0] == "}" and depth == 0:
            return key.end() + part.start()
    return None


def _plain(key: str) -> str:
    return ".".join(_unquoted(name) for name in re.findall(_NAME, key))


def _unquoted(name: str) -> str:
    if name[0] not in "\"'":
        return name
    try:
        return str(tomllib.loads(f"name = {name}")["name"])
    except tomllib.TOMLDecodeError:  # reported when the whole text is parsed
        return name
