import re
from unittest import mock

import pytest

import discreet
from discreet.cli.demonstration import demo
from discreet.cli.demonstration import demo_story as story
from discreet.cli.terminal.terminal_tables import open_screen
from tests.support.commands import run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole():
    """All of it, in a clinic of a fiftieth; `make soak` tells it in full."""
    with mock.patch.multiple(story, _PATIENTS=2_000, _VISITS=20_000):
        return run("demo")


def test_the_demo_shows_ten_answers_an_interval_and_epsilon_in_words(whole):
    shown = whole[: whole.index("Now a whole clinic")]
    answers = [int(line.split()[0]) for line in shown.splitlines() if re.match(r"\s+\d+\s+± 6", line)]
    assert len(answers) == 10
    covered = sum(abs(answer - 412) <= 6 for answer in answers)
    assert f"{covered} of these 10 cover the true count" in shown
    assert "62.3 %" in shown
    assert "ε 0.5 for each answer, 5 for the ten together" in shown


def test_the_story_answers_replays_refuses_and_withstands(whole):
    story = whole[whole.index("Now a whole clinic") :]
    assert story.count("paid ε 0.4") == 3
    assert story.count("(nothing was spent)") == 5
    assert "11 questions were asked, 1 of them free" in story
    assert "free: asked before" in story
    assert "refused: budget-exceeded (nothing was spent)" in story
    right = int(re.search(r"Discreet +right about (\d+) of 200", story)[1])
    assert right <= 0.881 * 200 + 6.2 * (200 * 0.25) ** 0.5
    assert re.search(r"exact answers +right about 200 of 200", story)
    assert "discreet init" in story


def test_no_line_is_filled_up_to_the_width_of_a_terminal_that_is_not_there(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    story._say(open_screen(), "Now a whole clinic")
    assert max(map(len, capsys.readouterr().out.splitlines())) < 40


def test_the_demo_draws_anew_every_time(monkeypatch):
    """Its first act: every number of it is drawn, and three same tens in a row are rarer than 1e-9."""
    monkeypatch.setattr(demo, "print_story", lambda _: None)
    assert len({run("demo") for _ in range(3)}) > 1


def test_the_version_is_told():
    assert run("--version").strip() == discreet.__version__
