"""Exact tables behind a budget: how far one person can move what is drawn, what is stored before it is seen, what is refused."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.loss import Neighbours
from discreet.errors import (
    BadData,
    BadInput,
    BudgetExceeded,
    DiscreetError,
    OutOfTime,
    RunChanged,
    TooLarge,
    UnknownName,
)
from discreet.measurement.domain import domain_from_json, domain_to_json
from discreet.measurement.measurer import GRID, Cells, Conjunction, on_grid
from discreet.measurement.replay import Run
from discreet.measurement.run_budget import count_noise, watching
from discreet.measurement.transcript import Step, Transcript, measurements_in
from discreet.mechanisms import AboveThreshold, Adaptive, Exponential, Gaussian, Laplace, PureAdaptive
from discreet.mechanisms.adaptive_budget import Meter
from tests.mutants import measurers
from tests.support.checks import samples_follow
from tests.support.laws import exponential_law, gaussian_law
from tests.support.memory_tables import MemoryJournal, domain_of, measuring, tables_of
from tests.support.sources import SeededBits, UntouchableBits

RELATIONS = list(Neighbours)
SIZES = (2, 3)
SETS = [(), (0,), (1,), (0, 1)]
CELLS = list(itertools.product(*map(range, SIZES)))


def people(most):
    """Every way in which one person can have at most so many rows."""
    return [list(rows) for count in range(most + 1) for rows in itertools.combinations_with_replacement(CELLS, count)]


def moves(most, relation):
    """What one person can do to the histogram: to come, or to be replaced by another."""
    tables = [tables_of(rows, SIZES).table((0, 1)) for rows in people(most)]
    if relation is Neighbours.ADD_REMOVE:
        return tables
    return [one - other for one, other in itertools.combinations(tables, 2)]


def marginal(histogram, columns):
    return histogram.sum(axis=tuple(at for at in range(len(SIZES)) if at not in columns))


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_over_all_neighbours_a_table_moves_by_what_the_domain_says_and_no_further(most, relation):
    domain = domain_of(*SIZES, rows_per_person=most, neighbours=relation)
    for columns in SETS:
        deltas = [marginal(move, columns) for move in moves(most, relation)]
        furthest = max(int(np.abs(delta).sum()) for delta in deltas)
        longest = max(math.sqrt(float((delta**2).sum())) for delta in deltas)
        assert furthest <= domain.l1
        assert longest <= domain.l2
        if columns:
            assert furthest == domain.l1
            assert longest >= float(domain.l2) * (1 - 1e-9)


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_over_all_neighbours_a_score_moves_by_what_the_choice_was_made_for_and_no_further(most, relation):
    domain, base = domain_of(*SIZES, rows_per_person=most, neighbours=relation), [(0, 0), (1, 2), (1, 2)]
    histogram = tables_of(base, SIZES).table((0, 1))
    weights = {("a",): 2, ("b",): 1, ("a", "b"): 3}
    measurer = measuring(base, domain)
    sensitivity = measurer.choice(weights.values(), Fraction(1, 10)).sensitivity
    furthest = 0
    for columns, weight in weights.items():
        numbers = tuple("ab".index(name) for name in columns)
        for level in (-GRID // 2, 0, GRID // 3, 99 * GRID):  # the model below, about, and far above the data
            estimate = np.full(domain.shape(columns), level, np.int64)
            before = weight * measurer._score(columns, estimate, 7)
            for move in moves(most, relation):
                exactly = marginal(histogram + move, numbers)
                after = weight * (int(np.abs(GRID * exactly - estimate).sum()) - 7)
                furthest = max(furthest, abs(after - before))
    assert furthest == sensitivity


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_over_all_neighbours_a_guarded_question_moves_by_the_rows_of_a_person(most, relation):
    domain = domain_of(*SIZES, rows_per_person=most, neighbours=relation)
    watched = watching(Adaptive(rho=1), domain, Fraction(1, 10)).sensitivity
    counted = count_noise(Adaptive(rho=1), domain, Fraction(1, 10)).sensitivity
    products = ((((0, 0),), ((0, 0), (2, 2))), (((0, 1),), ((1, 2),)), (((0, 1),), ((0, 2),)))
    cells = (((0, 0), (4, 5)), ((1, 4),), ((0, 5),))
    for query in (
        *(Conjunction(("a", "b"), codes) for codes in products),
        *(Cells(("a", "b"), runs) for runs in cells),
    ):
        furthest = max(abs(int(query.added_up(move))) for move in moves(most, relation))
        assert (GRID * furthest, furthest) == (watched, counted)


def log_odds(scores, rate):
    law = exponential_law(scores, rate)
    return math.log(law[0] / law[1])


def test_two_candidates_move_apart_by_epsilon_and_a_monotone_choice_would_by_twice_that():
    """One column overestimated at a person's cell, the other underestimated: who comes lowers one score and raises the other."""
    domain, epsilon = domain_of(2, 2), Fraction(1)
    estimates = {("a",): on_grid(np.array([9.0, 5.0])), ("b",): on_grid(np.array([1.0, 5.0]))}
    weights, penalties = dict.fromkeys(estimates, 1), dict.fromkeys(estimates, 0)
    choice = measuring([], domain).choice(weights.values(), epsilon**2 / 8)
    assert abs(choice.epsilon - epsilon) < Fraction(1, 10**20)
    scores = []
    for rows in ([(0, 0)] * 4, [(0, 0)] * 5):
        measurer = measuring(rows, domain)
        scores.append([measurer._score(columns, estimates[columns], 0) for columns in estimates])
    ours = [log_odds(score, choice.rate) for score in scores]
    assert abs(ours[0] - ours[1]) == pytest.approx(1, abs=1e-9)
    mutant = Exponential(sensitivity=choice.sensitivity, epsilon=epsilon, size=2, monotone=True)
    theirs = [log_odds(score, mutant.rate) for score in scores]
    assert abs(theirs[0] - theirs[1]) == pytest.approx(2, abs=1e-9)
    with pytest.raises(BadInput):
        measuring([(0, 0)], domain).worst(estimates, weights, penalties, mutant)


