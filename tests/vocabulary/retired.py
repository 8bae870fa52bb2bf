"""Words that the project no longer uses, because a standard term exists: see docs/reference/glossary.md.

`python -m tests.vocabulary.retired PATH …` lists the lines in which they occur.
`python -m tests.vocabulary.retired --write` lowers the counts in `remaining.json` to those of today.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "discreet"
REMAINING = Path(__file__).with_name("remaining.json")

RETIRED = {
    "books": r"books?",
    "desk": r"desks?",
    "door": r"doors?",
    "gate": r"gates?",
    "whoever": r"whoever",
    "somebody": r"somebody",
    "hang on": r"hang(s|ing)? on",
    "at hand": r"at hand",
    "take back": r"tak(e|es|en|ing) back",
    "shall": r"shall",
    "told": r"told|tells?",
    "question": r"questions?",
    "asking": r"asking",
    "is no X": r"(is|are|was) no (?!longer|more|such)[a-z]+",
    "where there is": r"where there (is|are)",
    "so many": r"so many",
    "look": r"looks(?! (up|like|for|at))",
    "departure": r"departures?",
    "wish": r"wish(es)?",
    "facts": r"facts",
    "face": r"faces?",
    "pay": r"pa(y|ys|id)",
    "near or far": r"near or far|from afar",
    "wanted": r"wanted",
}
"""Names with their patterns, matched in lower case, with underscores and capitals as word boundaries."""


def words_of(line: str) -> str:
    """Write identifiers as words: `takenBack` and `taken_back` as "taken back"."""
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", line).replace("_", " ").lower()


def retired_in(line: str) -> list[str]:
    """Return the retired words of a line."""
    words = words_of(line)
    return [name for name, pattern in RETIRED.items() if re.search(rf"\b(?:{pattern})\b", words)]


def files_of(path: Path) -> list[Path]:
    """Return the source files of a package, with the scripts and pages of the server."""
    if path.is_file():
        return [path]
    return [
        file for kind in ("*.py", "*.js", "*.html") for file in sorted(path.rglob(kind)) if "vendor" not in file.parts
    ]


def count(package: Path) -> int:
    """Count the lines of a package that have a retired word."""
    return sum(
        bool(retired_in(line)) for file in files_of(package) for line in file.read_text(encoding="utf-8").splitlines()
    )


def packages() -> dict[str, Path]:
    """Return every package and root module by name."""
    return {
        path.stem: path for path in sorted(SOURCE.iterdir()) if path.suffix == ".py" or (path / "__init__.py").exists()
    }


def _main(arguments: list[str]) -> None:
    if arguments == ["--write"]:
        counts = {name: count(path) for name, path in packages().items()}
        REMAINING.write_text(json.dumps({name: lines for name, lines in counts.items() if lines}, indent=2) + "\n")
        return
    for file in [file for argument in arguments for file in files_of(Path(argument))]:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if found := retired_in(line):
                sys.stdout.write(f"{file}:{number}: {', '.join(found)}: {line.strip()}\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
