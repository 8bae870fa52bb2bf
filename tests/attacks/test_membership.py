"""Who was in the study, and whose fingerprints and keys are in the data."""

import numpy as np
import pytest

from discreet import attacks
from discreet.attacks.membership.accusations import accuse
from discreet.attacks.membership.key_tracing import Broadcast
from tests.attacks.promises import is_kept_within_the_bound, succeeds

TRACERS = ("membership", "tracing", "tracing-keys")


@pytest.mark.parametrize(
    ("name", "release", "at_least"),
    [
        ("membership", "exact-means", 0.95),
        ("tracing", "rounded-means", 0.8),
        ("tracing", "noisy-means", 0.8),
        ("tracing-keys", "exact-counts", 1),
        ("tracing-keys", "noisy-counts", 0.9),
    ],
)
def test_members_stand_out_at_one_false_accusation_in_a_hundred(name, release, at_least):
    found = succeeds(name, against=release, at_least=at_least)
    assert found.baseline == 0.01


@pytest.mark.slow
def test_at_the_size_of_the_lectures_95_in_100_members_are_accused():
    found = attacks.run("membership", people=100, trials=2, seed=20)
    assert "10,000 variants" in found.transcript[0].text
    assert found.success >= 0.95


def test_noise_of_the_square_root_of_d_over_n_is_the_threshold():
    (curve,) = attacks.run("membership", size="small", trials=6, seed=20).series
    share = dict(zip(curve.x, curve.y, strict=True))
    assert share[0.05] > 0.9
    assert share[2.0] < 0.15


def test_one_is_accused_by_the_rule_of_the_slides_and_rightly():
    found = attacks.run("tracing-keys", against="noisy-counts", size="small", seed=20)
    assert found.details["one accused by the slides' rule, rightly"] == 1
    assert found.details["one accused by the slides' rule, wrongly"] == 0


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("name", TRACERS)
def test_discreet_keeps_accusations_within_the_bound(name, epsilon):
    found = is_kept_within_the_bound(name, epsilon=epsilon)
    if epsilon < 10:
        assert found.success < 0.3, "one in a hundred is expected, and not three in a hundred allowed"
    elif name == "tracing-keys":
        assert found.details["accused by querying each slot instead"] > 0.4


@pytest.mark.parametrize("innocents", [99, 150, 199])
def test_one_innocent_in_a_hundred_is_accused_whatever_the_scores(innocents):
    rng = np.random.default_rng(5)
    trials = 8000
    hits = sum(
        int(accuse(scores[:1], scores[1:], rng=rng)[0])
        for scores in rng.integers(0, 3, (trials, innocents + 1)).astype(float)
    )
    assert 0.003 < hits / trials < 0.017


def test_few_innocents_accuse_nobody():
    rng = np.random.default_rng(5)
    assert not accuse(np.full(5, 9.0), np.zeros(98), rng=rng).any()
    assert accuse(np.full(5, 9.0), np.zeros(99), rng=rng).all()


def test_a_tracing_ciphertext_says_one_to_the_first_slots_only():
    rng = np.random.default_rng(5)
    broadcast = Broadcast.draw(rng, colluders=10)
    nonces, last = rng.integers(1, 10**9, 50), rng.integers(0, broadcast.users + 1, 50)
    said = broadcast.decrypt(nonces, broadcast.trace(nonces, last))
    assert (said == (broadcast.colluders < last[:, None])).all()
    assert 0.4 < broadcast.trace(nonces, last).mean() < 0.6, "to whoever has no key, bits are coins"
