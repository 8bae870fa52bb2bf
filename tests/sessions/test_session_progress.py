"""The progress of a session: the exact law of its checks on neighbours, mutants, stored steps, and restarts."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from discreet.core.loss import Neighbours
from discreet.errors import BadInput
from discreet.measurement.measurer import GRID, Cells, Conjunction, on_grid
from discreet.measurement.replay import Run
from discreet.measurement.run_budget import watching
from discreet.measurement.transcript import Step
from discreet.mechanisms import Adaptive
from discreet.sessions.session_hypotheses import Weights
from tests.mutants import measurers
from tests.sessions.memory import BUDGET, progress_of
from tests.support.checks import samples_follow
from tests.support.memory_tables import MemoryJournal, domain_of, measuring
from tests.support.sources import SeededBits

SIZES = (2, 2)
CELLS = list(itertools.product(*map(range, SIZES)))
EVERY_ROW = Conjunction((), ())
ASKED = [
    Conjunction(("a", "b"), (((first, first),), ((second, second),))) for first, second in CELLS
] + [Conjunction(("a",), (((0, 0),),)), Conjunction(("b",), (((1, 1),),))]  # fmt: skip


def people(most):
    return [list(rows) for count in range(most + 1) for rows in itertools.combinations_with_replacement(CELLS, count)]


def neighbours(most, relation):
    """The rows of two datasets that differ in one person."""
    others = [(0, 0), (1, 1), (1, 1)]
    if relation is Neighbours.ADD_REMOVE:
        return [(others, others + person) for person in people(most)]
    return [(others + one, others + other) for one, other in itertools.combinations(people(most), 2)]


def at_least(scale, least):
    """P(Z >= least) of discrete Laplace noise."""
    q, least = math.exp(-1 / scale), np.asarray(least, float)
    tail = np.exp(-np.where(least > 0, least, 1 - least) / scale) / (1 + q)
    return np.where(least > 0, tail, 1 - tail)


def law(mechanism, values, *, redrawn=False):
    """Probabilities of which query is the first above the threshold; the last entry is that none is."""
    scale, query = float(mechanism.threshold_scale), float(mechanism.query_scale)
    noise = np.arange(-round(25 * scale), round(25 * scale) + 1)
    chance = at_least(scale, noise) - at_least(scale, noise + 1)
    above = [at_least(query, mechanism.threshold + noise - value) for value in values]
    if redrawn:
        above = [np.full(noise.shape, (chance * each).sum()) for each in above]
    below = np.cumprod(np.stack([np.ones(noise.shape), *(1 - each for each in above)]), axis=0)
    firsts = [(chance * below[at] * each).sum() for at, each in enumerate(above)]
    return np.array([*firsts, (chance * below[-1]).sum()])


def values_of(rows, domain, queries, estimates):
    measurer = measuring(rows, domain)
    return [abs(GRID * measurer._exactly(query) - estimate) for query, estimate in zip(queries, estimates, strict=True)]


def furthest(domain, mechanism, *, redrawn=False):
    """The largest log ratio of any outcome on any neighbours, for hypotheses below, about and above the data."""
    most, pairs = domain.rows_per_person, neighbours(domain.rows_per_person, domain.neighbours)
    queries = ASKED * 3
    ratios = []
    for level in (0, most * 3 * GRID):

        @cache
        def law_of(rows, level=level):
            values = values_of(rows, domain, queries, [level] * len(queries))
            return np.log(law(mechanism, values, redrawn=redrawn))

        ratios += [np.abs(law_of(tuple(one)) - law_of(tuple(other))).max() for one, other in pairs]
    return max(ratios)


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("relation", list(Neighbours))
def test_on_all_neighbours_no_outcome_of_a_guard_is_likelier_by_more_than_its_epsilon(most, relation):
    domain = domain_of(*SIZES, rows_per_person=most, neighbours=relation)
    share = Fraction(8)
    mechanism = watching(Adaptive(rho=10), domain, share, threshold=2 * GRID)
    assert mechanism.exact_rho <= share
    ours = furthest(domain, mechanism)
    assert float(mechanism.epsilon) / 3 < ours <= float(mechanism.epsilon) + 1e-9
    assert furthest(domain, mechanism, redrawn=True) > float(mechanism.epsilon), "a threshold that is redrawn is caught"


def test_a_guard_follows_its_law():
    domain, rows, bits = domain_of(*SIZES), [(0, 0)] * 5 + [(1, 1)] * 2, SeededBits("guard")
    mechanism = watching(Adaptive(rho=10), domain, Fraction(1), threshold=3 * GRID)
    estimates = np.array([2 * GRID] * len(ASKED))

    def first():
        measurer = measuring(rows, domain, budget=Adaptive(rho=10), bits=bits)
        return measurer.watch(mechanism).first_above(ASKED, estimates)

    said = [first() for _ in range(800)]
    expected = law(mechanism, values_of(rows, domain, ASKED, estimates.tolist()))
    as_law = {place: Fraction(float(chance)) for place, chance in enumerate(expected)}
    samples_follow(np.array([len(ASKED) if place is None else place for place in said]), as_law)


@pytest.mark.parametrize(
    "codes",
    [
        (((0, 1), (1, 1)), ((0, 0),)),
        (((1, 0),), ((0, 0),)),
        (((0, 2),), ((0, 0),)),
        ((), ((0, 0),)),
        (((0, 0),),),
        (((-1, 0),), ((0, 0),)),
        (((0.0, 1.0),), ((0, 0),)),
    ],
    ids=["counted twice", "backwards", "beyond", "nothing", "one column", "before", "no codes"],
)
def test_a_query_that_could_count_a_row_twice_is_refused(codes):
    domain = domain_of(*SIZES)
    measurer = measuring([(0, 0)], domain)
    guard = measurer.watch(watching(Adaptive(rho=1), domain, Fraction(1, 10)))
    with pytest.raises(BadInput):
        guard.first_above([Conjunction(("a", "b"), codes)], on_grid(np.zeros(1)))


@pytest.mark.parametrize("runs", [((0, 1), (1, 2)), ((1, 0),), ((0, 4),), (), ((-1, 0),), ((0.0, 1.0),)], ids=str)
def test_cells_that_could_count_a_row_twice_are_refused(runs):
    domain = domain_of(2, 2)
    guard = measuring([(0, 0)], domain).watch(watching(Adaptive(rho=1), domain, Fraction(1, 10)))
    with pytest.raises(BadInput):
        guard.first_above([Cells(("a", "b"), runs)], on_grid(np.zeros(1)))


def test_weights_learn_of_cells_as_of_the_same_conjunction():
    domain = domain_of(2, 3, 2)
    either, both = Weights(domain, 100, 0.5), Weights(domain, 100, 0.5)
    either.learn(Conjunction(("b", "c"), (((1, 2),), ((0, 0),))), 90)
    both.learn(Cells(("b", "c"), ((2, 2), (4, 4))), 90)
    for query in (
        Conjunction(("a",), (((0, 0),),)),
        Cells(("b", "c"), ((0, 0), (3, 4))),
        Cells(("a", "c"), ((0, 2),)),
    ):
        assert both.expected(query) == either.expected(query)
    assert both.expected(Cells(("b", "c"), ((2, 2), (4, 4)))) > 100 / 3


ROWS = [(0, 0)] * 3000 + [(1, 1)] * 500


def test_a_query_that_fails_its_check_is_measured_and_after_the_last_alarm_answers_are_unguarded():
    session = progress_of(ROWS, domain_of(*SIZES), alarms=2)
    session.ask(ASKED)
    told = [session.answers[query] for query in ASKED]
    assert [answer.how for answer in told] == [
        "measured",
        "estimated",
        "estimated",
        "measured",
        "unguarded",
        "unguarded",
    ]
    assert abs(told[0].count - 3000) <= told[0].within < 50
    assert abs(told[3].count - 500) <= told[3].within < 50
    assert told[1].within > 0
    assert told[4].within is None
    assert (session.left, session.alarms_left) == (94, 0)


def ask_one_by_one(session):
    for query in ASKED:
        session.ask([query])


def nothing_is_returned_before_it_is_stored(run):
    """If the store fails at any step, the session has only the answers of the steps that were stored."""
    for last in range(6):

        class Failing(MemoryJournal):
            def store(self, number, body, *, mechanism, last=last):
                if number == last:
                    raise OSError
                return super().store(number, body, mechanism=mechanism)

        store = Failing()
        session = progress_of(ROWS, domain_of(*SIZES), store=store, run=run, bits=SeededBits(last))
        with pytest.raises(OSError):
            ask_one_by_one(session)
        again = progress_of(ROWS, domain_of(*SIZES), store=MemoryJournal(store.steps))
        assert session.answers.items() <= again.answers.items()


def every_draw_is_charged(made):
    """The meter and the steps have exactly the runs of the sparse vector and the counts that were drawn."""

    class Store(MemoryJournal):
        def store(self, number, body, *, mechanism):
            heard.append((Step.decoded(body).kind, mechanism))
            return super().store(number, body, mechanism=mechanism)

    heard = []
    session = progress_of(ROWS, domain_of(*SIZES), store=Store(), made=made)
    session.ask(ASKED)
    drawn = [mechanism for kind, mechanism in heard if kind in {"watch", "count"}]
    assert drawn == [session.terms.watch, session.terms.noise] * 2
    spent = session._measurer.budget - session._measurer.left
    assert spent == sum(BUDGET.units(mechanism) for mechanism in drawn) / Fraction(10**24)


@pytest.mark.parametrize(
    ("check", "ours", "mutant"),
    [
        (nothing_is_returned_before_it_is_stored, Run, measurers.ShowsBeforeStoring),
        (every_draw_is_charged, measuring, measurers.with_free_counts),
    ],
    ids=["stores after showing", "measures without a charge"],
)
def test_a_mutant_that_stores_late_or_measures_free_is_caught(check, ours, mutant):
    check(ours)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(mutant)


def test_a_session_killed_after_any_step_keeps_all_answers_that_it_returned():
    """Also if it is killed again: no more runs of the sparse vector than were charged, no query answered twice."""

    def go(store):
        session = progress_of(ROWS, domain_of(*SIZES), store=store, alarms=3, bits=SeededBits(len(store.steps)))
        session.ask([query for query in ASKED[:3] if query not in session.answers])
        session.ask([query for query in ASKED[3:] if query not in session.answers])
        return session

    whole = MemoryJournal()
    go(whole)
    for at in range(len(whole.steps) + 1):
        once = MemoryJournal(whole.steps[:at])
        go(once)
        for later in range(at, len(once.steps) + 1):
            before = progress_of(ROWS, domain_of(*SIZES), store=MemoryJournal(once.steps[:later]), alarms=3)
            twice = MemoryJournal(once.steps[:later])
            after = go(twice)
            kinds = [Step.decoded(body).kind for body in twice.steps]
            assert twice.steps[:later] == once.steps[:later]
            assert kinds.count("watch") <= 3
            settled = {query: answer for query, answer in before.answers.items() if answer.how != "measured"}
            assert settled.items() <= after.answers.items()
            assert set(after.answers) == set(ASKED)


def test_a_batch_is_one_step():
    store = MemoryJournal()
    session = progress_of(ROWS, domain_of(*SIZES), store=store, total=3500.0)
    session.ask([EVERY_ROW, Conjunction(("a",), (((0, 1),),))])
    assert [Step.decoded(body).kind for body in store.steps] == ["watch", "guard"]
