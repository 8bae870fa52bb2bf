"""Sessions of a curator: one charge, the same answer to the same query, restarts, and refusals before the charge."""

import json
import logging
import signal
import subprocess
import sys

import pytest

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.errors import (
    AccountFrozen,
    BadInput,
    BudgetExceeded,
    NeedsDelta,
    NeedsValues,
    NotAnswered,
    ScaleOutOfRange,
    SessionEnded,
    TooLarge,
    TooMany,
    UnknownName,
    UnknownSession,
)
from discreet.ledger import verify
from discreet.pipeline.call import Call
from discreet.sessions import Between
from discreet.synthetic.synthetic_release import SyntheticRelease
from tests.sessions.dying import BATCHES, OPENED
from tests.synthetic.dying import prepared
from tests.synthetic.test_curator import PLANTED, ROWS, WIDE, a_curator, frame

ALL = [
    {"ward": ward, "age": Between(first, last)} for ward in "ABC" for first in range(10) for last in range(first, 10)
]


def steps_of(curator):
    with curator.ledger._store.transaction() as t:
        return t.run("SELECT COUNT(*) FROM ledger_steps")[0][0]


def test_one_charge_covers_many_queries_and_the_same_query_has_the_same_answer():
    with a_curator() as curator:
        session = curator.as_analyst("alice").session(ROWS, epsilon=1, delta=1e-9, queries=200)
        spent, begun = curator.budget(), steps_of(curator)
        told = session.answer_many(ALL)
        assert steps_of(curator) <= begun + 2, "165 queries are one step, after the one that begins the guard"
        assert session.answer_many(reversed(ALL)) == told[::-1]
        assert session.answer(ALL[7]) == told[7]
        assert session.left == 200 - 165
        session.close()
        with pytest.raises(UnknownSession):
            session.answer(ALL[0])
        assert repr(session) == f"Session(id={session.id!r}, queries=200, closed)"
        again = curator.as_analyst("alice").session(ROWS, epsilon=1, delta=1e-9, queries=200)
        assert again.id == session.id
        assert again.answer_many(ALL) == told
        assert again.left == 200 - 165
        assert curator.budget() == spent
        assert verify(curator.ledger).sound


def test_answers_lie_within_their_error_bounds():
    with a_curator(WIDE.replace("epsilon = 10", "epsilon = 200")) as curator:
        session = curator.session(ROWS, rho=20, queries=200)
        exact = {query["ward"]: sum("ABC"[n % 3] == query["ward"] for n in range(1200)) for query in ALL}
        for ward, count in exact.items():
            answer = session.answer({"ward": ward})
            assert abs(answer.count - count) <= answer.within
        assert abs(session.answer({}).count - 1200) <= session.within


def test_a_session_refuses_new_queries_after_its_last():
    with a_curator() as curator:
        details = {"rho": 0.05, "queries": 2}
        session = curator.as_analyst("alice").session(ROWS, **details)
        told = session.answer_many([{"ward": "A"}, {"ward": "B"}])
        with pytest.raises(SessionEnded, match="0 queries left"):
            session.answer({"ward": "C"})
        assert session.answer_many([{"ward": "B"}, {"ward": "A"}]) == told[::-1]
        session.close()
        spent = curator.budget()
        ended = curator.as_analyst("alice").session(ROWS, **details)
        assert ended.answer_many([{"ward": "A"}, {"ward": "B"}]) == told
        with pytest.raises(SessionEnded):
            ended.answer({"ward": "C"})
        assert curator.budget() == spent
        other = curator.as_analyst("alice").session(ROWS, name="another", **details)
        assert curator.budget() != spent
        with pytest.raises(SessionEnded, match="2 queries left"):
            other.answer_many([{"ward": ward} for ward in "ABC"])
        assert other.left == 2, "a batch that is refused was not begun"
        assert verify(curator.ledger).sound


