"""Synthetic data from the command line: told before it is paid for, paid once, written as rows, refused by name."""

import json
import re

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from discreet.api.opening import open_curator
from discreet.cli.terminal.exit_codes import ExitCode
from discreet.cli.terminal.run_commands import show_measurement_progress
from discreet.pipeline.call import Call
from tests.synthetic.dying import prepared

PRICE = ("--epsilon", 1, "--delta", 1e-9, "--workload", 2)


@pytest.fixture
def clinic(tmp_path):
    return prepared(tmp_path)


def spent(run):
    return json.loads(run("budget", "--json"))["accounts"]


def test_a_dry_run_tells_price_columns_and_what_many_rows_do_and_spends_nothing(run, clinic):
    before = spent(run)
    told = run("synth", "visits", *PRICE, "--dry-run")
    for part in ("ward: 3", "sex: 2", "age: 10", "3 to preserve", "2 rows per person", "noise is 2 times", "no pure epsilon", "ρ 0.015", "dataset",
                 "nothing was spent"):  # fmt: skip
        assert part in told
    assert not [line for line in told.splitlines() if line != line.rstrip()]
    for part in ("about 1,000,000 rows", "ward: ± ", "2 columns: 3 of 3 tables can be measured", "nothing is promised"):
        assert part in told
    assert "change it with --rows-about" in told
    assert "--rows-about" not in run("synth", "visits", *PRICE, "--dry-run", "--rows-about", 1200)
    facts = json.loads(run("synth", "visits", *PRICE, "--dry-run", "--rows-about", 1200, "--json"))
    assert facts["predicted"]["rows_about"] == 1200
    assert facts["columns"] == {"ward": 3, "sex": 2, "age": 10}
    assert not facts["asked_before"]
    assert "cannot pay it" in run("synth", "visits", "--rho", 50, "--dry-run")
    assert spent(run) == before


def test_errors_of_a_dry_run_are_in_one_notation_without_a_range_of_one(run, clinic):
    told = run("synth", "visits", "--rho", 5, "--workload", 3, "--dry-run")
    errors = re.findall(r"error ([^,\s]+)(?: … (\S+))?", told)
    assert len(errors) >= 4
    assert not [error for error in errors if error[0] == error[1] or "e" in "".join(error)]
    assert any(last == "" for _, last in errors[3:])


def test_refusals_are_in_words_that_fit_a_terminal(run, clinic):
    model = ("learn", "visits", "--rho", 0.01, "--model", "linear", "--target", "ward", "--feature", "age")
    for asked, step in (
        (("synth", "visits"), "Give rho, such as 0.01"),
        (("synth", "visits", "--epsilon", 1), "Give delta too, such as 1e-9"),
        (model, "learn a classifier such as a logistic model"),
        (model[:-2], "Name at least one column"),
    ):
        assert step in " ".join(run(*asked, code=ExitCode.REFUSED).split())


def test_rows_are_written_paid_for_once_and_listed_for_who_paid(run, clinic, tmp_path):
    assert "no named releases yet" in run("releases")
    asked = ("synth", "visits", *PRICE, "--name", "mine", "--analyst", "alice", "--json")
    facts = json.loads(run(*asked, "--out", "rows.parquet"))
    bill = spent(run)
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == facts["rows"] == round(facts["total"])
    again = json.loads(run(*asked, "--out", "rows.csv", "-n", 70, "--report", "report.html"))
    assert facts["receipt"] in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (facts["replayed"], again["replayed"], again["rows"], spent(run)) == (False, True, 70, bill)
    rows = pa_csv.read_csv(tmp_path / "rows.csv")
    assert (rows.num_rows, rows.column_names) == (70, ["ward", "sex", "age"])
    assert json.loads(run("releases", "--analyst", "alice", "--json"))["releases"] == ["mine"]
    assert run("releases").split() == ["name", "kind", "by", "mine", "synthetic", "data", "alice"]
    assert run("releases", "--analyst", "alice").split() == ["name", "kind", "mine", "synthetic", "data"]
    assert "free: asked before" in run("synth", "visits", *PRICE, "--dry-run", "--analyst", "alice")
    assert "free: asked before" in run(*asked[:-1])


