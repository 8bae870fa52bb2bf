"""Print the test files and folders that belong to what changed since `origin/main`; used by `make test-changed`.

A change in `src/discreet/PACKAGE/` selects `tests/PACKAGE/` and the tests at the root of `tests/`; a changed test file
selects itself; changed documentation selects the tests of the documentation. Packages that import the changed one are
not selected: `make test` runs them.
"""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
ABOUT_DOCUMENTATION = ("test_docs.py", "test_doc_pages.py", "test_reference.py", "test_tutorials.py")


def changed_files(base="origin/main"):
    """Files that differ from where this branch left `base`, and files that git does not know yet."""
    start = _git("merge-base", "HEAD", base) if _git("rev-parse", "--verify", "--quiet", base) else ["HEAD~1"]
    return [*_git("diff", "--name-only", start[0]), *_git("ls-files", "--others", "--exclude-standard")]


def selected(files):
    """The tests to run for these changed files, as paths from the root of the repository."""
    chosen = set()
    for file in map(Path, files):
        parts = file.parts
        if parts[0] == "tests" and file.name.startswith("test_"):
            chosen.add(file)
        elif parts[0] in ("tests", "src") and len(parts) > (folder := 3 if parts[0] == "src" else 2):
            chosen.add(Path("tests", parts[folder - 1]))
        if file.suffix == ".md" or parts[0] == "docs":
            chosen |= {Path("tests", name) for name in ABOUT_DOCUMENTATION}
        elif parts[0] == "src":
            chosen |= {path.relative_to(ROOT) for path in (ROOT / "tests").glob("test_*.py")}
    return sorted(str(path) for path in chosen if (ROOT / path).exists())


def _git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split()


if __name__ == "__main__":
    print("\n".join(selected(changed_files())))
