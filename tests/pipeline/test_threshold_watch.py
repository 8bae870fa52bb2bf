"""A watched count: paid once, one bit a data version, an end; and the law of AboveThreshold, no other."""

import contextlib
import json
import threading
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from discreet.accounting import open_filter
from discreet.api.opening import refresh
from discreet.api.requests.watch import WatchRequest
from discreet.catalog import parse_catalog
from discreet.core.loss import Neighbours
from discreet.engines.exact_rows import ExactRows
from discreet.errors import AccountFrozen, BadInput, BudgetExceeded, Cancelled, DiscreetError, EngineFailure, NotAllowed
from discreet.ledger import verify
from discreet.ledger.charges.release_json import mechanism_from_json
from discreet.mechanisms import AboveThreshold
from discreet.pipeline.call import Call
from discreet.pipeline.pipeline import Resources
from discreet.pipeline.threshold_watch import watch_run
from discreet.pipeline.time_padding import ReturnSchedule
from discreet.samples import clinic, write_clinic
from tests.ledger.asking import forge, in_child, output_of, stored_answers
from tests.support.checks import ratio_within
from tests.support.inside import planned
from tests.support.laws import above_threshold_law
from tests.support.opening import open_curator
from tests.support.sources import SeededBits, UntouchableBits

COUNT = "SELECT COUNT(*) FROM visits"
FAR = 100_000
"""So far from any count that noise never reaches it: the chance is below e**-1000."""
NEAR, COIN = 1500, 0.01
"""At this threshold and epsilon a bit is as good as a coin."""


@pytest.fixture
def config(tmp_path):
    return write_clinic(tmp_path, patients=200, visits=1500)


@pytest.fixture
def curator(config):
    with open_curator(config) as made:
        yield made


def watch(curator, *, threshold=FAR, epsilon=0.5, analyst=None, call=None, **details):
    api = curator.as_analyst(analyst) if call is None else curator.with_call(call)
    return api.watch(COUNT, threshold=threshold, epsilon=epsilon, **details)


def bits_in(ledger):
    said = ("question", "version", "above", "failed")
    bodies = [entry.body for entry in ledger.history() if entry.kind == "watch"]
    return [{name: body[name] for name in said if name in body} for body in bodies]


def hidden(curator, watched):
    """The noisy threshold, as only a test may see it."""
    return json.loads(stored_answers(curator.ledger)[watched._key])["threshold"]


class _Crash(BaseException):
    """As if the process had died."""


def crash_at(ledger, step):
    def on_step(passed):
        if passed == step:
            raise _Crash

    ledger._step = on_step


def no_reading(*_, **__):
    raise AssertionError("data was read")


# What it costs


def test_a_watch_is_paid_once_in_full_before_anything_is_read(config, monkeypatch):
    with open_curator(config) as curator:
        monkeypatch.setattr(curator._engine, "run", no_reading)
        watch(curator, analyst="alice")
        assert curator.ledger.account().spent.epsilon == curator.ledger.account("alice").spent.epsilon == 0.5
    for version in (1, 2, 3):
        with open_curator(config) as curator:
            assert curator.version == version
            assert watch(curator, analyst="alice").evaluate() is False
            assert curator.ledger.account().spent.epsilon == curator.ledger.account("alice").spent.epsilon == 0.5
            assert [bit["version"] for bit in bits_in(curator.ledger)] == list(range(1, version + 1))
            assert verify(curator.ledger).sound
        refresh(config, anyway=True)


def test_the_charge_is_the_mechanisms_own_pure_epsilon_and_rho(curator):
    watch(curator)
    mechanism = mechanism_from_json(curator.ledger.history()[-2].body["releases"][0])
    assert mechanism == AboveThreshold(epsilon=Fraction(1, 2), sensitivity=20, threshold=FAR)
    (past,) = curator.history()
    assert (past.epsilon, past.rho) == (0.5, mechanism.rho)
    assert mechanism.rho <= 0.5**2 / 2