def test_choices_follow_the_exponential_law_of_the_scores():
    domain, rows = domain_of(2, 2), [(0, 0)] * 3 + [(1, 0)]
    estimates = {("a",): on_grid(np.array([1.0, 1.0])), ("b",): on_grid(np.array([2.0, 2.0]))}
    weights, penalties = {("a",): 2, ("b",): 1}, {("a",): GRID, ("b",): 0}
    bits = SeededBits("choices")
    measurer = measuring(rows, domain)
    choice = measurer.choice(weights.values(), Fraction(1, 50))
    chosen = [
        list(estimates).index(measuring(rows, domain, bits=bits).worst(estimates, weights, penalties, choice))
        for _ in range(800)
    ]
    law = exponential_law([2 * (2 * GRID - GRID), 4 * GRID], choice.rate)
    samples_follow(np.array(chosen), law)


def how_many_rows(make):
    """The number of rows is private: what is said of it follows the law of its noise."""
    domain, bits = domain_of(2), SeededBits("rows")
    noise = measuring([], domain).noise((), Fraction(1, 10))
    counts = [int(make([(0,)] * 7, domain, bits=bits).noisy((), noise).values) for _ in range(800)]
    samples_follow(np.array(counts), gaussian_law(noise.variance, 7))


def nothing_is_seen_before_it_is_stored(run):
    """A store that fails: of what was drawn then, nothing comes back."""
    seen = []

    class Failing(MemoryJournal):
        def store(self, number, body, *, mechanism):
            if number == 2:
                raise OSError
            return super().store(number, body, mechanism=mechanism)

    store = Failing()
    measurer = measuring([(0, 0)], domain_of(2, 2), store=store, run=run)
    with pytest.raises(OSError):
        seen.extend(measurer.noisy((name,), measurer.noise((name,), Fraction(1, 10))) for name in "abab")
    assert [look.values.tolist() for look in seen] == [Step.decoded(body).outcome.tolist() for body in store.steps]
    assert len(seen) == 2


def one_transcript_goes_on_after_a_crash(run):
    """The first two steps are there already, from a process that died."""
    domain, store = domain_of(2, 2), MemoryJournal()

    def go_on(names):
        measurer = measuring([(0, 0)], domain, store=store, run=run)
        for name in names:
            measurer.noisy((name,), measurer.noise((name,), Fraction(1, 100)))
        return [look.values.tolist() for look in measurer.measurements]

    before = go_on("ab")
    assert go_on("abab")[:2] == before


@pytest.mark.parametrize(
    ("check", "ours", "mutant"),
    [
        (how_many_rows, measuring, measurers.with_exact_number),
        (nothing_is_seen_before_it_is_stored, Run, measurers.ShowsBeforeStoring),
        (one_transcript_goes_on_after_a_crash, Run, measurers.DrawsAnew),
    ],
    ids=["exact number of rows", "unstored progress", "second run after a crash"],
)
def test_what_would_tell_too_much_is_caught(check, ours, mutant):
    check(ours)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(mutant)


