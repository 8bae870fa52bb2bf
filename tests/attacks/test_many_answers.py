"""The attacks on many answers are no stubs: behind a curator that gives away what was not paid for, they succeed."""

import pytest

from discreet import attacks
from tests.attacks.many_answers import generous

__all__ = ["generous"]


@pytest.mark.parametrize(
    "name",
    [
        "reconstruction",
        "exhaustive",
        "census",
        "membership",
        "tracing",
        "tracing-keys",
        "reduction-to-membership",
        "reduction-to-reconstruction",
    ],
)
def test_a_curator_without_noise_is_noticed(name, generous):
    found = attacks.run(name, against="discreet", epsilon=0.1, size="small", trials=3, seed=20)
    assert found.success > 0.7
    assert not found.holds(), found