def test_another_threshold_epsilon_run_or_bound_is_another_watch_and_paid_anew(config):
    with open_curator(config) as curator:
        first = watch(curator)
        others = [watch(curator, threshold=FAR + 1), watch(curator, epsilon=0.25), watch(curator, run=2)]
        assert len({one._key for one in [first, *others]}) == 4
        assert watch(curator)._key == first._key
        assert sum(past.epsilon for past in curator.history() if not past.replayed) == 1.75
    config.write_text(config.read_text().replace("max_rows = 20", "max_rows = 10"))
    refresh(config, anyway=True)
    with open_curator(config) as curator:
        changed = watch(curator)
        assert changed._key != first._key
        assert changed.answers == {}
        assert sum(past.epsilon for past in curator.history() if not past.replayed) == 2.25


# Bits


def test_the_same_version_replays_its_bit_without_reading_and_after_reopening(config):
    with open_curator(config) as curator:
        watches = [watch(curator, threshold=NEAR, epsilon=COIN, run=run) for run in range(1, 21)]
        first = [one.evaluate() for one in watches]
        curator._engine.run = no_reading
        assert [one.evaluate() for one in watches] == first
    with open_curator(config) as curator:
        curator._engine.run = no_reading
        assert [watch(curator, threshold=NEAR, epsilon=COIN, run=run).evaluate() for run in range(1, 21)] == first
        assert len(bits_in(curator.ledger)) == 20


def test_it_ends_with_the_first_above_and_keeps_what_it_said(config):
    for version in (1, 2):
        with open_curator(config) as curator:
            assert watch(curator, threshold=5000).evaluate() is False
        if version == 1:
            refresh(config, anyway=True)
    pq.write_table(clinic(patients=2000, visits=20_000, seed=1)["visits"], config.parent / "visits.parquet")
    refresh(config, anyway=True)
    with open_curator(config) as curator:
        assert watch(curator, threshold=5000).evaluate() is True
        assert watch(curator, threshold=5000).evaluate() is True
    refresh(config, anyway=True)
    with open_curator(config) as curator:
        ended = watch(curator, threshold=5000)
        assert ended.ended == "above"
        assert ended.answers == {1: False, 2: False, 3: True}
        curator._engine.run = no_reading
        with pytest.raises(NotAllowed, match=r"was above the threshold once.*charged again"):
            ended.evaluate()
        assert len(bits_in(curator.ledger)) == 3
        assert verify(curator.ledger).sound


def test_who_joins_a_watch_pays_before_hearing_how_it_went(curator):
    watched, refusals = watch(curator, threshold=-FAR, epsilon=4), []
    curator.ledger.open_account(open_filter(1, 0), analyst="alice")
    for _ in range(2):
        with pytest.raises(BudgetExceeded) as refusal:
            watch(curator, threshold=-FAR, epsilon=4, analyst="alice")
        refusals.append(str(refusal.value))
        assert watched.evaluate() is True
    assert refusals[0] == refusals[1]
    assert curator.ledger.account("alice").spent.epsilon == 0
    curator.ledger.open_account(open_filter(5, 0), analyst="alice")
    joined = watch(curator, threshold=-FAR, epsilon=4, analyst="alice")
    assert (joined.ended, joined.evaluate()) == ("above", True)
    assert curator.ledger.account("alice").spent.epsilon == 4


def test_an_above_that_was_stored_first_stops_an_evaluation_under_way(curator):
    watched = watch(curator)
    honest = curator._engine.run

    def overtaken(query, **details):
        curator.ledger.refresh()
        curator.ledger.evaluated(watched._key, version=2, above=True, analyst=None)
        return honest(query, **details)

    curator._engine.run = overtaken
    with pytest.raises(NotAllowed, match="was above the threshold once"):
        watched.evaluate()
    assert watched.answers == {2: True}


@pytest.mark.parametrize("step", ["watch: begun", "watch: written", "watch: committed"])
def test_a_crash_leads_to_a_fresh_evaluation_only_if_nothing_was_stored(curator, monkeypatch, step):
    watched = watch(curator, threshold=NEAR, epsilon=COIN)
    honest = curator.ledger._step
    crash_at(curator.ledger, step)
    with pytest.raises(_Crash):
        watched.evaluate()
    curator.ledger._step = honest
    stored = [bit["above"] for bit in bits_in(curator.ledger)]
    assert len(stored) == (step == "watch: committed")
    if stored:
        monkeypatch.setattr(curator._engine, "run", no_reading)
    said = watched.evaluate()
    assert [bit["above"] for bit in bits_in(curator.ledger)] == [said] == (stored or [said])
    assert verify(curator.ledger).sound


