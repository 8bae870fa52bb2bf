"""Models from the command line: every look and the price before they are paid for, paid once, every number with its ±, refused by name."""

import json

import pytest

from discreet.cli.terminal.exit_codes import ExitCode
from tests.cli.test_synthesizing import spent
from tests.synthetic.dying import prepared

ASKED = (
    "learn",
    "visits",
    "--model",
    "logistic",
    "--target",
    "sex",
    "--feature",
    "age:5",
    "--feature",
    "ward",
    "--count",
    3,
)


@pytest.fixture
def clinic(tmp_path):
    return prepared(tmp_path)


def test_a_dry_run_tells_every_look_and_the_price_and_spends_nothing(run, clinic):
    before = spent(run)
    told = run(*ASKED, "--rho", 0.05, "--dry-run")
    for part in ("products: ", "pass: ", "ward: 3", "2 rows per person", "ρ 0.05", "nothing was spent"):
        assert part in told
    facts = json.loads(run(*ASKED, "--rho", 0.05, "--dry-run", "--json"))
    assert [look["what"] for look in facts["measurements"]] == ["products", "pass", "pass", "pass"]
    assert spent(run) == before


def test_a_model_is_paid_for_once_found_by_its_name_and_evaluated(run, clinic):
    told = run(*ASKED, "--rho", 0.05, "--name", "m")
    bill = spent(run)
    assert "ward = A" in told
    assert "±" in told
    assert "paid ρ 0.05" in told
    again = json.loads(run(*ASKED, "--rho", 0.05, "--name", "m", "--json"))
    assert (again["replayed"], again["kind"], again["model"]) == (True, "learn", "LogisticRegression")
    assert all(row["within"] > 0 for row in again["numbers"])
    assert spent(run) == bill
    found = run("evaluate", "m", "visits", "--rho", 0.05)
    assert "accuracy" in found
    assert "m is right about" in found
    tree = run(
        "learn", "visits", "--model", "tree", "--target", "sex", "--feature", "age:values", "--rho", 0.05, "--name", "t"
    )
    assert "P(F | " in tree


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--model", "forest", "--feature", "age", "--rho", 0.1), "bad-input"),
        (("--model", "tree", "--feature", "age", "--rho", 0.1), "bad-input"),
        (("--model", "bayes", "--target", "sex", "--feature", "age", "--count", 3, "--rho", 0.1), "bad-input"),
        (("--model", "bayes", "--target", "sex", "--rho", 0.1), "bad-input"),
        (("--model", "bayes", "--target", "sex", "--feature", "agee", "--rho", 0.1), "unknown-name"),
        (("--model", "bayes", "--target", "sex", "--feature", "age"), "bad-input"),
    ],
)
def test_what_cannot_be_learned_is_refused_by_name(run, clinic, words, refusal):
    told = json.loads(run("learn", "visits", *words, "--json", code=ExitCode.REFUSED))
    assert told["error"]["code"] == refusal
