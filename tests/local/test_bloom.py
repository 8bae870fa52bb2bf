"""RAPPOR: the device's law, its two promises, least squares with exact variance, and what memory protects."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.local.device.client import WORD, Draw
from discreet.local.protocols import protocol_for
from discreet.local.protocols.bloom import rappor_shape
from discreet.local.protocols.draws import Draws
from tests.local.cases import randomizer_for
from tests.local.laws import device_law, numbers_of, reports_of, twin_law
from tests.support.laws import exp_of
from tests.support.sources import SeededBits

NEAR = Fraction(1, 10**9)
TINY = [
    {"size": 3, "filter_bits": 4, "hashes": 1, "cohorts": 1, "first": "1"},
    {"size": 3, "filter_bits": 3, "hashes": 1, "cohorts": 3, "first": "0.5"},
    {"size": 3, "filter_bits": 4, "hashes": 2, "cohorts": 2, "first": "1.5"},
]
WORKING = [
    ("2", {"size": 20, "filter_bits": 16, "hashes": 1, "cohorts": 8, "first": "1"}),
    ("4", {"size": 20, "filter_bits": 20, "hashes": 2, "cohorts": 8, "first": "3"}),
    ("3", {"size": 12, "filter_bits": 70, "hashes": 1, "cohorts": 3, "first": "1.5"}),
]


@pytest.mark.parametrize("parameters", TINY)
def test_the_twin_has_the_devices_law_and_one_report_keeps_its_promise(parameters):
    randomizer = randomizer_for("rappor", "2", parameters)
    twin = protocol_for(randomizer)
    laws = [device_law(randomizer, code) for code in range(3)]
    for code, law in enumerate(laws):
        assert sum(law.values()) == 1
        assert {(report,): chance for report, chance in law.items()} == twin_law(
            twin, np.array([code]), slots=np.zeros(1, np.int64)
        )
        assert twin.legal(reports_of(twin, sorted(law))).all()
    illegal = sorted(set(range(1 << randomizer.bits)) - set(laws[0]))
    assert not illegal or not twin.legal(reports_of(twin, illegal)).any()
    worst = max(one[report] / other[report] for one in laws for other in laws for report in one)
    assert worst <= exp_of(Fraction(parameters["first"])) * (1 + NEAR)


@pytest.mark.parametrize("parameters", TINY)
def test_all_reports_of_one_value_together_keep_the_larger_promise(parameters):
    """They are made from the permanent answer alone, so its law bounds what any number of them can tell."""
    randomizer = randomizer_for("rappor", "2", parameters)
    told = Fraction(randomizer.permanent, WORD)
    worst = Fraction(0)
    for cohort in range(randomizer.cohorts):
        filters = [randomizer.filter(code, cohort) for code in range(3)]
        for answer in itertools.product([False, True], repeat=randomizer.filter_bits):
            chances = [
                math.prod(told if a == b else 1 - told for a, b in zip(answer, bits, strict=True)) for bits in filters
            ]
            worst = max(worst, *(one / other for one in chances for other in chances))
    assert worst <= exp_of(Fraction(2)) * (1 + NEAR)
    if parameters["hashes"] == 1:  # two hashes may share a bit
        assert worst >= exp_of(Fraction(2)) * (1 - NEAR)


def test_ten_thousand_reports_of_one_device_tell_its_permanent_answer_and_not_the_truth():
    parameters = {"size": 50, "filter_bits": 16, "hashes": 1, "cohorts": 4, "first": "1"}
    randomizer = randomizer_for("rappor", "2", parameters)
    draw = SeededDraw("memory")
    again = randomizer.again / WORD
    lies = 0
    for code in (7, 7):
        answer = randomizer.answer(code, draw)
        cohort = answer >> 16
        truth = np.array(randomizer.filter(code, cohort))
        permanent = np.array([bool(answer >> 15 - place & 1) for place in range(16)])
        sent = [randomizer.repeat(answer, draw) for _ in range(10_000)]
        assert {report >> 16 for report in sent} == {cohort}
        bits = np.array([[report >> 15 - place & 1 for place in range(16)] for report in sent])
        # Each bit is its permanent answer's, told with the exact odds: no 10,000 coins stray by six deviations.
        expected = np.where(permanent, again, 1 - again)
        assert np.abs(bits.mean(axis=0) - expected).max() < 6 * math.sqrt(again * (1 - again) / 10_000)
        assert ((bits.mean(axis=0) > 0.5) == permanent).all()
        lies += np.count_nonzero(permanent != truth)
    # e^(2/2) : 1 for the truth of each bit, for ever: 27 % of 32 bits are lies
    told = randomizer.permanent / WORD
    assert told / (1 - told) == pytest.approx(math.e)
    assert abs(lies - 32 * (1 - told)) < 4 * math.sqrt(32 * told * (1 - told))


class SeededDraw(Draw):
    """The same draws every time, so that a red run means a bug."""

    def __init__(self, seed):
        self._words = iter(SeededBits(seed).words(2_000_000, 64).tolist())

    def word(self):
        return next(self._words)


@pytest.mark.parametrize(("epsilon", "parameters"), WORKING)
def test_estimates_err_as_much_as_their_variance_says_and_intervals_cover(epsilon, parameters):
    people, times, size = 600, 2000, parameters["size"]
    twin = protocol_for(randomizer_for("rappor", epsilon, parameters))
    counts = np.floor(people / np.arange(1, size + 1) ** 1.2 / 3).astype(np.int64)
    counts[0] += people - counts.sum()
    codes, every = np.repeat(np.arange(size), counts), np.arange(size)
    reports = twin.encode(np.tile(codes, times), Draws(SeededBits(f"bloom {epsilon}")), slots=np.zeros(0, np.int64))
    assert twin.legal(reports).all()
    exact = twin.variance(counts, people, every)
    errors, reaches = np.empty((times, size)), np.empty((times, size))
    for time in range(times):
        tally = twin.tally(reports[time * people : (time + 1) * people])
        errors[time] = twin.estimate(tally, people, every) - counts
        reaches[time] = 1.959964 * np.sqrt(twin.estimated_variance(tally, people, every))
    assert errors.size >= 2e4
    assert 0.97 <= np.mean(errors**2 / exact) <= 1.03
    assert 0.94 <= np.mean(np.abs(errors) <= reaches) <= 0.96
    assert np.mean((reaches / 1.959964) ** 2 / exact) == pytest.approx(1, abs=0.01)
    assert np.abs(errors.mean(axis=0) / np.sqrt(exact / times)).max() < 5


def test_the_variance_is_that_of_every_way_it_can_go():
    parameters = {"size": 3, "filter_bits": 3, "hashes": 1, "cohorts": 2, "first": "1"}
    randomizer = randomizer_for("rappor", "2", parameters)
    twin = protocol_for(randomizer)
    for code in range(3):
        law = device_law(randomizer, code)
        estimates = np.array(
            [twin.estimate(twin.tally(np.array([report], np.uint64)), 1, np.arange(3)) for report in law]
        )
        chances = np.array([float(chance) for chance in law.values()])
        mean = chances @ estimates
        assert np.allclose(mean, np.arange(3) == code, atol=1e-9)
        variances = twin.variance(np.arange(3) == code, 1, np.arange(3))
        assert np.allclose(chances @ estimates**2 - mean**2, variances)
        assert np.abs(estimates).max() == pytest.approx(twin.influence)


@pytest.mark.parametrize(("epsilon", "parameters"), WORKING)
def test_devices_and_shards_are_counted_like_the_twin(epsilon, parameters):
    twin = protocol_for(randomizer_for("rappor", epsilon, parameters))
    numbers = [twin.randomizer.randomize(code % 12, Draw()) for code in range(60)]
    reports = reports_of(twin, numbers)
    assert numbers_of(twin, reports) == tuple(numbers)
    whole = twin.tally(reports)
    assert (twin.merged(twin.tally(reports[:25]), twin.tally(reports[25:])) == whole).all()
    r = twin.randomizer
    for cohort in range(r.cohorts):
        mine = [number for number in numbers if number >> r.filter_bits == cohort]
        assert whole[cohort] == len(mine)
        ones = [sum(number >> r.filter_bits - 1 - place & 1 for number in mine) for place in range(r.filter_bits)]
        assert whole[r.cohorts + cohort * r.filter_bits :][: r.filter_bits].tolist() == ones
    assert twin.tally(reports[:0]).sum() == 0


def test_values_that_the_filters_cannot_tell_apart_are_refused_by_name():
    few = protocol_for(
        randomizer_for("rappor", "2", {"size": 40, "filter_bits": 8, "hashes": 1, "cohorts": 4, "first": "1"})
    )
    empty = few.tally(np.zeros(0, np.uint64))
    with pytest.raises(BadInput, match="too many"):
        few.estimate(empty, 0, np.arange(40))
    with pytest.raises(BadInput, match="apart"):  # one hash: a cohort's bits add up to one, so 4 equations are lost
        few.estimate(empty, 0, np.arange(30))
    with pytest.raises(BadInput, match="apart"):
        few.estimate(empty, 0, np.array([1, 2, 1]))
    assert (few.estimate(empty, 0, np.arange(12)) == 0).all()


@pytest.mark.parametrize("size", [2, 10, 100, 300])
def test_the_default_shape_tells_all_values_apart_and_loses_little(size):
    filter_bits, hashes, cohorts = rappor_shape(size)
    parameters = {"size": size, "filter_bits": filter_bits, "hashes": hashes, "cohorts": cohorts, "first": "1"}
    twin = protocol_for(randomizer_for("rappor", "2", parameters))
    assert twin.randomizer.bits <= 63
    rare = twin.variance(np.full(size, 1000 / size), 1000, np.arange(size)).mean() / 1000
    assert rare <= 1.35 * 4 * math.e / (math.e - 1) ** 2


def test_the_default_shape_fits_its_candidates_at_any_size():
    for size in (2, 3, 17, 256, 257, 1024, 1025, 4096):
        filter_bits, hashes, cohorts = rappor_shape(size)
        assert hashes == 1
        assert cohorts * (filter_bits - 1) >= 3 * size
        assert filter_bits + (cohorts - 1).bit_length() <= 63
