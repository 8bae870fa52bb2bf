"""Conversions, amplification, calibration, trade-off curves and their pictures."""

import math
import xml.etree.ElementTree as ET

import dp_accounting
import numpy as np
import pytest

from discreet import Loss, accounting
from discreet.accounting import Composed, Subsampled
from discreet.errors import DiscreetError
from discreet.mechanisms import Gaussian, Laplace, RandomizedResponse


@pytest.mark.parametrize("rho", [1e-6, 0.001, 0.1, 1, 10])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_rho_and_epsilon_convert_back_and_forth_against_us(rho, delta):
    epsilon = accounting.epsilon_of_rho(rho, delta=delta)
    assert accounting.delta_of_rho(rho, epsilon=epsilon) <= delta
    if epsilon:
        back = accounting.rho_of_epsilon(epsilon, delta=delta)
        assert rho * (1 - 1e-6) <= back
        assert accounting.delta_of_rho(back, epsilon=epsilon) <= delta


def test_rho_at_the_figures_of_the_research():
    """rho(epsilon 1, delta 1e-9) = 0.014973 and rho(10, 1e-9) = 1.090786."""
    assert accounting.rho_of_epsilon(1, delta=1e-9) == pytest.approx(0.014973, abs=1e-6)
    assert accounting.rho_of_epsilon(10, delta=1e-9) == pytest.approx(1.090786, abs=1e-5)


@pytest.mark.parametrize("order", [1.5, 2, 8, 64])
def test_renyi_converts_as_dp_accounting_does_and_back(order):
    ours = accounting.epsilon_of_renyi(0.5, order=order, delta=1e-6)
    theirs, _ = dp_accounting.rdp.compute_epsilon([order], [0.5], 1e-6)
    assert ours == pytest.approx(theirs, rel=1e-9)
    assert accounting.renyi_of_epsilon(ours, order=order, delta=1e-6) == pytest.approx(0.5, rel=1e-6)
    assert accounting.renyi_of_epsilon(ours, order=order, delta=1e-6) <= 0.5 * (1 + 1e-9)


def test_a_secret_sample_loses_less():
    """Balle, Barthe, Gaboardi 2018: ln(1 + rate (e^epsilon - 1)), rate delta."""
    loss = accounting.subsampled(Loss(1, 1e-6), rate=0.1)
    assert loss.epsilon == pytest.approx(math.log(1 + 0.1 * (math.e - 1)))
    assert loss.delta == pytest.approx(1e-7)
    with pytest.raises(DiscreetError):
        accounting.subsampled(Loss(1), rate=1.5)


def test_a_sampled_answer_has_the_profile_of_its_exact_law():
    """Randomized response on a person who is there with probability 1/4: two outcomes, worked out by hand."""
    epsilon, rate = 1.0, 0.25
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    absent = [truth, 1 - truth]
    present = [rate * (1 - truth) + (1 - rate) * truth, rate * truth + (1 - rate) * (1 - truth)]
    amplified = Subsampled(RandomizedResponse(epsilon=epsilon), rate)
    for at in (0.0, 0.1, 0.2, 0.3):
        real = max(
            sum(max(0.0, p - math.exp(at) * q) for p, q in zip(a, b, strict=True))
            for a, b in ((present, absent), (absent, present))
        )
        assert real <= amplified.profile(at) * (1 + 1e-12)
    assert amplified.pure_epsilon == pytest.approx(math.log(1 + rate * math.expm1(epsilon)))


def test_sampled_compositions_agree_with_dp_accounting():
    rate, epsilon, count = 0.02, 1.0, 100
    accountant = dp_accounting.pld.PLDAccountant()
    accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.LaplaceDpEvent(1 / epsilon)), count)
    ours = accounting.compose(
        [Subsampled(Laplace(sensitivity=4096, epsilon=epsilon), rate)] * count, delta=1e-6
    ).epsilon
    theirs = accountant.get_epsilon(1e-6)
    assert theirs * (1 - 1e-3) <= ours <= theirs * 1.25  # one curve for both directions costs some tightness


def test_calibration_uses_up_the_target_and_no_more():
    target = Loss(1, 1e-6)
    made = accounting.calibrate(lambda rho: Gaussian.for_rho(sensitivity=1, rho=rho), target=target, count=50)
    used = accounting.compose([made] * 50, delta=1e-6).epsilon
    assert 0.999 <= used <= 1
    pure = accounting.calibrate(lambda epsilon: Laplace(sensitivity=1, epsilon=epsilon), target=Loss(2), count=4)
    assert pure.pure_epsilon == pytest.approx(0.5, rel=1e-5)
    assert pure.pure_epsilon <= 0.5


def test_epsilon_for_an_accuracy_is_the_mechanisms_own():
    asked = {"error": 50, "confidence": 0.95, "sensitivity": 1}
    assert accounting.epsilon_for(Laplace, **asked) == Laplace.epsilon_for(**asked)


def test_the_trade_off_of_an_answer_is_the_two_lines_of_the_slide():
    """Toronto slides: TPR <= e^epsilon FPR, and the mirror image."""
    rates = np.linspace(0, 1, 101)
    found = accounting.true_positive_rates(RandomizedResponse(epsilon=1), rates)
    lines = np.minimum(np.minimum(math.e * rates, 1 - (1 - rates) / math.e), 1.0)
    assert np.abs(found - np.maximum(lines, rates)).max() < 1e-6


def test_the_trade_off_of_gauss_is_gaussian():
    from scipy import stats

    rates = np.linspace(0.001, 0.999, 50)
    found = accounting.true_positive_rates(Gaussian.for_rho(sensitivity=4096, rho=0.5), rates)
    exactly = stats.norm.sf(stats.norm.isf(rates) - 1)
    assert (found >= exactly - 1e-9).all()
    assert np.abs(found - exactly).max() < 2e-4


def test_the_trade_off_rises_and_is_never_below_a_coin_toss():
    rates = np.linspace(0, 1, 200)
    found = accounting.true_positive_rates(Composed.of([Laplace(sensitivity=1, epsilon=0.1)] * 20), rates)
    assert (np.diff(found) >= -1e-12).all()
    assert (found >= rates).all()
    assert found[-1] == 1


@pytest.mark.parametrize(
    "picture",
    [
        accounting.plot_tradeoff({"count & more": Laplace(sensitivity=1, epsilon=1)}),
        accounting.plot_profile({"<gauss>": Gaussian.for_rho(sensitivity=1, rho=0.1)}, largest_epsilon=3),
    ],
)
def test_a_picture_is_well_formed_and_says_what_it_shows(picture, tmp_path):
    root = ET.fromstring(picture._repr_svg_())
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert any(name in texts for name in ("count & more", "<gauss>"))
    assert root.attrib["aria-label"]
    picture.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text() == picture.svg
