"""The whole lab as one table and one page."""

import re

import pytest

from discreet import attacks
from discreet.attacks.lab.lab import above_the_bound, duels, not_run, run_all
from discreet.attacks.lab.lab_report import html_report, markdown_table
from tests.attacks.promises import FEW
from tests.attacks.test_core import result


@pytest.fixture(scope="module")
def lab():
    observed = []
    found = run_all(
        ["differencing", "sampling"],
        epsilons=[1.0],
        size="small",
        seed=20,
        on_progress=lambda done, of: observed.append((done, of)),
    )
    assert observed == [(number, 6) for number in range(7)]
    return found


def test_a_lab_plays_every_release_and_discreet_at_each_epsilon(lab):
    played = [(r.attack, r.against, r.epsilon) for r in lab]
    assert played == [
        ("differencing", "minimum-size", None),
        ("differencing", "articles", None),
        ("differencing", "room", None),
        ("differencing", "discreet", 1.0),
        ("sampling", "sample", None),
        ("sampling", "discreet", 1.0),
    ]
    assert {duel.epsilon for duel in duels(["differencing"]) if duel.against == "discreet"} == {0.1, 1.0, 10.0}


def test_the_table_has_a_row_for_each_attack_with_what_is_allowed(lab):
    head, _, *rows = markdown_table(lab).splitlines()
    assert head == "| attack | guessing | weak releases | Discreet, ε 1 |"
    assert [row.split(" | ")[0] for row in rows] == ["| differencing", "| sampling"]
    assert "minimum-size: **100.0 %**" in rows[0]
    assert all("(≤ 88.1 %)" in row for row in rows)


def test_the_page_stands_alone_in_light_and_dark_and_tells_every_story(lab):
    page = html_report(lab)
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "prefers-color-scheme:dark" in page
    assert page.count("<svg") == 2
    for text in (
        "Everyone minus everyone but you",
        "Freddie is HIV-positive",
        "none above what differential privacy",
    ):
        assert text in page


def test_a_result_above_its_bound_is_called_broken():
    bad = result([1] * 95 + [0] * 5, bound=0.6, attack="differencing")
    lab = [bad, result([1, 0], bound=0.6, attack="averaging")]
    assert above_the_bound(lab) == [bad]
    assert "Either Discreet or the bound is wrong" in html_report(lab)


def test_what_misses_a_package_is_left_out_and_told(monkeypatch):
    import discreet.attacks.lab.lab as room

    monkeypatch.setattr(room, "find_spec", lambda _: None)
    left_out = not_run()
    assert all(left_out.values())
    assert not {duel.attack for duel in duels()} & set(left_out)


@pytest.mark.parametrize(
    ("name", "trials"),
    [("differencing", FEW), ("reconstruction", None), ("tracing-keys", None), ("lowbits", FEW), ("linkage", 14)],
)
def test_an_account_with_a_delta_keeps_its_bound_too(name, trials):
    found = attacks.run(name, against="discreet", epsilon=1, delta=1e-6, size="small", trials=trials, seed=3)
    assert found.delta == 1e-6
    assert found.holds(1 - 1e-9)