def test_only_the_analyst_who_opened_a_session_continues_it():
    with a_curator() as curator:
        session = curator.as_analyst("alice").session(ROWS, rho=0.05, queries=5)
        assert curator.context.sessions.get(session.id, analyst="alice") is session
        for wrong, analyst in ((session.id, None), (session.id, "bob"), ("0" * 32, "alice")):
            with pytest.raises(UnknownSession):
                curator.context.sessions.get(wrong, analyst=analyst)
        assert curator.session(ROWS, rho=0.05, queries=5).id != session.id


def test_a_release_can_be_the_hypothesis_and_its_wrong_answers_are_found(tmp_path):
    """The release is of other people, none of whom is in ward A."""
    rich = (WIDE + "[budget.analysts.bob]\nepsilon = 10\ndelta = 1e-6\n").replace("epsilon = 10", "epsilon = 1000")
    others = parse_catalog(rich)
    rows = frame().filter([n % 3 != 0 for n in range(1200)])
    with open_curator(catalog=others, frames={"visits": rows}) as elsewhere:
        elsewhere.synthesize(ROWS, rho=20, workload=2, name="theirs").save(tmp_path / "theirs.discreet")
    theirs = SyntheticRelease.load(tmp_path / "theirs.discreet")
    with a_curator(rich) as curator:
        session = curator.session(ROWS, rho=400, queries=50, release=theirs, alarms=2)
        right, wrong = session.answer({"ward": "B"}), session.answer({"ward": "A"})
        assert (right.how, wrong.how) == ("estimated", "measured")
        assert abs(wrong.count - 400) <= wrong.within < 10
        assert session.alarms_left == 1
        mine = curator.as_analyst("alice").synthesize(ROWS, rho=1, workload=1, name="mine", method="independent")
        assert mine.total > 0
        named = curator.as_analyst("alice").session(ROWS, rho=1, queries=5, release="mine")
        assert named.left == 5
        with pytest.raises(NotAnswered):
            curator.as_analyst("bob").session(ROWS, rho=1, queries=5, release="mine")
        one = curator.synthesize("SELECT ward FROM visits", rho=1, workload=1)
        with pytest.raises(UnknownName, match="sex"):
            curator.session(ROWS, rho=1, queries=5, release=one)
        assert verify(curator.ledger).sound


def test_the_textbook_keeps_its_theorem():
    """All rows are in one cell, so that even weights are far off; they learn, and every answer is within its bound."""
    people = parse_catalog(
        WIDE.replace("epsilon = 10", "epsilon = 100000").replace(
            'privacy_unit = "person"\nmax_rows = 2', 'privacy_unit = "row"'
        )
    )
    rows = frame(200_000).slice(0, 60_000)
    with open_curator(catalog=people, frames={"visits": rows}) as curator:
        session = curator.session(
            "SELECT sex, ward FROM visits WHERE ward = 'A'", rho=2000, queries=40, mode="textbook"
        )
        assert session.within < 20_000, "less than there are rows"
        queries = [{"ward": "A"}, {"ward": ["B", "C"]}, {"sex": "F", "ward": "A"}, {"sex": "M"}, {"sex": "F"}, {}]
        exact = [20_000, 0, 20_000, 0, 20_000, 20_000]
        told = session.answer_many(queries)
        assert {answer.how for answer in told} >= {"measured"}
        assert all(abs(answer.count - count) <= answer.within for answer, count in zip(told, exact, strict=True))
        session.close()
        again = curator.session("SELECT sex, ward FROM visits WHERE ward = 'A'", rho=2000, queries=40, mode="textbook")
        assert again.answer_many(queries) == told


def test_a_frozen_analyst_gets_no_answer_not_even_a_repeated_one():
    with a_curator() as curator:
        session = curator.as_analyst("alice").session(ROWS, rho=0.05, queries=5)
        told = session.answer({"ward": "A"})
        curator.ledger.freeze("alice")
        with pytest.raises(AccountFrozen):
            session.answer({"ward": "A"})
        with pytest.raises(AccountFrozen):
            curator.as_analyst("alice").session(ROWS, rho=0.05, queries=5)
        curator.ledger.freeze("alice", frozen=False)
        assert session.answer({"ward": "A"}) == told


