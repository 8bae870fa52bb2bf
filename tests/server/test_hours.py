"""So many seconds of each minute: by the time until answers leave, and never by how long they were read."""

import pytest

from discreet.errors import TooMany
from discreet.server import hours as rooms
from discreet.server.hours import Hours


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def hours(now):
    return Hours(unit=0.05, longest=60, a_minute=60, now=lambda: now[0])


def ask(hours, now, seconds, *, analyst="alice"):
    """A question that is expected to take so long, and leaves when its class ends."""
    with hours.visit(analyst) as visit:
        departure = visit.leaving(seconds)
        now[0] = departure.next()
    return departure.length


def test_who_asks_one_question_after_the_other_is_never_refused(hours, now):
    for _ in range(200):
        ask(hours, now, 0.3)
    for _ in range(3):
        ask(hours, now, 40)


def test_long_questions_at_the_same_time_use_up_a_minute_and_then_the_clock_refuses(hours, now):
    with hours.visit("alice") as first:
        assert first.leaving(40).length == pytest.approx(51.2)
        with hours.visit("alice") as second:
            with pytest.raises(TooMany, match="60 seconds of a minute") as refusal:
                second.leaving(40)
            assert "Wait 44 seconds" in refusal.value.next_step
            assert second.leaving(5).length == pytest.approx(6.4)
        ask(hours, now, 40, analyst="bob")


def test_what_leaves_a_doubling_later_is_counted_in_full(hours, now):
    with hours.visit("alice") as visit:
        departure = visit.leaving(40)
        now[0] += 60
        now[0] = departure.next()
        assert now[0] == pytest.approx(1102.4)
    with pytest.raises(TooMany), hours.visit("alice") as visit:
        visit.leaving(40)
    with hours.visit("alice") as visit:
        visit.leaving(3)


def test_who_owes_time_is_refused_before_anything_is_planned(hours, now):
    hours.settle("alice", 100)
    with pytest.raises(TooMany, match="seconds of a minute"), hours.visit("alice"):
        pass
    now[0] += 41
    ask(hours, now, 0.1)


def test_what_is_replayed_or_refused_costs_the_time_that_it_took(hours, now):
    for _ in range(100):
        with hours.visit("alice") as visit:
            visit.leaving(40)
            now[0] += 0.01
    with hours.visit("alice"):
        now[0] += 50  # planning
    with hours.visit("alice") as visit:
        visit.leaving(5)


def test_the_class_counts_what_planning_took(hours, now):
    with hours.visit("alice") as visit:
        now[0] += 0.3
        assert visit.leaving(0.05).length == pytest.approx(0.4)


def test_without_a_unit_nothing_waits_and_the_time_that_it_took_is_counted(now):
    hours = Hours(unit=0, longest=60, a_minute=60, now=lambda: now[0])
    with hours.visit("alice") as visit:
        assert visit.leaving(1) is None
    hours.settle("alice", 100)
    with pytest.raises(TooMany), hours.visit("alice"):
        pass


def test_analysts_with_all_their_seconds_are_forgotten(hours, now, monkeypatch):
    monkeypatch.setattr(rooms, "_MOST_REMEMBERED", 20)
    for number in range(100):
        ask(hours, now, 0.01, analyst=str(number))
        now[0] += 1
    assert len(hours._buckets) <= 21


def test_who_must_wait_for_a_place_leaves_in_a_class_that_has_room_for_the_wait(hours, now):
    """By the seconds that the questions before it are expected to take, whenever their readings really end."""
    with hours.visit("alice") as visit:
        first, second = (visit.leaving(seconds).in_turn() for seconds in (3, 5))
        assert (first.length, second.length) == (pytest.approx(3.2), pytest.approx(6.4))
        third = visit.leaving(0.02)
        assert third.length == 0.05
        assert third.in_turn().length == pytest.approx(3.2)  # after the first, as an analyst has two places
        with hours.visit("bob") as other:
            assert other.leaving(0.02).in_turn().length == 0.05
    now[0] += 10
    with hours.visit("alice") as visit:
        assert visit.leaving(0.02).in_turn().length == 0.05


def test_when_all_places_are_taken_everybody_s_class_has_room_for_that(hours, now):
    for number in range(4):
        with hours.visit(f"a{number}") as visit:
            for _ in range(2):
                visit.leaving(0.8).in_turn()
    with hours.visit("bob") as visit:
        assert visit.leaving(0.02).in_turn().length == pytest.approx(1.6)


def test_long_questions_wait_for_each_other_and_short_ones_do_not_wait_for_them(hours, now):
    for number in range(3):
        with hours.visit(f"a{number}") as visit:
            for _ in range(2):
                visit.leaving(20).in_turn()
    with hours.visit("bob") as visit:
        assert visit.leaving(0.02).in_turn().length == 0.05
        assert visit.leaving(20).in_turn().length == pytest.approx(51.2)


def test_what_waits_for_an_analyst_s_own_places_keeps_no_other_from_theirs(hours, now):
    with hours.visit("alice") as visit:
        lengths = [visit.leaving(6).in_turn().length for _ in range(8)]
    assert lengths == pytest.approx([6.4, 6.4, 12.8, 12.8, 25.6, 25.6, 25.6, 25.6])
    with hours.visit("bob") as visit:
        assert visit.leaving(0.02).in_turn().length == 0.05


def test_turns_that_are_over_are_forgotten(hours, now):
    for number in range(20):
        now[0] += 1
        hours.departure(f"a{number}", now[0], 0.02).in_turn()
    assert len(hours._turns._readings) == 1
