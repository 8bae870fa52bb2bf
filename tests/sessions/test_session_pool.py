"""The pool of sessions: the limits hold however many are opened at once, and a session is opened only once."""

import itertools
import threading

import pytest

from discreet.errors import BudgetExceeded, TooMany
from discreet.sessions import session_hypotheses
from tests.synthetic.memory import domain_of
from tests.synthetic.test_curator import ROWS, a_curator


def all_at_once(*calls):
    """The result or the refusal of each call, all made at the same time."""
    said, begin = [], threading.Barrier(len(calls))

    def run(call):
        begin.wait()
        try:
            said.append(call())
        except TooMany as refusal:
            said.append(refusal)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == len(calls)
    return said


def test_the_limits_hold_however_many_sessions_are_opened_at_once():
    with a_curator() as curator:
        curator.context.sessions.limit(each=2, most=3)

        def opening(name, analyst):
            return lambda: curator.as_analyst(analyst).session(ROWS, rho=0.01, queries=5, name=name, workload=1)

        said = all_at_once(*(opening(str(number), analyst) for number in range(4) for analyst in ("alice", None)))
        opened = [session for session in said if not isinstance(session, TooMany) and session.is_open]
        assert 1 <= len(opened) <= 3
        assert all(sum(session.analyst == analyst for session in opened) <= 2 for analyst in ("alice", None))
        assert opening("again", "alice")().is_open  # refused calls released their slots


def test_a_session_that_is_opened_many_times_at_once_is_opened_once():
    with a_curator() as curator:
        said = all_at_once(*[lambda: curator.session(ROWS, rho=0.01, queries=5, workload=1)] * 6)
        assert len(set(map(id, said))) == 1
        assert said[0].is_open


def test_a_slot_is_released_if_opening_is_refused():
    with a_curator() as curator:
        curator.context.sessions.limit(each=1, most=1)
        with pytest.raises(BudgetExceeded):
            curator.session(ROWS, rho=1000, queries=5, workload=1)
        assert curator.session(ROWS, rho=0.01, queries=5, workload=1).is_open


def test_weights_cache_no_more_cells_than_the_limit(monkeypatch):
    monkeypatch.setattr(session_hypotheses, "_MOST_CACHED", 100)
    names = "abcdefg"
    weights = session_hypotheses.Weights(domain_of(dict.fromkeys(names, 2)), 128.0, 0.1)
    for columns in itertools.combinations(names, 5):
        query = session_hypotheses.Conjunction(columns, (((0, 0),),) * 5)
        assert weights.expected(query) == 4
        cached = weights._tables._tables
        assert sum(cached.get(columns).size for columns in cached) <= 100
