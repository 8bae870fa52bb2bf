"""`discreet attack` as a person types it."""

import json

import pytest

from discreet.errors import DiscreetError
from tests.support.commands import call, run


@pytest.fixture
def discreet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return call("attack", *arguments)

    return run


NAMES = [
    "differencing",
    "averaging",
    "linkage",
    "dictionary",
    "homogeneity",
    "sampling",
    "auditing",
    "reconstruction",
    "census",
    "membership",
    "model-membership",
    "inversion",
    "lowbits",
    "timing",
    "prng",
    "ledger-race",
    "tracing",
]


def test_every_attack_of_the_lectures_is_listed(discreet):
    said, facts = discreet("list"), json.loads(discreet("list", "--json"))
    for name in NAMES:
        assert name in said
    assert {one["name"] for one in facts} >= set(NAMES)
    assert all(one["releases"] and one["wants"] and one["lesson"] and one["citation"] for one in facts)


def test_one_attack_against_both_is_told_step_by_step(discreet, tmp_path):
    said = discreet("run", "differencing", "--against", "weak,discreet", "--epsilon", "1", "--people", "32", "--trials", "8", "--plot", "plot.svg")  # fmt: skip
    assert "SELECT SUM" in said
    assert "guess" in said
    assert "falls" in said
    assert "VIOLATED" not in said
    assert (tmp_path / "plot.svg").read_text().startswith("<svg")
    facts = json.loads(discreet("run", "differencing", "--people", "32", "--trials", "8", "--seed", "1", "--json"))
    assert facts["success"] == 1
    assert facts["bound"] is None


def test_without_an_epsilon_discreet_is_played_at_all_of_the_labs(discreet):
    told = discreet("run", "differencing", "--against", "weak,discreet", "--people", "32", "--trials", "4", "--json")
    facts = json.loads(told.splitlines()[-1])
    assert [(one["against"], one["epsilon"]) for one in facts] == [
        ("minimum-size", None),
        ("discreet", 0.1),
        ("discreet", 1.0),
        ("discreet", 10.0),
    ]


def test_some_attacks_as_a_page_and_as_a_table_in_a_page(discreet, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- the lab's table begins -->\nold\n<!-- the lab's table ends -->\nafter\n")
    discreet("all", "--only", "differencing", "--small", "--report", "lab.html", "--table", "page.md", "--json")
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| differencing | 50.0 % |" in text
    assert "<h1>The attack lab</h1>" in (tmp_path / "lab.html").read_text()


def test_a_verdict_needs_more_than_bad_luck():
    from discreet.cli.demonstration.attack import _verdict
    from tests.attacks.test_core import result

    def said(right, bound):
        return str(_verdict(result([1.0] * right + [0.0] * (100 - right), bound), comparisons=1))

    assert [said(right, 0.5) for right in (55, 63, 80)] == ["holds", "play more", "VIOLATED"]
    assert said(99, None) == "falls"


def test_a_guarantee_that_is_violated_is_an_exit_code_of_its_own(monkeypatch):
    from discreet.cli.demonstration import attack
    from tests.attacks.test_core import result

    for right, code in ((55, 0), (63, 0), (80, 6)):
        played = result([1.0] * right + [0.0] * (100 - right), 0.5)
        monkeypatch.setattr(attack, "run", lambda *_, played=played, **__: played)
        monkeypatch.setattr(attack, "run_all", lambda *_, played=played, **__: [played])
        for arguments in (["run", "differencing"], ["run", "differencing", "--json"], ["all"], ["all", "--json"]):
            run("attack", *arguments, code=code)


def test_an_option_that_is_a_whole_number_is_never_cut_to_one(discreet):
    with pytest.raises(DiscreetError, match="alpha must be a whole number"):
        discreet("run", "exhaustive", "--option", "alpha=0.3")
    assert "guess" in discreet("run", "exhaustive", "--option", "alpha=1", "--people", "6", "--trials", "2")


def test_what_cannot_be_played_is_refused_with_a_next_step(discreet):
    with pytest.raises(DiscreetError, match="Choose one of"):
        discreet("run", "magic")
    with pytest.raises(DiscreetError, match="Choose one of"):
        discreet("run", "differencing", "--against", "nobody", "--epsilon", "1")
    with pytest.raises(DiscreetError, match="name=number"):
        discreet("run", "differencing", "--option", "noise")
