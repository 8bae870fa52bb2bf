"""So many seconds of each minute: by the time until answers leave, and never by how long they were read."""

import pytest

from discreet.concurrency import token_bucket
from discreet.errors import TooLarge, TooMany
from discreet.pipeline.time_padding import NO_PADDING
from discreet.planning.effort import CHARGE
from discreet.server.jobs.time_budget import TimeBudget


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def time_budget(now):
    return TimeBudget(unit=0.05, longest=60, seconds_per_minute=60, now=lambda: now[0])


def ask(time_budget, now, seconds, *, analyst="alice"):
    """A question that is expected to take so long, and leaves when its class ends."""
    with time_budget.visit(analyst) as visit:
        schedule = visit.schedule_return(seconds)
        now[0] = schedule.return_time(now[0])
    return schedule.bucket


def test_who_asks_one_question_after_the_other_is_never_refused(time_budget, now):
    for _ in range(200):
        ask(time_budget, now, 0.3)
    for _ in range(3):
        ask(time_budget, now, 40)


def test_long_questions_at_the_same_time_use_up_a_minute_and_then_the_clock_refuses(time_budget, now):
    with time_budget.visit("alice") as first:
        assert first.schedule_return(40).bucket == pytest.approx(51.2)
        with time_budget.visit("alice") as second:
            with pytest.raises(TooMany, match="60 seconds of a minute") as refusal:
                second.schedule_return(40)
            assert "Wait 44 seconds" in refusal.value.next_step
            assert second.schedule_return(5).bucket == pytest.approx(6.4)
        ask(time_budget, now, 40, analyst="bob")


def test_what_leaves_a_doubling_later_is_counted_in_full(time_budget, now):
    with time_budget.visit("alice") as visit:
        schedule = visit.schedule_return(40)
        now[0] += 60
        now[0] = schedule.return_time(now[0])
        assert now[0] == pytest.approx(1102.4)
    with pytest.raises(TooMany), time_budget.visit("alice") as visit:
        visit.schedule_return(40)
    with time_budget.visit("alice") as visit:
        visit.schedule_return(3)


def test_who_owes_time_is_refused_before_anything_is_planned(time_budget, now):
    time_budget._seconds.take("alice", 100)
    with pytest.raises(TooMany, match="seconds of a minute"), time_budget.visit("alice"):
        pass
    now[0] += 41
    ask(time_budget, now, 0.1)


def test_what_is_replayed_or_refused_costs_the_time_that_it_took(time_budget, now):
    for _ in range(100):
        with time_budget.visit("alice") as visit:
            visit.schedule_return(40)
            now[0] += 0.01
    with time_budget.visit("alice"):
        now[0] += 50  # planning
    with time_budget.visit("alice") as visit:
        visit.schedule_return(5)


def test_the_class_counts_what_planning_took(time_budget, now):
    with time_budget.visit("alice") as visit:
        now[0] += 0.3
        assert visit.schedule_return(0.05).bucket == pytest.approx(0.4)


def test_without_a_unit_nothing_waits_and_the_time_that_it_took_is_counted(now):
    time_budget = TimeBudget(unit=0, longest=60, seconds_per_minute=60, now=lambda: now[0])
    with time_budget.visit("alice") as visit:
        assert visit.schedule_return(1) is NO_PADDING
    time_budget._seconds.take("alice", 100)
    with pytest.raises(TooMany), time_budget.visit("alice"):
        pass


def test_analysts_with_all_their_seconds_are_forgotten(time_budget, now, monkeypatch):
    monkeypatch.setattr(token_bucket, "_MOST_REMEMBERED", 20)
    for number in range(100):
        ask(time_budget, now, 0.01, analyst=str(number))
        now[0] += 1
    assert len(time_budget._seconds._buckets) <= 21


def test_a_place_is_kept_for_what_a_reading_is_expected_to_take_and_nobody_keeps_one_beyond_the_seconds_of_one(
    time_budget,
):
    for seconds, kept in [(0.02, 0.0125), (1 + CHARGE, 1), (40 + CHARGE, 40)]:
        assert time_budget.schedule(1000.0, seconds).expected_reading == pytest.approx(kept)
    with pytest.raises(TooLarge, match="122,895 seconds; the limit is 60"), time_budget.visit("alice") as visit:
        visit.schedule_return(122_895)
    assert time_budget._seconds.remaining("alice") == 60


def test_who_waits_for_the_places_of_others_does_not_pay_for_the_wait(time_budget, now):
    with time_budget.visit("alice") as visit:
        visit.schedule_return(5)
        now[0] += 100
        visit.begin()
        now[0] += 1
    time_budget.take("alice", 60)


def test_who_reads_for_longer_than_the_class_pays_for_that_and_not_for_the_wait(time_budget, now):
    with time_budget.visit("alice") as visit:
        visit.schedule_return(5)
        now[0] += 100
        visit.begin()
        now[0] += 20
    with pytest.raises(TooMany):
        time_budget.take("alice", 47)
    time_budget.take("alice", 46)
