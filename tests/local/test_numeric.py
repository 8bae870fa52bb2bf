"""Means and distributions of numbers on a grid: the device's law, exact variances, intervals, and the smoothed fit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.local.device.client import WORD
from discreet.local.protocols import protocol_for
from discreet.local.protocols.draws import Draws
from discreet.local.protocols.numeric import hybrid_share, piecewise_width, square_wave_width
from tests.local.cases import randomizer_for
from tests.local.laws import device_law, twin_law
from tests.support.laws import exp_of
from tests.support.sources import SeededBits

NONE = np.zeros(0, np.int64)


def twin(protocol, epsilon, steps):
    parameters = {"steps": steps}
    if protocol in ("piecewise", "hybrid"):
        parameters["width"] = piecewise_width(steps, epsilon)
    if protocol == "hybrid":
        parameters["share"] = hybrid_share(epsilon)
    if protocol == "square-wave":
        parameters["width"] = square_wave_width(steps, epsilon)
    return protocol_for(randomizer_for(protocol, str(epsilon), parameters))


def outputs_of(one):
    """How many cells a tally has."""
    return one.tally(np.zeros(0, np.uint64)).size


def tallies_of(one, codes, *, trials, seed):
    """One tally a row: `trials` times all people."""
    everyone = np.tile(codes, trials)
    reports = one.encode(everyone, Draws(SeededBits(seed)), slots=everyone)
    assert one.legal(reports).all()
    return np.array([one.tally(row) for row in reports.reshape(trials, codes.size)])


@pytest.mark.parametrize("protocol", ["duchi", "piecewise", "square-wave", "hybrid"])
@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_the_twin_has_the_devices_law_and_the_law_keeps_its_promise(protocol, epsilon):
    one = twin(protocol, epsilon, 4)
    laws = []
    for code in range(5):
        law = device_law(one.randomizer, code)
        assert {(report,): chance for report, chance in law.items()} == twin_law(
            one, np.array([code]), slots=np.zeros(1, int)
        )
        assert sum(law.values()) == 1
        laws.append(law)
    most = exp_of(Fraction(epsilon))
    ratios = [law[report] / other[report] for law in laws for other in laws for report in law]
    assert most * (1 - Fraction(1, 10**9)) <= max(ratios) <= most * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("protocol", ["duchi", "piecewise", "hybrid"])
@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_the_mean_of_one_report_is_exactly_the_place_and_its_variance_exactly_the_stated_one(protocol, epsilon):
    one = twin(protocol, epsilon, 6)
    cells = np.eye(outputs_of(one), dtype=np.int64)
    for code in range(7):
        law = device_law(one.randomizer, code)
        guesses = {report: one.sum_of_positions(one.tally(np.array([report], np.uint64))) for report in law}
        mean = sum(chance * guesses[report] for report, chance in law.items())
        assert mean == code
        variance = sum(chance * guesses[report] ** 2 for report, chance in law.items()) - mean**2
        assert one.variance(np.ones(1), 1, np.array([code])) == pytest.approx([float(variance)], rel=1e-9)
        assert max(abs(guess - code) for guess in guesses.values()) <= one.influence * (1 + 1e-12)
    least, most = (float(end) for end in (min(map(one.sum_of_positions, cells)), max(map(one.sum_of_positions, cells))))
    if protocol != "hybrid" or epsilon == 1:
        assert one.guesses == pytest.approx((least, most))


@pytest.mark.parametrize("protocol", ["duchi", "piecewise", "hybrid"])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_means_err_as_much_as_their_variance_says_and_intervals_cover(protocol, epsilon):
    trials, people = 20_000, 200
    one = twin(protocol, epsilon, 20)
    codes = np.random.default_rng(5).binomial(20, 0.3, people)
    tallies = tallies_of(one, codes, trials=trials, seed=f"mean {protocol} {epsilon}")
    each = np.array([float(one.sum_of_positions(cell)) for cell in np.eye(tallies.shape[1], dtype=np.int64)])
    estimates = tallies @ each / people
    for tally, estimate in zip(tallies[:50], estimates[:50], strict=True):
        assert one.estimate(tally, people, NONE) == pytest.approx([estimate])
    variance = one.variance(np.ones(people), people, codes)[0]
    errors = estimates - codes.mean()
    assert 0.97 <= np.mean(errors**2) / variance <= 1.03
    assert 0.94 <= np.mean(np.abs(errors) <= 1.96 * math.sqrt(variance)) <= 0.96
    guessed = np.array([one.estimated_variance(tally, people, NONE)[0] for tally in tallies[:5000]])
    covered = np.mean(np.abs(errors[:5000]) <= 1.96 * np.sqrt(guessed))
    if protocol == "duchi":  # its variance is known only up to how much people differ
        assert guessed.mean() >= variance
        assert 0.94 <= covered <= 0.97
    else:
        assert 0.98 <= guessed.mean() / variance <= 1.02
        assert 0.94 <= covered <= 0.96


def test_the_hybrid_has_the_least_worst_variance_of_the_three():
    steps = 1 << 10
    ends = np.arange(0, steps + 1, 64)
    for epsilon in (0.3, 0.7, 1, 2, 4):
        worst = {
            protocol: max(
                twin(protocol, epsilon, steps).variance(np.ones(1), 1, np.array([place]))[0] for place in ends
            )
            for protocol in ("duchi", "piecewise", "hybrid")
        }
        assert worst["hybrid"] <= min(worst.values()) * 1.001


def test_a_hybrid_that_never_uses_its_window_refuses_reports_from_it():
    one = twin("hybrid", 0.5, 8)
    assert one.randomizer.share == 0
    window = 1 << one.randomizer.window.bits
    assert one.legal(np.array([0, 1, 2, window, window | 3], np.uint64)).tolist() == [True, True, False, False, False]
    often = twin("hybrid", 2, 8)
    window, outputs = 1 << often.randomizer.window.bits, often.randomizer.window.outputs
    reports = np.array([0, 1, 2, window, window | outputs - 1, window | outputs], np.uint64)
    assert often.legal(reports).tolist() == [True, True, False, True, True, False]


def test_no_reports_give_no_number():
    for protocol in ("duchi", "piecewise", "hybrid"):
        one = twin(protocol, 1, 8)
        empty = one.tally(np.zeros(0, np.uint64))
        assert np.isnan(one.estimate(empty, 0, NONE)).all()
        assert np.isnan(one.estimated_variance(empty, 0, NONE)).all()
        assert (one.merged(empty, empty) == empty).all()


def test_good_parameters_are_the_papers():
    assert piecewise_width(1000, 2) == round(1000 / math.e)
    assert piecewise_width(4, 30) == 1
    assert square_wave_width(1000, 1) == round(1000 / (math.e * (math.e - 2)))
    assert square_wave_width(1000, 1e-9) == 1000
    assert square_wave_width(10, 60) == 1
    assert hybrid_share(0.61) == 0
    assert hybrid_share(2) / WORD == pytest.approx(1 - 1 / math.e)


@pytest.mark.parametrize("epsilon", [1, 4])
def test_the_raw_distribution_errs_as_much_as_its_variance_says_and_intervals_cover(epsilon):
    trials, people, steps = 2500, 400, 15
    one = twin("square-wave", epsilon, steps)
    codes = np.minimum(np.random.default_rng(6).binomial(20, 0.4, people), steps)
    places = np.arange(steps + 1)
    counts = np.bincount(codes, minlength=steps + 1)
    tallies = tallies_of(one, codes, trials=trials, seed=f"wave {epsilon}")
    errors = np.array([one.estimate(tally, people, places) for tally in tallies]) - counts
    variances = one.variance(counts, people, places)
    assert 0.97 <= np.mean(errors**2 / variances) <= 1.03
    guessed = np.array([one.estimated_variance(tally, people, places) for tally in tallies])
    assert np.allclose(guessed.mean(axis=0) / variances, 1, atol=0.05)
    assert 0.94 <= np.mean(np.abs(errors) <= 1.96 * np.sqrt(guessed)) <= 0.96


def test_the_raw_distribution_is_exactly_unbiased():
    one = twin("square-wave", 1, 5)
    for code in range(6):
        law = device_law(one.randomizer, code)
        channel = [float(law[output]) for output in range(one.randomizer.outputs)]
        assert np.allclose(one.channel[:, code], channel, rtol=1e-12)
        assert np.allclose(one.estimate(np.array(channel), 1, np.arange(6)), np.arange(6) == code, atol=1e-9)


def test_no_made_up_report_moves_a_place_further_than_the_influence():
    one = twin("square-wave", 1, 7)
    moved = [one.estimate(cell, 1, np.arange(8)) for cell in np.eye(one.randomizer.outputs, dtype=np.int64)]
    assert np.abs(moved).max() == pytest.approx(one.influence)


@pytest.mark.parametrize(("epsilon", "near"), [(1, 0.012), (4, 0.003)])
def test_the_smoothed_distribution_is_one_and_is_near(epsilon, near):
    steps, people = 127, 100_000
    one = twin("square-wave", epsilon, steps)
    codes = (np.random.default_rng(7).beta(2, 5, people) * (steps + 1)).astype(np.int64)
    counts = np.bincount(codes, minlength=steps + 1)
    tally = one.tally(one.encode(codes, Draws(SeededBits(f"smooth {epsilon}")), slots=codes))
    smoothed = one.smoothed(tally, people)
    assert smoothed.min() >= 0
    assert smoothed.sum() == pytest.approx(people)
    assert wasserstein(smoothed, counts) < near
    flat = np.full(steps + 1, people / (steps + 1))
    assert wasserstein(smoothed, counts) < wasserstein(flat, counts) / 10
    raw = one.estimate(tally, people, np.arange(steps + 1))
    assert np.abs(smoothed - counts).sum() < np.abs(raw - counts).sum() / 5


def wasserstein(some, others):
    """How far people are moved on average, as a part of the grid, to turn one into the other."""
    return float(np.abs(np.cumsum(some - others)).sum() / others.sum() / (others.size - 1))


def test_running_sums_are_products_with_the_channel():
    one = twin("square-wave", 1, 9)
    rng = np.random.default_rng(8)
    people, outputs = rng.random(10), rng.random(one.randomizer.outputs)
    assert np.allclose(one._outputs_of(people), one.channel @ people)
    assert np.allclose(one._positions_of(outputs), one.channel.T @ outputs)


def test_nothing_is_smoothed_out_of_nothing():
    one = twin("square-wave", 1, 9)
    assert (one.smoothed(one.tally(np.zeros(0, np.uint64)), 0) == 0).all()
