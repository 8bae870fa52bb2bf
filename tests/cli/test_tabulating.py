"""Tables from the command line: ± and price before they are paid for, paid once, written as rows, refused by name."""

import json

import pyarrow.csv as pa_csv
import pytest

from discreet.cli.terminal.exit_codes import ExitCode
from discreet.core.number_format import figure, plus_minus
from tests.cli.test_synthesizing import spent
from tests.synthetic.dying import prepared

ASKED = ("tabulate", "visits", "--marginals", 2, "--ranges", "age", "--rho", 0.05)


@pytest.fixture
def clinic(tmp_path):
    return prepared(tmp_path)


def test_a_dry_run_tells_every_width_and_the_price_and_spends_nothing(run, clinic):
    before = spent(run)
    told = run(*ASKED, "--dry-run")
    for part in (
        "ward × sex: ±",
        "age: ±",
        "a typical count is off by",
        "2 rows per person",
        "ρ 0.05",
        "nothing was spent",
    ):
        assert part in told
    facts = json.loads(run(*ASKED, "--dry-run", "--json"))
    assert [table["columns"] for table in facts["tables"]] == [
        ["ward", "sex"],
        ["ward", "age"],
        ["sex", "age"],
        ["age"],
    ]
    assert spent(run) == before


def test_counts_are_written_paid_for_once_and_listed(run, clinic, tmp_path):
    told = run(*ASKED, "--name", "tables", "--out", "tables.csv")
    bill = spent(run)
    rows = pa_csv.read_csv(tmp_path / "tables.csv").to_pylist()
    assert len(rows) == 6 + 30 + 20 + 55
    assert f"{len(rows)} counts" in told
    assert "paid ρ 0.05" in told
    again = json.loads(run(*ASKED, "--name", "tables", "--json"))
    assert (again["replayed"], again["kind"], spent(run)) == (True, "tabulate", bill)
    assert [row["count"] for row in again["rows"]] == pytest.approx([row["count"] for row in rows])
    assert run("releases").split() == ["name", "kind", "by", "tables", "tables", "the", "owner"]


def test_counts_are_shown_with_their_widths_the_smallest_tables_first_and_the_rest_is_named(run, clinic, tmp_path):
    asked = ("tabulate", "visits", "--marginals", 1, "--ranges", "age", "--rho", 0.05)
    told = run(*asked)
    rows = json.loads(run(*asked, "--json"))["rows"]
    lines = [line.split() for line in told.splitlines()]
    for row in (row for row in rows if row["sex"] or row["ward"]):
        label, width = row["sex"] or row["ward"], plus_minus(row["count"], row["within"])
        assert [label, figure(row["count"], row["within"]), *width.split()] in lines
    assert lines.index(["sex", "count"]) < lines.index(["ward", "count"]) < lines.index(["age", "count"])
    assert sum("±" in line and "counts" not in line for line in lines) == 36
    assert f"and {len(rows) - 36} more: the same command with --out counts.csv writes all of them, free" in told
    assert f"and {len(rows) - 36} more: in the file" in run(*asked, "--out", "counts.csv")
    assert "more" not in run("tabulate", "visits", "--table", "sex", "--rho", 0.05)


def test_bins_are_as_asked(run, clinic):
    facts = json.loads(run(*ASKED, "--bins", "age=5", "--dry-run", "--json"))
    assert facts["columns"]["age"] == 5
    assert "--bins age=16" in run(*ASKED, "--bins", "age", code=ExitCode.REFUSED)


def test_tables_by_region_are_counted_from_a_tree_of_the_catalog(run, clinic, tmp_path):
    (tmp_path / "places.csv").write_text("part,ward\nnorth,A\nnorth,B\nsouth,C\n")
    declared = '[tables.places]\npublic = true\n[trees.house]\ntable = "places"\nlevels = ["part", "ward"]\n'
    clinic.write_text(f"{clinic.read_text()}\n{declared}")
    run("refresh")
    asked = ("tabulate", "SELECT ward, sex FROM visits", "--tree", "house", "--rho", 0.5)
    assert "part × sex: ±" in run(*asked, "--dry-run")
    facts = json.loads(run(*asked, "--json"))
    assert facts["levels"] == {"all": 1, "part": 2, "ward": 3}
    whole = [row["count"] for row in facts["rows"] if row["level"] == "all"]
    north = [row["count"] for row in facts["rows"] if row["ward"] in ("A", "B")]
    assert sum(whole) == pytest.approx(1200, abs=200)
    assert sum(north) == sum(row["count"] for row in facts["rows"] if row["level"] == "part" and row["part"] == "north")


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--rho", 0.1), "bad-input"),
        (("--rho", 0.1, "--marginals", 9), "bad-input"),
        (("--rho", 0.1, "--table", "ward,none"), "unknown-name"),
        (("--marginals", 1), "bad-input"),
        (("--rho", 0.1, "--tree", "none"), "unknown-name"),
        (("--rho", 0.1, "--tree", "none", "--marginals", 1), "bad-input"),
        (("--rho", 0.1, "--marginals", 1, "--out", "tables.txt"), "bad-input"),
        (("--rho", 50, "--marginals", 1), "budget-exceeded"),
    ],
)
def test_what_is_refused_is_refused_by_name_before_it_is_paid_for(run, clinic, words, refusal):
    before, code = spent(run), ExitCode.BUDGET if refusal == "budget-exceeded" else ExitCode.REFUSED
    assert json.loads(run("tabulate", "visits", *words, "--json", code=code))["error"]["code"] == refusal
    assert spent(run) == before
