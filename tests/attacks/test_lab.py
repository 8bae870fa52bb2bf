"""The whole lab as one table and one page."""

import re

import pytest

from discreet.attacks.lab import Lab, duels, markdown, run_lab
from discreet.attacks.report import html
from tests.attacks.test_core import result


@pytest.fixture(scope="module")
def lab():
    return run_lab(["differencing", "sampling"], epsilons=[1.0], size="small", seed=20)


def test_a_lab_plays_every_release_and_discreet_at_each_epsilon(lab):
    played = [(r.attack, r.against, r.epsilon) for r in lab.results]
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
    head, _, *rows = markdown(lab).splitlines()
    assert head == "| attack | guessing | weak release | Discreet, ε 1 |"
    assert [row.split(" | ")[0] for row in rows] == ["| differencing", "| sampling"]
    assert "minimum-size: **100.0 %**" in rows[0]
    assert all("(≤ 88.1 %)" in row for row in rows)


def test_the_page_stands_alone_in_light_and_dark_and_tells_every_story(lab):
    page = html(lab)
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "prefers-color-scheme:dark" in page
    assert page.count("<svg") == 2
    for text in (
        "Everybody, less everybody but you",
        "Freddie is HIV-positive",
        "none above what differential privacy",
    ):
        assert text in page


def test_a_result_above_its_bound_is_called_broken():
    bad = result([1] * 95 + [0] * 5, bound=0.6, attack="differencing")
    lab = Lab((bad, result([1, 0], bound=0.6, attack="averaging")))
    assert lab.broken == [bad]
    assert "Discreet is broken, or the bound is" in html(lab)
