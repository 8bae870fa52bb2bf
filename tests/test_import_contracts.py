"""Every import contract of pyproject.toml forbids what it names: forbidden imports in a copy of the package break it.

A contract whose modules were renamed can pass while it checks nothing. The forbidden imports follow from the contract.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
NAMES = [contract["name"] for contract in CONTRACTS]
OUTSIDER = "discreet.cli"
"""The commands: no contract allows them to import a protected module."""


def forbidden_imports(contract):
    """Pairs of a module and another one that it must not import."""
    match contract["type"]:
        case "forbidden":
            return [(module, other) for module in contract["source_modules"] for other in contract["forbidden_modules"]]
        case "protected":
            assert not any(f"{allowed}.".startswith(f"{OUTSIDER}.") for allowed in contract["allowed_importers"])
            return [(OUTSIDER, module) for module in contract["protected_modules"]]
        case "layers":
            (container,) = contract["containers"]
            levels = [[f"{container}.{name}" for name in level.split(" | ")] for level in contract["layers"]]
            sideways = [pair for level in levels for pair in pairwise(level)]
            upwards = [(lower[0], upper[0]) for upper, lower in pairwise(levels)]
            return [*sideways, *upwards]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with a copy of the package and of its contracts."""
    folder = tmp_path_factory.mktemp("contracts")
    for file in (ROOT / "src").rglob("*.py"):
        target = folder / file.relative_to(ROOT / "src")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lint(folder):
    """What import-linter reports, its lines joined."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", code, "--no-logo"]
    return " ".join(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout.split())


def states_in(report):
    """By contract, KEPT or BROKEN."""
    return dict(re.findall(rf"({'|'.join(map(re.escape, NAMES))}) (KEPT|BROKEN)", report))


@contextmanager
def planted(folder, imports):
    """Each module imports the other one, at its end."""
    texts = {}
    for module, other in imports:
        path = folder.joinpath(*module.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        texts.setdefault(file, file.read_text(encoding="utf-8"))
        file.write_text(f"{file.read_text(encoding='utf-8')}\nimport {other}\n", encoding="utf-8")
    yield
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")


def test_without_a_planted_import_the_copy_keeps_every_contract(package):
    assert len(set(NAMES)) == len(NAMES)
    assert states_in(lint(package)) == dict.fromkeys(NAMES, "KEPT")


@pytest.mark.parametrize("contract", CONTRACTS, ids=NAMES)
def test_a_contract_reports_every_import_that_it_forbids(package, contract):
    imports = forbidden_imports(contract)
    assert imports
    with planted(package, imports):
        report = lint(package)
    assert states_in(report)[contract["name"]] == "BROKEN"
    for module, other in imports:
        assert f"{module} -> {other} (l." in report


def test_a_package_without_a_layer_is_reported(package):
    newcomer = package / "discreet" / "newcomer.py"
    newcomer.write_text("")
    report = lint(package)
    newcomer.unlink()
    assert "discreet.newcomer (Since this contract is marked as 'exhaustive'" in report
    assert "BROKEN" in states_in(report).values()