def test_a_run_that_was_taken_up_again_draws_nothing_it_has():
    domain, store = domain_of(2, 3), MemoryJournal()

    def go_on(bits):
        measurer = measuring([(0, 1)] * 5, domain, store=store, bits=bits)
        coarser = measurer.merged({"b": (0, 1, 1)})
        table = coarser.noisy(("b",), coarser.noise(("b",), Fraction(1, 10)))
        estimates = {("a",): on_grid(np.zeros(2)), ("a", "b"): on_grid(np.ones((2, 2)))}
        ones = dict.fromkeys(estimates, 1)
        coarser.worst(estimates, ones, ones, coarser.choice(ones.values(), Fraction(1, 10)))
        assert table.groups == {"b": (0, 1, 1)}
        return measurer.left, [repr(look) for look in measurer.measurements]

    assert go_on(SeededBits(0)) == go_on(UntouchableBits())


def test_a_run_that_asks_for_something_else_than_it_stored_is_refused():
    domain, store = domain_of(2, 2), MemoryJournal()
    first = measuring([(0, 0)], domain, store=store)
    first.noisy(("a",), first.noise(("a",), Fraction(1, 10)))
    again = measuring([(0, 0)], domain, store=store)
    with pytest.raises(RunChanged):
        again.noisy(("b",), again.noise(("b",), Fraction(1, 10)))


def test_what_is_beyond_the_budget_is_refused_before_it_is_drawn_or_stored():
    store = MemoryJournal()
    measurer = measuring([(0,)], domain_of(2), budget=Adaptive(rho=0.1), store=store, bits=UntouchableBits())
    with pytest.raises(BudgetExceeded):
        measurer.noisy(("a",), measurer.noise(("a",), Fraction(1, 5)))
    assert store.steps == []


def test_a_pure_budget_measures_with_laplace_noise_and_spends_to_the_last():
    measurer = measuring([(0, 0)], domain_of(2, 2), budget=PureAdaptive(epsilon=1))
    for name, share in zip("ab", measurer.shares([1, 2]), strict=True):
        noise = measurer.noise((name,), share)
        assert isinstance(noise, Laplace)
        measurer.noisy((name,), noise)
    assert 0 <= measurer.left <= Fraction(2, 10**24)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda m: m.noisy(("a",), Gaussian(sensitivity=Fraction(1, 2), variance=10, size=2)),
        lambda m: m.noisy(("a",), Laplace(sensitivity=2, epsilon=1, size=3)),
        lambda m: m.noisy(("b", "a"), m.noise(("a", "b"), Fraction(1, 10))),
        lambda m: m.noisy(("c",), m.noise(("a",), Fraction(1, 10))),
        lambda m: m.worst({}, {}, {}, m.choice([1], Fraction(1, 10))),
        lambda m: m.worst({("a",): np.zeros(2)}, {("a",): 1}, {("a",): 0}, m.choice([1], Fraction(1, 10))),
        lambda m: m.worst({("a",): np.zeros(2, int)}, {("a",): 5}, {("a",): 0}, m.choice([4], Fraction(1, 10))),
        lambda m: m.worst({("a",): np.zeros(2, int)}, {("a",): 1}, {("a",): 0.5}, m.choice([1], Fraction(1, 10))),
        lambda m: m.watch(AboveThreshold(epsilon=1, sensitivity=GRID, threshold=1, monotone=True)),
        lambda m: m.watch(AboveThreshold(epsilon=1, sensitivity=GRID - 1, threshold=1)),
        lambda m: m.watch(AboveThreshold(epsilon=1, sensitivity=GRID, threshold=1, positives=2)),
        lambda m: m.merged({"a": (0, 2)}),
    ],
)
def test_noise_and_choices_that_do_not_fit_are_refused_and_nothing_is_drawn(wrong):
    measurer = measuring([(0, 0)], domain_of(2, 2), bits=UntouchableBits())
    with pytest.raises((BadInput, BadData, UnknownName)):
        wrong(measurer)
    assert measurer.left == 1


def test_a_table_of_more_than_a_million_cells_is_refused_by_name():
    with pytest.raises(TooLarge, match="a, b"):
        domain_of(1001, 1000).check(("a", "b"))


def guarded(store, *, rows, bits=None):
    measurer = measuring(rows, domain_of(2, 2), budget=Adaptive(rho=100), store=store, bits=bits or SeededBits(1))
    watch = AboveThreshold(epsilon=5, sensitivity=GRID, threshold=100 * GRID)
    return measurer, lambda: measurer.watch(watch)


def test_a_guard_says_which_question_is_badly_answered_once():
    _, watch = guarded(MemoryJournal(), rows=[(0, 0)] * 900)
    guard = watch()
    all_of_them = Conjunction(("a",), (((0, 1),),))
    good, bad = on_grid(np.array([900.0])), on_grid(np.array([100.0]))
    assert guard.first_above([all_of_them] * 5, np.repeat(good, 5)) is None
    assert not guard.is_over
    assert guard.first_above([all_of_them] * 3, np.array([*good, *bad, *bad])) == 1
    assert guard.is_over
    with pytest.raises(BadInput):
        guard.first_above([all_of_them], good)