def test_at_the_limit_own_or_unused_sessions_are_closed_and_otherwise_opening_is_refused(monkeypatch):
    """Opening again uses an alarm, so no analyst can close others' sessions by opening their own."""
    with a_curator() as curator:
        curator.context.sessions.limit(each=2, most=3)

        def opened(name, analyst):
            return curator.as_analyst(analyst).session(ROWS, rho=0.01, queries=5, name=name, workload=1)

        theirs = [opened(name, "alice") for name in ("a", "b")]
        mine = [opened("m0", None)]
        mine.append(opened("m1", None))  # for which the first of mine is let go
        assert [session.is_open for session in (*theirs, *mine)] == [True, True, False, True]
        curator.context.sessions.limit(each=2, most=2)
        mine[1].close()
        with pytest.raises(TooMany):
            opened("m2", None)
        monkeypatch.setattr("discreet.sessions.session_pool.UNUSED", -1.0)
        assert opened("m2", None).is_open
        assert [session.is_open for session in theirs] == [False, True]
        third = opened("c", "alice")
        assert third.is_open
        assert not theirs[1].is_open


@pytest.mark.parametrize(("text", "price"), [(WIDE, {"rho": 0.05}), (WIDE.replace("delta = 1e-6", ""), {"epsilon": 1})])
def test_every_restart_uses_an_alarm_and_after_the_last_answers_are_unguarded(text, price):
    with a_curator(text) as curator:
        said = []
        for age in range(6):
            session = curator.session(ROWS, queries=10, **price)
            said.append(session.answer({"age": age}).how)
            session.close()
        assert said == ["estimated"] * 4 + ["unguarded"] * 2
        assert curator.session(ROWS, queries=10, **price).alarms_left == 0
        assert verify(curator.ledger).sound


REFUSED = [
    ({"queries": 0}, BadInput),
    ({"queries": 10**9}, BadInput),
    ({"queries": 5, "mode": "magic"}, BadInput),
    ({"queries": 5, "alarms": 0}, BadInput),
    ({"queries": 5, "mode": "textbook", "alarms": 3}, BadInput),
    ({"queries": 5, "workload": 4}, BadInput),
    ({"queries": 5, "name": "x" * 201}, TooLarge),
    ({"queries": 5, "epsilon": 1}, BadInput),
    ({"queries": 5, "rho": None, "epsilon": 1}, NeedsDelta),
    ({"queries": 5, "rho": None}, BadInput),
    ({"queries": 5, "rho": 1e-20}, ScaleOutOfRange),
    ({"queries": 5, "rho": 1e-22, "mode": "textbook"}, ScaleOutOfRange),
    ({"queries": 5, "rho": 1000}, BudgetExceeded),
    ({"queries": 5, "source": "visits"}, NeedsValues),
    ({"queries": 5, "release": "nothing"}, NotAnswered),
    ({"queries": 5, "bins": {"nothing": 4}}, UnknownName),
]  # fmt: skip


def test_what_cannot_be_is_refused_before_any_charge():
    wide = "SELECT age * 1000 AS x, age * 2000 AS y, age * 3000 AS z, age * 4000 AS w FROM visits"
    with a_curator() as curator:
        spent = curator.budget()
        for asked, error in REFUSED:
            with pytest.raises(error):
                curator.as_analyst("alice").session(**{"source": ROWS, "rho": 0.1, **asked})
        with pytest.raises(TooLarge):
            curator.session(wide, rho=0.1, queries=5, mode="textbook", bins=dict.fromkeys("xyzw", 256))
        assert curator.budget() == spent


