"""A module's name says where it is, and a folder can be seen at a glance."""

from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "discreet"
PARALLEL = {
    "api/requests", "api/operations", "cli/analyst", "cli/owner", "cli/collect", "cli/demonstration", "server/routes",
    "local/protocols", "engines/sqlgen/dialects",
}  # fmt: skip
"""Folders whose files are named after verbs, resources, protocols or dialects."""
MOST_FILES = 18

MODULES = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]


def test_a_module_name_is_used_once_beside_parallel_folders():
    names = Counter(path.stem for path in MODULES if str(path.parent) not in PARALLEL)
    assert [name for name, times in names.items() if times > 1] == []


def test_no_folder_has_more_modules_than_can_be_seen_at_a_glance():
    sizes = Counter(str(path.parent) for path in MODULES)
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}


def test_the_root_has_only_what_a_newcomer_would_import():
    assert {path.stem for path in MODULES if str(path.parent) == "."} == {"__main__", "errors"}