def test_threads_that_evaluate_one_version_at_once_are_told_one_bit(curator):
    for run in range(1, 9):
        gate, said = threading.Barrier(6), []

        def client(run=run, gate=gate, said=said):
            watched = watch(curator, threshold=NEAR, epsilon=COIN, run=run)
            gate.wait()
            said.append(watched.evaluate())

        threads = [threading.Thread(target=client) for _ in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert len(said) == 6
        assert len(set(said)) == 1
    assert len(bits_in(curator.ledger)) == 8
    assert verify(curator.ledger).sound


def test_processes_that_evaluate_one_version_at_once_are_told_one_bit(config):
    open_curator(config).close()

    def work(write):
        with open_curator(config) as curator:
            for run in range(1, 13):
                write(b"1" if watch(curator, threshold=NEAR, epsilon=COIN, run=run).evaluate() else b"0")

    said = [output_of(*child) for child in [in_child(work) for _ in range(2)]]
    assert len(said[0]) == 12
    assert said[0] == said[1]
    with open_curator(config) as curator:
        assert len(bits_in(curator.ledger)) == 12
        assert curator.ledger.account().spent.epsilon == pytest.approx(12 * COIN)
        assert verify(curator.ledger).sound


# Failures


def test_a_failure_ends_the_watch_and_freezes_the_analyst(curator, monkeypatch, caplog):
    watched = watch(curator, analyst="alice")

    def broken(*_, **__):
        raise RuntimeError("secret-diagnosis")

    with monkeypatch.context() as patched:
        patched.setattr(curator._engine, "run", broken)
        with pytest.raises(EngineFailure) as failure:
            watched.evaluate()
    assert "secret" not in str(failure.value) + caplog.text
    assert bits_in(curator.ledger) == [{"question": watched._key, "version": 1, "failed": True}]
    with pytest.raises(AccountFrozen):
        watched.evaluate()
    curator.ledger.freeze("alice", frozen=False)
    with pytest.raises(NotAllowed, match="an evaluation failed"):
        watched.evaluate()
    assert watched.ended == "failed"
    assert curator.ledger.account().spent.epsilon == 0.5
    assert verify(curator.ledger).sound


def test_nothing_is_replayed_to_a_frozen_analyst(curator):
    watched = watch(curator, analyst="alice")
    watched.evaluate()
    curator.ledger.freeze("alice")
    for forbidden in (watched.evaluate, lambda: watched.answers, lambda: watch(curator, analyst="alice")):
        with pytest.raises(AccountFrozen):
            forbidden()


@pytest.mark.parametrize("damage", [None, b'{"salt":"","threshold":"0"}'])
def test_a_threshold_that_is_lost_or_another_is_neither_used_nor_drawn_again(curator, damage):
    watched = watch(curator)
    with curator.ledger._store.transaction() as t:
        t.run("UPDATE ledger_questions SET answer = ?", damage)
    with pytest.raises(NotAllowed, match="noisy threshold is no longer in the ledger"):
        watched.evaluate()
    with pytest.raises(NotAllowed, match="noisy threshold is no longer in the ledger"):
        watch(curator).evaluate()
    assert stored_answers(curator.ledger)[watched._key] == damage
    assert not verify(curator.ledger).sound


def test_a_crash_before_the_threshold_is_stored_costs_once_and_the_watch_begins_all_the_same(curator):
    honest = curator.ledger._step
    crash_at(curator.ledger, "finish: begun")
    with pytest.raises(_Crash):
        watch(curator)
    curator.ledger._step = honest
    assert curator.ledger.account().spent.epsilon == 0.5
    assert watch(curator).evaluate() is False
    assert curator.ledger.account().spent.epsilon == 0.5


# Time


@pytest.mark.parametrize("fails", [False, True])
def test_a_look_leaves_at_the_end_of_a_class_that_was_chosen_before_it_was_read(curator, monkeypatch, fails):
    told, honest = [], curator._engine.run

    def run(*given, **details):
        assert told == [watched._run.evaluation_seconds]
        if fails:
            raise RuntimeError
        return honest(*given, **details)

    def leaving(seconds):
        told.append(seconds)
        return ReturnSchedule(begun, 0.4, 0.1, time.monotonic)

    watch(curator, analyst="alice")
    monkeypatch.setattr(curator._engine, "run", run)
    begun = time.monotonic()
    request = WatchRequest(COUNT, threshold=FAR, epsilon=0.5)
    watched = curator.with_call(Call(analyst="alice", schedule_return=leaving)).recall(request)
    with pytest.raises(EngineFailure) if fails else contextlib.nullcontext():
        watched.evaluate()
    assert time.monotonic() - begun >= 0.4
    assert len(bits_in(curator.ledger)) == 1


def test_a_look_that_is_taken_back_before_it_is_read_reads_nothing_and_the_watch_goes_on(curator):
    call = Call()
    watched = watch(curator, call=call)
    call.cancelled.set()
    with pytest.raises(Cancelled):
        watched.evaluate()
    assert (watched.answers, watched.ended) == ({}, None)


# The noisy threshold


def test_the_noisy_threshold_is_drawn_once_and_survives_reopening(config):
    with open_curator(config) as curator:
        drawn = hidden(curator, watch(curator))
    for _ in range(3):
        refresh(config, anyway=True)
        with open_curator(config) as curator:
            watched = watch(curator)
            watched.evaluate()
            assert hidden(curator, watched) == drawn


def test_the_noisy_threshold_is_in_nothing_that_can_be_seen(curator):
    watched = watch(curator, threshold=10**12, epsilon=1e-9, analyst="alice")  # wide, so that its digits are its own
    watched.evaluate()
    secret = hidden(curator, watched)
    known = curator.ledger.watch_state(watched._key, analyst=None)
    seen = [watched, known, watched.answers, curator.history(), curator.card(), curator.budget(), curator.catalog()]
    seen += [watched._run, curator.ledger.history()]
    assert not [one for one in seen if secret in repr(one)]


def test_the_hash_in_the_chain_is_salted_so_that_thresholds_cannot_be_tried(curator):
    watches = [watch(curator, run=run) for run in (1, 2)]
    stored = [json.loads(stored_answers(curator.ledger)[one._key]) for one in watches]
    assert all(len(bytes.fromhex(one["salt"])) == 32 for one in stored)
    assert stored[0]["salt"] != stored[1]["salt"]


# The law


class _Counts:
    """An engine that has one count."""

    def __init__(self, count):
        self.count = count

    def one_limit(self, **_):
        return contextlib.nullcontext()

    def run(self, query, **_):
        return [ExactRows((), (np.array([self.count]),))]


def test_beginning_and_evaluating_is_above_threshold_bit_for_bit(curator):
    plan, paths = planned(curator, COUNT, epsilon=1), set()
    wanted = watch_run(plan, threshold=3, neighbours=Neighbours.ADD_REMOVE, run=1, label=COUNT)
    for seed in range(200):
        counts = [(seed * 7 + version * 11) % 60 - 30 for version in range(6)]
        bits, twin = SeededBits(seed), SeededBits(seed)
        twin.words(4, 64)  # the salt
        stored, path = wanted.compute(Resources(engine=None, bits=bits, stopped=None, journal=None)), []
        while len(path) < len(counts) and True not in path:
            resources = Resources(engine=_Counts(counts[len(path)]), bits=bits, stopped=None, journal=None)
            path.append(json.loads(wanted.check(stored).compute(resources)))
        assert path == wanted.mechanism.release(counts, twin)
        paths.add(tuple(path))
    assert len(paths) == 7


def test_what_was_charged_keeps_epsilon_over_sequences_of_versions(curator):
    curator.watch("SELECT COUNT(DISTINCT patient_id) FROM visits", threshold=2, epsilon=2)
    charged = mechanism_from_json(curator.ledger.history()[-2].body["releases"][0])
    assert charged == AboveThreshold(epsilon=2, sensitivity=1, threshold=2)
    without = [0, 1, 3, 2, 2, 0]
    for moved in ([1] * 6, [1, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1]):
        person = [count + more for count, more in zip(without, moved, strict=True)]
        laws = [
            above_threshold_law(
                counts,
                threshold=charged.threshold,
                threshold_scale=charged.threshold_scale,
                query_scale=charged.query_scale,
                positives=1,
            )
            for counts in (without, person)
        ]
        assert len(laws[0]) == 7
        ratio_within(*laws, 2.0)


def test_fresh_noise_is_drawn_for_each_evaluation_and_none_to_replay(curator):
    watched = watch(curator)
    watched._pipeline._bits = SeededBits("fresh")
    watched.evaluate()
    watched._pipeline._bits = UntouchableBits()
    assert watched.evaluate() is False
    curator.ledger.refresh()
    watched._version = 2
    with pytest.raises(EngineFailure):
        watched.evaluate()


# What can be watched

FRAMES = """
neighbours = "{neighbours}"
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 100
[tables.t]
privacy_unit = "id"
max_rows = 3
columns.id = {{ type = "integer" }}
columns.x = {{ type = "real", lower = -5, upper = 10, granularity = 0.5 }}
"""


@pytest.mark.parametrize(
    ("sql", "steps", "add_remove", "replace_one"),
    [
        ("SELECT COUNT(*) FROM t", 7, 3, 3),
        ("SELECT COUNT(x) FROM t WHERE x > 0", 7, 3, 3),
        ("SELECT COUNT(DISTINCT id) FROM t", 7, 1, 1),
        ("SELECT SUM(x) FROM t", 14, 60, 90),
    ],
)
def test_the_sensitivity_is_the_relations_and_the_threshold_in_whole_steps(sql, steps, add_remove, replace_one):
    frames = {"t": pd.DataFrame({"id": [1, 1, 2], "x": [1.0, 2.0, 3.0]})}
    for neighbours, sensitivity in (("add-remove", add_remove), ("replace-one", replace_one)):
        catalog = parse_catalog(FRAMES.format(neighbours=neighbours))
        with open_curator(catalog=catalog, frames=frames) as curator:
            for threshold in (7, 6.75):  # between two steps nothing lies
                watched = curator.watch(sql, threshold=threshold, epsilon=1)
                assert watched._run.mechanism.sensitivity == sensitivity
                assert watched._run.mechanism.threshold == steps
            assert curator.watch(sql, threshold=-(10**6), epsilon=1).evaluate() is True


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT COUNT(*), SUM(cost) FROM visits",
        "SELECT COUNT(*) AS a, COUNT(*) AS b FROM visits",
        "SELECT 2 * COUNT(*) FROM visits",
        "SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) > 5",
        "SELECT AVG(cost) FROM visits",
        "SELECT MEDIAN(cost) FROM visits",
        "SELECT COUNT(DISTINCT ward) FROM visits",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM patients",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism = 'gaussian') COUNT(*) FROM visits",
    ],
)
def test_anything_but_one_plain_number_is_refused_and_costs_nothing(curator, sql):
    with pytest.raises(NotAllowed):
        curator.watch(sql, threshold=5, epsilon=0.5)
    assert curator.ledger.account().spent.epsilon == 0