def test_a_plan_has_cost_and_error_bound_without_spending_or_reading(monkeypatch):
    with a_curator() as curator:
        monkeypatch.setattr(curator._engine, "tables", None)
        plan = curator.as_analyst("alice").plan_session(ROWS, rho=0.05, queries=100)
        assert (plan.cells, plan.queries, plan.alarms, plan.asked_before) == (60, 100, 4, False)
        assert plan.charged == {"dataset": True, "alice": True}
        assert curator.plan_session(ROWS, rho=0.05, queries=100, mode="textbook").within is None
        monkeypatch.undo()
        assert curator.as_analyst("alice").session(ROWS, rho=0.05, queries=100).within == plan.within
        assert curator.as_analyst("alice").plan_session(ROWS, rho=0.05, queries=100).asked_before


@pytest.mark.parametrize(
    "query",
    [
        {"ward": "D"},
        {"ward": []},
        {"age": Between(20, 30)},
        {"age": Between("a", "b")},
        {"age": Between(float("nan"), 3)},
        {"age": Between([1], 3)},
        ["ward"],
        {"ward": {"A": 1}},
    ],
)
def test_a_query_without_a_meaning_is_refused_and_not_counted(query):
    with a_curator() as curator:
        session = curator.session(ROWS, rho=0.05, queries=5)
        with pytest.raises(BadInput):
            session.answer(query)
        with pytest.raises(UnknownName):
            session.answer({"nothing": 1})
        assert session.left == 5


