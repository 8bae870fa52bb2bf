"""The promises that every randomizer, its vectorised twin and its estimator keep."""

import itertools
import math

import numpy as np
import pytest

from discreet.local.protocols.draws import Draws
from tests.local.cases import CASES, TRIALS
from tests.local.laws import Remembered, device_law, numbers_of, reports_of, twin_law
from tests.support.sources import SeededBits

NEAR = 1e-9
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_trial = pytest.mark.parametrize("trial", TRIALS, ids=str)
EXACT = {"coin", "warner", "grr", "subset", "pgr", "sue", "oue", "hadamard"}
"""Frequency protocols whose estimates have an exact mean and variance without any hash function."""


def laws_of(case):
    return [device_law(case.randomizer, code, slot=case.slot) for code in case.codes]


@every_case
def test_no_two_answers_differ_by_more_than_the_promised_factor(case):
    laws = laws_of(case)
    for law in laws:
        assert sum(law.values()) == 1
        assert law.keys() == laws[0].keys()
    worst = max(one[report] / other[report] for one, other in itertools.permutations(laws, 2) for report in one)
    promised = math.exp(case.epsilon_of_one_report)
    assert worst <= promised * (1 + NEAR)
    assert worst >= promised * (1 - NEAR) or not case.tight, "some of the promised epsilon is wasted"


@every_case
def test_the_twin_has_the_law_of_the_device(case):
    twin = case.twin
    for code in case.codes:
        codes, slots = case.batch(code)
        of_twin = twin_law(twin, codes, slots=slots)
        of_device = device_law(case.randomizer, code, slot=case.slot)
        assert of_twin == {(report,): weight for report, weight in of_device.items()}


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if len(device_law(case.randomizer, case.codes[0], slot=case.slot)) <= 16],
    ids=str,
)
def test_people_who_are_encoded_together_are_independent(case):
    one, other = case.codes[0], case.codes[-1]
    laws = [device_law(case.randomizer, code, slot=case.slot) for code in (one, other)]
    codes, slots = case.batch(one, other)
    together = twin_law(case.twin, codes, slots=slots)
    assert together == {(a, b): laws[0][a] * laws[1][b] for a, b in itertools.product(laws[0], laws[1])}


@every_case
def test_what_a_device_can_send_is_legal_and_nothing_else_is(case):
    twin, bits = case.twin, case.randomizer.bits
    possible = set(device_law(case.randomizer, case.codes[0], slot=case.slot))
    sent = reports_of(twin, sorted(possible))
    assert numbers_of(twin, sent) == tuple(sorted(possible))
    assert twin.legal(sent).all()
    known = min(bits, getattr(case.randomizer, "value_bits", 12))  # all slots are legal: those bits are left alone
    some = min(possible)
    others = [some ^ change for change in range(1 << known) if some ^ change not in possible]
    if others:
        assert not twin.legal(reports_of(twin, others)).any()
    if not twin.wide:
        assert not twin.legal(np.array([1 << bits, (1 << 64) - 1], np.uint64)).any()
    elif bits % 8:
        sent[:, -1] |= 1
        assert not twin.legal(sent).any(), "the filling of the last byte is not looked at"


@pytest.mark.parametrize("case", [case for case in CASES if case.protocol in EXACT], ids=str)
def test_the_estimate_of_one_person_has_the_exact_mean_and_variance(case):
    twin, everything = case.twin, np.arange(case.parameters["size"])
    for code in case.codes:
        law = device_law(case.randomizer, code)
        truth = (everything == code).astype(np.float64)
        weights = np.array([float(weight) for weight in law.values()])
        estimates = np.array(
            [twin.estimate(twin.tally(reports_of(twin, [report])), 1, everything) for report in law], np.float64
        )
        mean = weights @ estimates
        np.testing.assert_allclose(mean, truth, atol=1e-9)
        np.testing.assert_allclose(weights @ (estimates - truth) ** 2, twin.variance(truth, 1, everything), rtol=1e-9)


