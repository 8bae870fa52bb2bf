import math

import numpy as np
import pytest

from discreet.errors import BadBounds, BadData
from discreet.mechanisms import Snapping
from discreet.mechanisms.additive.snapping import _log_rounded
from tests.support.checks import granularity_tells_nothing
from tests.support.sources import SeededBits

pytestmark = pytest.mark.slow


def test_answers_lie_on_the_snapping_grid_within_the_bound():
    mechanism = Snapping(sensitivity=1, epsilon=0.3, bound=100)
    answers = np.array([mechanism.release(12.3, SeededBits(i)) for i in range(300)])
    assert float(mechanism.grid.step) == 4.0
    assert (np.abs(answers) <= 100).all()
    inside = answers[np.abs(answers) < 100]
    assert (inside % 4 == 0).all()


def test_the_noise_has_the_scale_it_says():
    mechanism, bits = Snapping(sensitivity=1, epsilon=1, bound=2**20), SeededBits("snap")
    answers = np.array([mechanism.release(0.0, bits) for _ in range(5_000)])
    # |noise| rounds to 0 when it is below half a step; the step is 2 (the least power of two above the scale).
    assert abs((answers == 0).mean() - (1 - math.exp(-1))) < 6.2 * math.sqrt(0.25 / 5_000)
    assert (np.abs(answers) <= mechanism.error(0.95)).mean() > 0.95 - 6.2 * math.sqrt(0.05 / 5_000)


def test_its_low_bits_do_not_tell_zero_from_one():
    mechanism, bits = Snapping(sensitivity=1, epsilon=1, bound=1000), SeededBits("low bits")

    def release(value, count):
        return np.repeat([mechanism.release(value, bits) for _ in range(count // 80)], 80)

    granularity_tells_nothing(release, 1.0)


@pytest.mark.parametrize("u", [0.5, 0.1, 1 - 2**-53, 5e-324, 1e-300])
def test_the_logarithm_is_the_nearest_float(u):
    assert _log_rounded(u) == pytest.approx(math.log(u), rel=4e-16)


@pytest.mark.parametrize("bound", [0, 0.5, 1e30, float("nan"), None])
def test_a_bound_outside_the_theorem_is_refused(bound):
    with pytest.raises(BadBounds):
        Snapping(sensitivity=1, epsilon=1, bound=bound)


def test_nan_is_refused():
    with pytest.raises(BadData):
        Snapping(sensitivity=1, epsilon=1, bound=10).release(float("nan"), SeededBits(0))
