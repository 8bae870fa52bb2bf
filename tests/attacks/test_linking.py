"""Linkage, Netflix, overlapping datasets, hashes and samples: tables that are published as they are."""

import numpy as np
import pytest

from discreet import attacks
from discreet.attacks.microdata import dictionary
from discreet.errors import BadInput
from discreet.samples.ratings import ratings
from discreet.samples.state import state
from tests.attacks.promises import FEW, is_kept_within_the_bound, succeeds, trials_at

CANDIDATES = {"linkage": 16, "netflix": 16, "dictionary": 16}
"""How many an attacker of Discreet has to choose from."""
MEDALLIONS = 18_278_000
ENOUGH = {"big-bang": 12, "sampling": 40}
"""Trials that notice a curator without noise (test_power.py)."""
ENOUGH_CANDIDATES = 14
"""The same where there are many candidates, at epsilon 1, too."""


def test_nine_in_ten_of_a_state_are_alone_with_zip_birth_date_and_sex():
    _, inverse, counts = np.unique(state(people=300_000).quasi_identifiers(), return_inverse=True, return_counts=True)
    assert 0.87 < (counts[inverse] == 1).mean() < 0.97


def test_a_patient_is_found_by_zip_birth_date_and_sex():
    found = succeeds("linkage", people=300_000, trials=500, at_least=0.85)
    assert 0.85 < found.details["unique by zip, birth date and sex"] < 1


def test_a_subscriber_is_found_by_eight_ratings_two_of_them_wrong():
    succeeds("netflix", at_least=0.95)
    assert attacks.run("netflix", size="small", known=2, wrong=2, seed=20).success < 0.1, "wrong ratings find nobody"


def test_ratings_are_of_one_film_once_and_few_films_are_popular():
    world = ratings(users=500, films=500)
    assert len(set(zip(world.users.tolist(), world.films.tolist(), strict=True))) == world.users.size
    sizes = np.diff(world.starts)
    assert sizes[:10].mean() > 10 * sizes[-100:].mean()
    assert set(world.stars.tolist()) == {1, 2, 3, 4, 5}


def test_counts_of_overlapping_datasets_solve_for_everybody_and_too_few_do_not():
    assert succeeds("big-bang", at_least=1.0).success == 1
    assert attacks.run("big-bang", size="small", datasets=0.25, seed=20).success < 0.9


def test_every_hashed_medallion_is_found_in_the_dictionary():
    found = succeeds("dictionary", at_least=1.0)
    assert found.details["medallions hashed"] == 26 * 10**3 + 26**2 * 10**3


def test_all_three_formats_of_medallions_are_listed_whole():
    """`make soak` hashes them all."""
    listed = {form: list(dictionary._blocks(form)) for form in dictionary._FORMATS}
    assert {form: sum(len(endings) for _, endings in blocks) for form, blocks in listed.items()} == {"9A99": 26 * 10**3, "AA999": 26**2 * 10**3, "AAA999": MEDALLIONS - 702_000}  # fmt: skip
    for blocks in listed.values():
        assert len({beginning for beginning, _ in blocks}) == len(blocks)
        assert all(len(set(endings)) == len(endings) for _, endings in blocks[:1])
        assert all(endings is blocks[0][1] for _, endings in blocks)
    assert "ZZZ" in dict(listed["AAA999"])


def name_every_taxi():
    """In a city so large that there are medallions of three letters."""
    found = attacks.run("dictionary", people=6_000, trials=200, seed=20)
    assert found.success == 1
    assert found.details["medallions hashed"] == MEDALLIONS


def test_a_sample_gives_somebody_away_every_time():
    found = succeeds("sampling", at_least=1.0)
    assert found.details["chance that a given person is in the sample"] == 0.01


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("name", ["linkage", "netflix", "big-bang", "dictionary", "sampling"])
def test_discreet_keeps_them_within_the_bound(name, epsilon):
    if name in CANDIDATES:
        trials = FEW if epsilon == 10 else ENOUGH_CANDIDATES
    else:
        trials = trials_at(epsilon, enough=ENOUGH[name])
    found = is_kept_within_the_bound(name, epsilon=epsilon, trials=trials)
    assert found.baseline == pytest.approx(1 / CANDIDATES.get(name, 2))
    if epsilon == 10:
        assert found.success > (0.45 if name in CANDIDATES else 0.7), "at epsilon 10 a sensible attacker is right"


def test_too_few_people_for_the_trials_are_refused_with_the_trials_that_fit():
    with pytest.raises(BadInput, match=r"trials=\d+") as caught:
        attacks.run("linkage", against="discreet", epsilon=1, people=500, seed=1)
    fits = int(caught.value.next_step.partition("trials=")[2].partition(",")[0])
    assert attacks.run("linkage", against="discreet", epsilon=1, people=500, trials=min(fits, 3), seed=1).trials > 0
    with pytest.raises(BadInput, match="more people"):
        attacks.run("linkage", against="discreet", epsilon=1, people=3)


def test_what_to_install_is_a_package_that_exists():
    from discreet.core.optional_imports import package_of

    assert [package_of(name) for name in ("sklearn", "scipy.sparse", "diffprivlib")] == [
        "scikit-learn", "scipy", "diffprivlib"
    ]  # fmt: skip