@pytest.mark.parametrize(
    "wrong", [{"threshold": "5"}, {"threshold": float("nan")}, {"threshold": 2**200}, {"run": 0}, {"epsilon": None}]
)
def test_an_argument_that_cannot_be_used_is_refused_by_name(curator, wrong):
    with pytest.raises(BadInput):
        curator.watch(COUNT, **{"threshold": 5, "epsilon": 0.5, **wrong})
    assert curator.ledger.account().spent.epsilon == 0


# The books


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"version": 1, "above": False}, "twice on one data version"),
        ({"version": 2, "above": False}, "a data version that does not exist"),
        ({"version": 1, "above": False, "question": "0" * 64}, "has no threshold"),
    ],
)
def test_verification_finds_an_evaluation_that_cannot_have_been(curator, body, problem):
    watched = watch(curator)
    watched.evaluate()
    assert verify(curator.ledger).sound
    forge(curator.ledger, "watch", {"question": watched._key, **body})
    assert any(problem in found for found in verify(curator.ledger).problems)


def test_verification_finds_an_evaluation_after_the_end(curator):
    watched = watch(curator, threshold=-FAR)
    assert watched.evaluate() is True
    curator.ledger.refresh()
    forge(curator.ledger, "watch", {"question": watched._key, "version": 2, "above": False})
    assert any("has ended" in found for found in verify(curator.ledger).problems)


def test_a_changed_bit_is_noticed_before_it_is_replayed(curator):
    watched = watch(curator)
    watched.evaluate()
    with curator.ledger._store.transaction() as t:
        t.run("UPDATE ledger_entries SET body = REPLACE(body, 'false', 'true') WHERE kind = 'watch'")
    with pytest.raises(DiscreetError, match="was changed"):
        watched.evaluate()
