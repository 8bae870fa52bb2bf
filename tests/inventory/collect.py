"""Lists every test, and every documentation block that a test runs: `python -m tests.inventory.collect`.

The committed lists are those from before the packages moved. To see what disappeared, write them anew, compare with
`git diff`, give every loss a line with its reason in `removed.md`, and restore the lists.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tools.reference.commands import examples

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def tests() -> list[str]:
    """Each test once, with the number of its parameters."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "--verbosity=-1", "-n", "0", "tests"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = Counter(line.partition("[")[0] for line in found.splitlines() if "::" in line)
    return [f"{name} {count}" for name, count in sorted(names.items())]


def blocks() -> list[str]:
    """Where a block is run from, a hash of its text, and its first line."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [(page.stem, "python", block) for page in pages for block in _fenced(page, "python")]
    found += [(page.stem, "sh", block) for page in pages if _is_played(page) for block in _fenced(page, "sh")]
    found += [(page.stem, "toml", _fenced(page, "toml")[0]) for page in pages if page.stem == "catalog"]
    found += [("commands", "example", example) for example in examples()]
    notebook = json.loads((ROOT / "examples" / "clinic.ipynb").read_text(encoding="utf-8"))
    cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    found += [("clinic.ipynb", "cell", "".join(cell["source"])) for cell in cells]
    found += [(path.name, "script", path.read_text(encoding="utf-8")) for path in (ROOT / "examples").glob("*.py")]
    return sorted(" | ".join([*where, _hash(text), _first_line(text)]) for *where, text in found)


def _is_played(page: Path) -> bool:
    return page.stem in ("operations", "operate") or page.parent.name == "tutorials"


def _fenced(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:80]


if __name__ == "__main__":
    for name, lines in (("tests.txt", tests()), ("documentation_blocks.txt", blocks())):
        (HERE / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