def trials_of(trial, *, times, seed="trials"):
    """Tallies of the same people, asked again and again."""
    draws = Draws(SeededBits(f"{seed} {trial}"))
    codes = np.repeat(trial.codes, trial.counts)
    twin = trial.twin()
    at_once = max(1, 200_000 // trial.people)
    for first in range(0, times, at_once):
        batch = range(first, min(times, first + at_once))
        if trial.vary_hashes:
            for time in batch:
                twin = trial.twin(seed=10**6 * time)
                yield twin, twin.tally(twin.encode(codes, draws, slots=np.arange(codes.size)))
            continue
        slots = np.arange(first * trial.people, batch[-1] * trial.people + trial.people)
        reports = twin.encode(np.tile(codes, len(batch)), draws, slots=slots)
        for i in range(len(batch)):
            yield twin, twin.tally(reports[i * trial.people : (i + 1) * trial.people])


def check_variance(trial, *, times):
    """The mean squared error is the variance that is told, and intervals cover as often as they say."""
    truth = trial.counts
    exact = trial.twin().variance(truth.astype(np.float64), trial.people, trial.codes)
    squares, errors, spreads, covered = *np.zeros((3, trial.values)), 0
    for twin, tally in trials_of(trial, times=times):
        error = twin.estimate(tally, trial.people, trial.codes) - truth
        estimated = twin.estimated_variance(tally, trial.people, trial.codes)
        squares += error**2
        errors += error
        spreads += estimated
        covered += np.count_nonzero(np.abs(error) <= 1.959964 * np.sqrt(estimated))
    cells = times * trial.values
    ratio = float((squares / times / exact).mean())
    assert 0.97 <= ratio <= 1.03, f"the mean squared error is {ratio:.3f} times the exact variance"
    assert 0.94 <= covered / cells <= 0.96, f"the interval covers {covered / cells:.3f}"
    off = spreads / times / exact - 1  # the cut of counts at zero raises it a little
    assert off.min() > -0.02, "the estimated variance is too small on average"
    assert off.max() < 0.05, "the estimated variance is too large on average"
    drift = errors / np.sqrt(times * exact)
    assert np.abs(drift).max() < 5, "the estimate is biased"


@every_trial
def test_the_variance_is_exact_and_the_interval_covers(trial):
    times = trial.times // 2  # `make soak` draws ten times as many
    assert times * trial.values >= 2e4
    check_variance(trial, times=times)


@every_trial
def test_two_halves_merge_into_the_whole(trial):
    draws = Draws(SeededBits("merge"))
    codes = np.repeat(trial.codes, trial.counts)
    twin = trial.twin()
    reports = twin.encode(codes, draws, slots=np.arange(codes.size))
    assert twin.legal(reports).all()
    parts = [twin.tally(part) for part in (reports[:0], reports[:700], reports[700:])]
    merged = twin.merged(twin.merged(parts[0], parts[1]), parts[2])
    np.testing.assert_array_equal(merged, twin.tally(reports))


@every_trial
def test_devices_and_the_twin_are_estimated_alike(trial):
    """Devices' reports, packed, through the collector's side: no estimate is further off than it may be."""
    twin = trial.twin()
    codes = np.repeat(trial.codes, trial.counts)[::7]
    draw = Remembered("the devices of this test")
    numbers = [twin.randomizer.randomize(code, draw, slot=slot) for slot, code in enumerate(codes.tolist())]
    reports = reports_of(twin, numbers)
    assert twin.legal(reports).all()
    assert numbers_of(twin, reports) == tuple(numbers)
    truth = np.array([np.count_nonzero(codes == code) for code in trial.codes], np.float64)
    estimate = twin.estimate(twin.tally(reports), codes.size, trial.codes)
    spread = np.sqrt(twin.variance(truth, codes.size, trial.codes))
    assert np.abs(estimate - truth).max() <= 9 * spread.max()


@every_trial
def test_a_crowd_larger_than_one_piece_is_encoded_piece_by_piece(trial):
    twin, draws = trial.twin(), Draws(SeededBits("crowd"))
    people = 40_000
    counts = trial.counts * (people // trial.people)
    codes = np.repeat(trial.codes, counts)[::-1]
    reports = twin.encode(codes, draws, slots=np.arange(codes.size))
    assert len(reports) == codes.size
    assert twin.legal(reports).all()
    estimate = twin.estimate(twin.tally(reports), codes.size, trial.codes)
    spread = np.sqrt(twin.variance(counts.astype(np.float64), codes.size, trial.codes))
    assert (np.abs(estimate - counts) <= 6 * spread).all()


@every_trial
def test_one_made_up_report_moves_no_estimate_further_than_its_influence(trial):
    twin, draws = trial.twin(), Draws(SeededBits("influence"))
    codes = np.repeat(trial.codes, trial.counts)[:500]
    reports = twin.encode(codes, draws, slots=np.arange(codes.size))
    honest, random_network = twin.tally(reports[:-1]), [twin.tally(reports[i : i + 1]) for i in range(100)]
    before = twin.estimate(honest, codes.size - 1, trial.codes)
    furthest = max(
        np.abs(twin.estimate(twin.merged(honest, report), codes.size, trial.codes) - before).max()
        for report in random_network
    )
    assert furthest <= twin.influence * (1 + NEAR)
    assert furthest >= twin.influence * (1 - NEAR), "the bound is never reached"


@every_trial
def test_nobody_is_estimated_as_nobody(trial):
    twin = trial.twin()
    nobody = twin.tally(twin.encode(trial.codes[:0], Draws(), slots=np.arange(0)))
    assert not twin.estimate(nobody, 0, trial.codes).any()
    assert not twin.estimated_variance(nobody, 0, trial.codes).any()