def test_bins_and_columns_whose_values_are_found_are_said_as_elsewhere(run, clinic):
    clinic.write_text(clinic.read_text().replace(', values = ["A", "B", "C"]', ""))
    asked = ("synth", "visits", "--rho", 0.05, "--workload", 1, "--method", "independent", "--bins", "age=5")
    assert "(discover)" in run(*asked, code=ExitCode.REFUSED)
    assert "--discover diagnosis=0.2" in run(*asked, "--discover", "ward", code=ExitCode.REFUSED)
    told = run(*asked, "--discover", "ward=2", "--dry-run")
    assert "age: 5" in told
    assert "the values of ward are found first, for epsilon 2" in told
    made = json.loads(run(*asked, "--discover", "ward=2", "--out", "rows.csv", "--json"))
    assert made["columns"] == {"ward": 3, "sex": 2, "age": 5}
    assert set(pa_csv.read_csv("rows.csv")["ward"].to_pylist()) <= {"A", "B", "C"}


def test_what_was_paid_for_is_reused_and_told(run, clinic):
    asked = ("synth", "visits", "--rho", 0.01, "--workload", 2, "--analyst", "alice")
    run(*asked, "--name", "first")
    assert "first" in run(*asked, "--reuse", "--name", "second", "--dry-run")
    assert "with tables of first" in run(*asked, "--reuse", "--name", "second")
    assert json.loads(run(*asked, "--reuse", "--name", "second", "--json"))["reused"] == ["first"]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("visits", "--rho", 0.01, "--out", "rows.txt"), "bad-input"),
        (("visits", "--rho", 0.01, "--rows-about", 1200), "bad-input"),
        (("visits", "--rho", 0.01, "--out", "discreet.csv"), "bad-input"),
        (("visits", "--rho", 0.01, "--out", "no/rows.csv"), "bad-input"),
        (("visits", "--rho", 0.01, "--report", "report.pdf"), "bad-input"),
        (("visits", "--rho", 0.01, "--workload", "ward,none"), "unknown-name"),
        (("visits", "--rho", 0.01, "--workload", 9), "bad-input"),
        (("visits", "--rho", 0.01, "--method", "none"), "bad-input"),
        (("visits", "--epsilon", 1), "needs-delta"),
        (("visits",), "bad-input"),
        (("visits", "--rho", 50), "budget-exceeded"),
    ],
)
def test_what_is_refused_is_refused_by_name_before_it_is_paid_for(run, clinic, words, refusal):
    (clinic.parent / "discreet.csv").write_text("mine")
    before, code = spent(run), ExitCode.BUDGET if refusal == "budget-exceeded" else ExitCode.REFUSED
    assert json.loads(run("synth", *words, "--json", code=code))["error"]["code"] == refusal
    assert spent(run) == before
    assert (clinic.parent / "discreet.csv").read_text() == "mine"


def test_looks_are_told_once_they_are_on_disk_and_only_to_a_terminal(clinic, capfd):
    heard = []
    with open_curator(clinic) as curator, show_measurement_progress() as tell:

        def on_measurement(count):
            with curator.ledger._store.transaction() as t:
                heard.append((count, t.run("SELECT COUNT(*) FROM ledger_steps")[0][0]))
            tell(count)

        made = curator.with_call(Call(on_measurement=on_measurement)).synthesize("visits", rho=0.05, workload=2)
    assert heard == [(count, count) for count in range(1, len(made.transcript.steps) + 1)]
    assert capfd.readouterr().err == ""


def test_the_owner_publishes_a_release_which_all_see_from_then_on_and_the_books_say_so(run, clinic):
    run("synth", "visits", *PRICE, "--method", "independent", "--name", "mine")
    assert json.loads(run("releases", "--analyst", "alice", "--json")) == {"releases": [], "details": []}
    assert "not-answered" in run("releases", "--publish", "none", code=ExitCode.REFUSED)
    assert "mine is published" in run("releases", "--publish", "mine")
    theirs = {"name": "mine", "kind": "synthesize", "by": None, "published": True}
    assert json.loads(run("releases", "--analyst", "alice", "--json")) == {"releases": ["mine"], "details": [theirs]}
    assert run("releases").split()[3:] == ["mine", "synthetic", "data", "the", "owner", "published"]
    run("synth", "visits", "--rho", 0.02, "--method", "independent", "--name", "mine", "--analyst", "alice")
    facts = json.loads(run("releases", "--json"))
    assert facts["releases"] == ["mine"]
    assert [(each["by"], each["published"]) for each in facts["details"]] == [("", True), ("alice", False)]
    assert "mine, to all" in run("ledger", "show")