def test_a_guard_is_over_after_a_restart_and_the_next_one_is_paid_for():
    store = MemoryJournal()
    query, good = Conjunction(("a",), (((0, 1),),)), on_grid(np.array([5.0]))
    measurer, watch = guarded(store, rows=[(0, 0)] * 5)
    assert watch().first_above([query], good) is None
    spent = measurer.budget - measurer.left
    again, watch = guarded(store, rows=[(0, 0)] * 5)
    old = watch()
    assert not old.is_over  # what it said is stored
    assert old.first_above([query], good) is None
    assert old.is_over
    assert watch().first_above([query], good) is None
    assert again.budget - again.left == 2 * spent
    assert not any('threshold":"' in body.decode(errors="ignore").partition("paid")[0] for body in store.steps)


def test_of_two_processes_that_begin_one_guard_only_one_may_use_its_threshold():
    store = MemoryJournal()
    query, good = Conjunction(("a",), (((0, 1),),)), on_grid(np.array([5.0]))
    _, watch = guarded(store, rows=[(0, 0)] * 5, bits=SeededBits(1))
    _, watch_elsewhere = guarded(store, rows=[(0, 0)] * 5, bits=SeededBits(2))
    first, second = watch(), watch_elsewhere()
    assert first.first_above([query], good) is None
    assert not second.is_over  # what the other said is stored
    assert second.first_above([query], good) is None
    assert second.is_over, "its threshold is another, and nobody paid for it"
    with pytest.raises(BadInput):
        second.first_above([query], good)
    with pytest.raises(RunChanged):  # the other process goes on with the run
        first.first_above([query], good)


@pytest.mark.parametrize("is_asked_after", [False, True], ids=["before an answer", "and after it"])
def test_a_run_with_guards_is_replayed_from_wherever_it_was_left(is_asked_after):
    """Killed after each of its steps, and each of those runs killed again: all outcomes that a method saw before are seen again."""
    query, good = Conjunction(("a",), (((0, 1),),)), on_grid(np.array([5.0]))

    def method(store):
        measurer, watch = guarded(store, rows=[(0, 0)] * 5)
        guard, seen = watch(), []
        for _ in range(3):
            while guard.is_over:
                guard = watch()
                seen.append("over before")
            seen.append(guard.first_above([query], good))
            if is_asked_after and guard.is_over:
                guard = watch()
                seen.append("over after")
            seen.append(measurer.noisy(("a",), measurer.noise(("a",), Fraction(1, 10))).values.tolist())
        return seen

    whole = MemoryJournal()
    method(whole)
    for at in range(len(whole.steps)):
        once = MemoryJournal(whole.steps[: at + 1])
        seen = method(once)
        assert method(MemoryJournal(once.steps)) == seen
        for later in range(at, len(once.steps)):
            twice = MemoryJournal(once.steps[: later + 1])
            seen = method(twice)
            assert method(MemoryJournal(twice.steps)) == seen
            assert twice.steps[: later + 1] == once.steps[: later + 1]


def test_a_transcript_comes_back_from_its_bytes():
    store = MemoryJournal()
    measurer = measuring([(0, 0)], domain_of(2, 2), store=store)
    measurer.noisy(("a", "b"), measurer.noise(("a", "b"), Fraction(1, 10)))
    steps = tuple(map(Step.decoded, store.steps))
    again = Transcript.decoded(Transcript({"domain": domain_to_json(measurer.domain)}, steps).encoded())
    assert [repr(look) for look in measurements_in(again.steps)] == [repr(look) for look in measurer.measurements]
    assert domain_from_json(again.facts["domain"]) == measurer.domain
    with pytest.raises(DiscreetError):
        Transcript.decoded(Transcript({}, steps).encoded()[:-1])


def test_exact_tables_and_measurers_hide_what_they_hold():
    measurer = measuring([(0, 0)] * 4321, domain_of(2, 2))
    measurer._exact(("a",))
    assert "4321" not in repr(measurer)
    assert "4321" not in repr(measurer._tables)


def test_a_run_that_is_out_of_time_stops_between_looks_and_goes_on_when_it_is_asked_for_again():
    steps = MemoryJournal()

    def run(until):
        return Run(Meter(Adaptive(rho=1), SeededBits("time")), steps, until=until)

    def look(run, number):
        return run.take_step({"look": number, "paid": None}, mechanism=None, draw=lambda: np.array([number])).outcome[0]

    first = run(math.inf)
    look(first, 0)
    overdue = run(0.0)
    assert look(overdue, 0) == 0  # what is stored is only read
    with pytest.raises(OutOfTime):
        look(overdue, 1)
    again = run(math.inf)
    assert [look(again, number) for number in range(2)] == [0, 1]
