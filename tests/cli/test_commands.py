"""What is true of every command: it is listed in short, it begins at once, and its example in docs/reference/cli.md runs."""

import csv
import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from discreet.cli.app import COMMANDS, GROUPS
from discreet.cli.terminal.exit_codes import ExitCode
from discreet.cli.terminal.help_texts import meanings
from tests.support import commands
from tests.support.commands import run, run_apart
from tools.reference.commands import examples

LATE = {f"discreet {name}": late for name, late in COMMANDS.items()} | {
    f"discreet {group} {name}": late for group, (_, below) in GROUPS.items() for name, late in below.items()
}
ELSEWHERE = ("serve", "shuffle", "demo", "graph", "collect send", "attack run", "attack all")
"""Commands that other tests run: they stay, need a server or a network, or take long."""
_METADATA = """\
"":
  clinic:
    visits:
      patient_id: {private_id: true, type: int}
      cost: {type: float, lower: 0, upper: 100}
"""


def test_every_example_begins_with_its_command():
    for name, late in LATE.items():
        assert late.example.split()[: len(name.split())] == name.split()


def test_the_place_of_a_refusal_is_marked_below_the_question(tmp_path):
    (tmp_path / "staff.csv").write_text("age,dept\n3,a\n4,b\n")
    next_steps = run_apart("init", "staff.csv", "--epsilon", 2, "--yes", cwd=tmp_path)
    assert "discreet ask 'SELECT COUNT(*) AS n FROM staff' --epsilon 0.1" in next_steps
    sql = "SELECT dept, COUNT(*)\nFROM stff GROUP BY dept"
    told = run_apart("ask", sql, "--epsilon", 0.1, cwd=tmp_path, code=3).splitlines()
    at = told.index("    FROM stff GROUP BY dept")
    assert told[at + 1] == "         ^^^^"
    facts = json.loads(run_apart("ask", sql, "--epsilon", 0.1, "--json", cwd=tmp_path, code=3))
    assert facts["error"]["place"] == {"start": 27, "end": 31, "line": 2, "column": 6}


def test_no_summary_is_cut_or_broken_at_80_columns(monkeypatch):
    monkeypatch.setattr(commands, "COLUMNS", "80")
    for group, listed in [((), COMMANDS), *(((name,), below) for name, (_, below) in GROUPS.items())]:
        lines = [line.strip() for line in run(*group, "--help").splitlines()]
        for name, late in listed.items():
            assert any(line.startswith(f"{name} ") and line.endswith(late.summary) for line in lines), name


@pytest.fixture
def folder(tmp_path):
    """What the examples need beside each other."""
    with (tmp_path / "visits.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["patient_id", "ward", "cost"])
        rows.writerows([number // 3, ("ER", "ICU")[number % 2], 10.5 * (number % 40)] for number in range(600))
    (tmp_path / "metadata.yaml").write_text(_METADATA)
    (tmp_path / "imported").mkdir()
    return tmp_path


def test_every_example_runs(folder):
    for example in examples():
        if not example.startswith(tuple(f"discreet {name}" for name in ELSEWHERE)):
            words = _with_what_is_there(shlex.split(example)[1:], folder)
            run(*words, cwd=folder)


def _with_what_is_there(words, folder):
    """An example with a real receipt or key in the place of its capitals."""
    if "RECEIPT" in words:
        charges = json.loads(run("budget", "--json", cwd=folder))["queries"]
        words[words.index("RECEIPT")] = charges[0]["receipt"]
    if "NUMBER" in words:
        keys = json.loads(run("key", "list", "--json", cwd=folder))
        words[words.index("NUMBER")] = keys[-1]["id"]
    if "seal" in words:
        secret = folder / "ledger.sqlite.secret"
        shutil.copy(secret, folder / "old.secret")
        secret.write_bytes(secret.read_bytes()[::-1])
    return words


def test_lines_fit_a_terminal_and_are_not_broken_in_a_pipe(folder, monkeypatch):
    run(*shlex.split(COMMANDS["init"].example)[1:], cwd=folder)
    query = (
        "SELECT COUNT(*) AS visits, COUNT(DISTINCT patient_id) AS patients FROM visits WHERE cost > 12.5 OR ward = 'ER'"
    )
    asked = ("ask", query, "--epsilon", "0.28436011245154963")
    monkeypatch.setattr(commands, "COLUMNS", "80")
    for words in (
        asked,
        ("explain", *asked[1:]),
        ("budget",),
        ("ledger", "show"),
        ("ask", "SELECT 1", "--epsilon", "1"),
    ):
        shown = run(*words, cwd=folder, code=3 if "SELECT 1" in words else 0)
        assert max(map(len, shown.splitlines())) <= 80
        assert "0.2843" not in shown
        assert "± 0.00" not in shown
    unset = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    piped = subprocess.check_output([sys.executable, "-m", "discreet", "budget"], text=True, env=unset, cwd=folder)
    assert query in piped


def test_json_is_one_document_in_every_command_that_has_it(folder):
    run(*shlex.split(COMMANDS["init"].example)[1:], cwd=folder)
    for words in (("budget",), ("ledger", "head"), ("ledger", "anchor"), ("ledger", "cap", "alice", "--epsilon", "1"), ("key", "create", "alice"),
                  ("ledger", "freeze", "alice"), ("user", "add", "alice"), ("ledger", "backup", "copy.sqlite"), ("attack", "list"), ("check",), ("refresh",), ("bounds", "--people", "9", "--rho", "1")):  # fmt: skip
        json.loads(run(*words, "--json", cwd=folder))


def test_the_list_of_commands_imports_none_of_them():
    heavy = ("numpy", "duckdb", "pyarrow", "sqlglot", "httpx", "fastapi", "rich.table", "discreet.ledger")
    code = f"import discreet.__main__, sys; discreet.__main__.command(); print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_help_says_what_every_code_means_and_a_refusal_points_to_it(tmp_path):
    for code in meanings():
        assert run("help", code).split()[0] == code
    assert "Join on the person's id" in " ".join(run("help", "joins-people").split())
    assert "more: discreet help no-ledger" in run_apart("budget", "--ledger", tmp_path / "none", code=3)
    assert "Recompute the hash chain" in run("help", "ledger", "verify")
    assert "discreet help joins-people" in run("help", "joins-poeple", code=3)
    assert json.loads(run("help", "unparsable", "--json"))["code"] == "unparsable"


def test_the_help_says_what_exit_codes_mean():
    said = " ".join(run("--help").split())
    for code in ExitCode:
        assert f"{code:d} {code.meaning}" in said


def test_a_shell_completes_commands_and_codes():
    def completed(line):
        typed = {"_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        told = subprocess.check_output([sys.executable, "-m", "discreet"], text=True, env={**os.environ, **typed})
        return told.split()

    assert completed("discreet led") == ["ledger"]
    assert {"verify", "head"} <= set(completed("discreet ledger "))
    assert completed("discreet help joins-") == ["joins-people"]
