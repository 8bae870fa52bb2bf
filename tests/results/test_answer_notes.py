"""Words of warning: for a price that hides hardly anybody, and where ± is wider than the number itself."""

import pytest

from discreet.algebra.released_expressions import Estimate
from discreet.core.loss import Loss
from discreet.results import answer_notes
from discreet.results.answer import Answer, stored_form
from tests.support.plans import (
    MEDIAN_DAY,
    KeyOf,
    column,
    measured,
    noisy,
    number,
    plan_of,
    query,
    released,
    shown,
    texts,
)

WARDS = ("ER", "ICU", "Ward")


def answer(*counts, epsilon=0.1):
    """Counts of the wards; noise at epsilon 0.1 is within ± 30 in 95 of 100 answers."""
    grouped = query([("s", WARDS)])
    return shown(
        plan_of(grouped, released(KeyOf(0), measured()), epsilon=epsilon), [noisy([texts(*WARDS)], list(counts))]
    )


def test_an_answer_that_is_wider_than_itself_says_so_and_in_how_many_rows():
    width = answer(1000, 1000, 1000).half_widths(0.95)[0]["c1"]
    assert answer(1000, -1000, int(width) + 1).notes == ()
    (note,) = answer(1000, int(width) - 1, 0).notes
    assert note.startswith("c1: ± is wider than the number itself in 2 of 3 rows")
    (alone,) = shown(plan_of(query(), released(measured()), epsilon=0.1), [noisy([], [-1])]).notes
    assert alone.startswith("c0: ± is wider than the number itself, which")


def test_numbers_that_noise_does_not_touch_and_dates_are_not_warned_about():
    days = query(measures=[MEDIAN_DAY])
    median = plan_of(days, released(Estimate("quantile", (0,)), number(0)))
    answered = shown(median, [noisy([], [[180, 1, 365]])])
    assert answered.half_widths(0.95)[0]["c0"] > 100
    assert answered.notes == ()


def test_a_number_that_could_be_anything_is_warned_about_and_a_null_is_not():
    could_be_anything, null = column("/", number(1), measured()), column("/", measured(), number(0))
    plan = plan_of(query(), released(could_be_anything, null))
    (note,) = shown(plan, [noisy([], [2])]).notes
    assert note.startswith("c0: ")


@pytest.mark.parametrize(("epsilon", "warned"), [(0.5, False), (20, False), (20.001, True), (1000, True)])
def test_a_price_above_twenty_is_warned_about_before_and_after(epsilon, warned):
    assert bool(list(answer_notes.of_price(Loss(epsilon)))) == warned
    plan = plan_of(query(), released(measured()))
    notes = Answer(plan, stored_form([[noisy([], [10**6])]]), loss=Loss(epsilon), replayed=False, receipt="").notes
    assert any("protects people very little" in note for note in notes) == warned


def test_a_noisy_number_beyond_64_bits_keeps_its_interval():
    plan = plan_of(query(), released(column("*", measured(), number(10**20))))
    wide = shown(plan, [noisy([], [1000])])
    low, high = wide.intervals(0.95)[0]["c0"]
    assert low < 1000 * 10**20 < high