def test_ranges_are_of_whole_bins():
    with a_curator() as curator:
        rows = "SELECT age * 10 AS months, age / 2.0 AS half, DATE '2020-01-01' + INTERVAL (age) DAY AS day FROM visits"
        session = curator.session(rows, rho=0.05, queries=20, bins={"months": 7, "half": 3, "day": 5})
        bins = {column.name: column.labels for column in session.domain.columns}
        assert bins["months"][0].is_whole
        last = -(-bins["months"][0].upper // 1) - 1  # of whole numbers below its end
        assert session.answer({"months": Between(0, int(last))}).count > 0
        assert session.answer({"half": Between(bins["half"][0].lower, bins["half"][0].upper)}).count > 0
        assert session.answer({"day": Between(bins["day"][1].lower)}).count > 0
        for column, ends in (("months", Between(0, int(last) - 1)), ("half", Between(0.1, 4.4)), ("months", 5)):
            with pytest.raises(BadInput, match="cuts a bin"):
                session.answer({column: ends})


def test_an_account_without_delta_takes_an_epsilon_alone():
    with a_curator(WIDE.replace("delta = 1e-6", "")) as curator:
        session = curator.as_analyst("alice").session(ROWS, epsilon=1, queries=20)
        assert session.answer({"ward": "A"}).how == "estimated"
        assert curator.budget()[0].spent.epsilon == 1
        assert verify(curator.ledger).sound


@pytest.mark.parametrize("count", [0, 1, 2])
def test_sessions_over_no_one_or_two_persons_answer_all_queries(count):
    with a_curator(count=count) as curator:
        assert len(curator.session(ROWS, rho=0.01, queries=200).answer_many(ALL)) == 165


def test_the_expected_time_of_an_answer_depends_on_queries_alone():
    told = []
    for count in (0, 1200):
        with a_curator(count=count) as curator:
            heard = []

            def leaving(seconds, heard=heard):
                heard.append(seconds)
                return Call().schedule_return(seconds)

            session = curator.with_call(Call(schedule_return=leaving)).session(ROWS, rho=0.01, queries=200)
            session.answer_many(ALL[:50], call=Call(schedule_return=leaving))
            session.answer_many(ALL, call=Call(schedule_return=leaving))
            told.append(heard)
    assert told[0] == told[1]
    assert len(told[0]) == 3


def test_a_planted_string_is_in_no_answer_step_log_or_error(caplog):
    caplog.set_level(logging.DEBUG)
    with a_curator(planted=range(0, 1200, 7)) as curator:
        session = curator.as_analyst("alice").session(ROWS, rho=0.05, queries=300)
        told = session.answer_many(ALL)
        with pytest.raises(BadInput) as refused:
            session.answer({"ward": "planted"})
        with curator.ledger._store.transaction() as t:
            tables = ("steps", "entries", "questions")
            stored = [repr([bytes(cell) if isinstance(cell, memoryview) else cell for cell in row])
                      for table in tables for row in t.run(f"SELECT * FROM ledger_{table}")]  # fmt: skip
        seen = [repr(session), repr(told), caplog.text, str(refused.value), repr(session._progress._underway), *stored]
    assert len(stored) >= 10
    assert not [text for text in seen if PLANTED in text]


def test_two_curators_continue_one_session_in_turn(tmp_path):
    place = prepared(tmp_path)
    details = {"rho": 0.05, "queries": 300, "alarms": 8}
    with open_curator(place) as one, open_curator(place) as other:
        first, second = (each.as_analyst("alice").session("visits", **details) for each in (one, other))
        told = first.answer_many(ALL[:5])
        assert second.answer_many(ALL[:10])[:5] == told
        assert first.answer_many(ALL[:12])[:10] == second.answer_many(ALL[:10])
        assert first.answer_many(ALL[:20]) == second.answer_many(ALL[:20])
        assert first.left == second.left == 280
        assert verify(one.ledger).sound
        assert one.ledger.account().total.rho == pytest.approx(0.05 * 1e24, rel=1e-9)


def die_in_a_session(folder, points):
    """Kill processes with signal 9, one after another, until one ends: how many batches each has answered.

    The next process returns all earlier answers again, under one charge.
    """
    place = prepared(folder)
    command = [sys.executable, "-m", "tests.sessions.dying", str(place), *points, "none/0"]
    lines = subprocess.check_output(command, timeout=60 + 10 * len(points), text=True).splitlines()
    ends = [at for at, line in enumerate(lines) if line.startswith("died")]
    assert [lines[at] for at in ends] == [f"died of {signal.SIGKILL.value}"] * len(points) + ["died of 0"]
    said = [lines[start:end] for start, end in zip([0, *(at + 1 for at in ends)], ends, strict=False)]
    assert len(said[-1]) == len(BATCHES)
    assert all(heard == said[-1][: len(heard)] for heard in said)
    with open_curator(place) as curator:
        session = curator.as_analyst("alice").session("visits", **OPENED)
        again = [[answer.count for answer in session.answer_many(batch)] for batch in BATCHES]
        assert again == list(map(json.loads, said[-1]))
        assert session.left == 300 - len({repr(query) for batch in BATCHES for query in batch})
        assert curator.ledger.account().total.rho == pytest.approx(0.05 * 1e24, rel=1e-9)
        assert verify(curator.ledger).sound
    return [len(lines) for lines in said]


def test_a_process_killed_in_a_session_leaves_its_answers_and_one_charge(tmp_path):
    """While it starts, before and after it stores an answer: the next process returns all stored answers."""
    told = die_in_a_session(tmp_path, ["early step: written/1", "step: committed/2", "step: begun/1"])
    assert told == [0, 1, 2, len(BATCHES)]  # `make soak` kills at every step


def test_a_hypothesis_starts_with_tables_of_earlier_releases():
    with a_curator() as curator:
        curator.as_analyst("alice").synthesize("SELECT ward, sex, age FROM visits", rho=0.05, workload=2, name="before")
        wanted = {"rho": 0.05, "queries": 10, "reuse": True}
        alice = curator.as_analyst("alice")
        rows = "SELECT ward, sex, age FROM visits"
        assert alice.plan_session(rows, **wanted).reused == ("before",)
        with alice.session(rows, **wanted) as session:
            told = session.answer({"ward": "A"}).count
            assert session.state.reused == ("before",)
        curator.as_analyst("alice").synthesize(rows, rho=0.06, workload=2, name="later")
        with alice.session(rows, **wanted) as again:
            assert (again.answer({"ward": "A"}).count, again.state.reused, again.replayed) == (told, ("before",), True)
        for given in ({"mode": "textbook"}, {"release": "before"}):
            with pytest.raises(BadInput):
                alice.session(rows, **wanted, **given)
