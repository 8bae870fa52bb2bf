"""Documentation is under test: what exists is described, and what is described exists."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest

import discreet
from discreet import errors, mechanisms

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def _sections(page):
    return set(re.findall(r"^## (.+)$", (DOCS / page).read_text(), re.MULTILINE))


def _error_classes():
    found = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, errors.DiscreetError)]
    return [cls for cls in found if cls is not errors.DiscreetError]


def test_every_error_code_has_a_section_and_every_section_a_code():
    device = (ROOT / "src" / "discreet" / "local" / "device" / "client.py").read_text(encoding="utf-8")
    of_devices = set(re.findall(r"ClientRefused\(\s*\"([a-z-]+)\"", device))
    assert {"bad-store", "bad-budget", "cap-reached"} <= of_devices
    pages = ("reference/errors.md", "reference/errors-collection.md", "reference/errors-ledger.md")
    assert {cls.code for cls in _error_classes()} | of_devices == set().union(*map(_sections, pages))


def test_no_two_errors_share_a_code():
    codes = [cls.code for cls in _error_classes()]
    assert len(set(codes)) == len(codes)


def test_every_error_stands_in_the_tree_at_the_head_of_the_file():
    for cls in _error_classes():
        assert re.search(rf"[├└]── {cls.__name__}\b", errors.__doc__), cls.__name__


def test_an_error_has_a_code_a_problem_and_a_next_step():
    error = errors.BadEpsilon("Something is wrong.", next_step="Do this.")
    assert str(error) == "Something is wrong. Do this."
    assert (error.code, error.next_step) == ("bad-epsilon", "Do this.")


MECHANISMS = [
    cls
    for _, cls in inspect.getmembers(mechanisms, inspect.isclass)
    if issubclass(cls, mechanisms.Mechanism) and cls is not mechanisms.Mechanism
]


@pytest.mark.parametrize("cls", MECHANISMS, ids=lambda cls: cls.__name__)
def test_every_mechanism_says_what_it_does_guarantees_and_cites_and_has_a_section(cls):
    assert "Guarantee:" in cls.__doc__
    assert "Citation:" in cls.__doc__
    assert cls.__name__ in _sections("reference/mechanisms.md")


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_every_test_named_in_the_docs_exists(page):
    suite = "\n".join(path.read_text() for path in Path(__file__).parent.rglob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", page.read_text()):
        assert f"def {name}(" in suite, name


PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def _examples(page):
    return "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))


EXAMPLES = [page for page in PAGES if page.parent.name != "tutorials" and _examples(page)]
"""Blocks of tutorials follow each other and have a test of their own."""


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.name)
def test_every_example_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(_examples(page), {})


def test_the_figures_beside_the_examples_are_right():
    from discreet import Loss, accounting
    from discreet.mechanisms import Laplace

    count = Laplace(sensitivity=1, epsilon=0.5)
    assert count.error(0.95) == 6
    assert Laplace.epsilon_for(error=50, confidence=0.95, sensitivity=1) == pytest.approx(0.0593, abs=5e-5)
    assert count.rho == pytest.approx(0.1225, abs=5e-4)
    assert count.renyi(8) == pytest.approx(0.432, abs=5e-4)
    assert count.profile(0.1) == pytest.approx(0.205, abs=5e-4)
    loss = Loss(0.1, 0)
    assert accounting.advanced(loss, k=100, delta_slack=1e-6).epsilon == pytest.approx(5.76, abs=5e-3)
    assert accounting.optimal(loss, k=100, delta=1e-6).epsilon == pytest.approx(4.77, abs=5e-3)
    account, total, granted = accounting.open_filter(5, 1e-6), accounting.Charge(), 0
    while account.allows(total := total + accounting.Charge.of([Laplace(sensitivity=1, epsilon=0.05)])):
        granted += 1
    assert f"{granted} at 0.05" in (DOCS / "how-to/compose-losses.md").read_text()


def test_every_command_is_in_the_docs():
    from discreet.cli.app import command

    text = "\n".join(page.read_text() for page in PAGES)

    def names(group, path):
        for name, below in getattr(group, "commands", {}).items():
            yield from names(below, f"{path} {name}") if hasattr(below, "commands") else [f"{path} {name}"]

    found = list(names(command(), "discreet"))
    assert "discreet ledger verify" in found
    for name in found:
        assert name in text or name == "discreet demo", name


def test_every_attack_has_a_row_in_the_table_of_the_lab_and_none_is_above_what_is_allowed():
    """The table is made by `discreet attack all --table docs/explanation/attack-results.md`; a level for all cells together."""
    from discreet import attacks

    page = (DOCS / "explanation/attack-results.md").read_text().partition("<!-- the lab's table begins -->")[2]
    rows = {line.split(" | ")[0].strip("| "): line for line in page.splitlines() if line.startswith("| ")}
    assert set(attacks.names()) <= set(rows)
    for name in attacks.names():
        cells = re.findall(r"([\d.]+) ± ([\d.]+) % \(≤ ([\d.]+) %\)", rows[name])
        assert len(cells) == 3, name
        for success, half, allowed in cells:
            # ± is 1.96 standard errors; 3.4 of them, one-sided, allow for all cells of the table
            assert float(success) - float(half) * 3.4 / 1.96 <= float(allowed) + 0.1, name


def test_every_protocol_is_in_the_docs():
    from discreet.local.device.client import RANDOMIZERS

    text = (DOCS / "reference/local-protocols.md").read_text()
    for name in RANDOMIZERS:
        assert f"`{name}`" in text, name


def test_the_readme_commands_are_targets():
    makefile = (ROOT / "Makefile").read_text()
    for text in ((ROOT / "README.md").read_text(), (ROOT / "CONTRIBUTING.md").read_text()):
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_figures_in_words_are_the_formula():
    """docs/index.md: 62.3 % at 0.5, 73.2 % at 1, 99.4 % at 5."""
    page = (DOCS / "index.md").read_text()
    for epsilon in (0.5, 1, 5):
        percent = re.search(r"at most ([\d.]+) %", discreet.Loss(epsilon).in_words())[1]
        assert f"{percent} %" in page


def test_the_table_of_packages_is_the_order_of_imports():
    """docs/architecture.md lists the layers that the import linter enforces, from low to high."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    page = (DOCS / "architecture.md").read_text().partition("## Packages")[2].partition("**Who can")[0]
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    listed = [set(re.findall(r"`(\w+)`", row)) for row in rows]
    assert listed == [set(layer.split(" | ")) for layer in reversed(layers) if layer != "__main__"]


def test_the_recipes_name_files_that_exist():
    """Paths of CONTRIBUTING.md start at the repository or at src/discreet."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    paths = set(re.findall(r"`([\w./-]+(?:/|\.py|\.md|\.txt|\.yml))`", page))
    assert len(paths) > 50
    missing = [
        path for path in sorted(paths) if not (ROOT / path).exists() and not (ROOT / "src/discreet" / path).exists()
    ]
    assert missing == []
