"""The rows of "what an attack may achieve", against numbers computed by hand."""

import math

import pytest

from discreet.attacks.lab import success_bounds

ROWS = {
    "membership": success_bounds.membership,
    "bit": success_bounds.bit,
    "tpr at 1 %": lambda epsilon, delta=0.0: success_bounds.tpr_at(0.01, epsilon, delta),
    "linkage among 100": lambda epsilon, delta=0.0: success_bounds.linkage(100, epsilon, delta),
    "inversion from 0.2": lambda epsilon, delta=0.0: success_bounds.inversion(0.2, epsilon, delta),
}
FLOORS = {"membership": 0.5, "bit": 0.5, "tpr at 1 %": 0.01, "linkage among 100": 0.01, "inversion from 0.2": 0.2}


@pytest.mark.parametrize(
    ("found", "by_hand"),
    [
        (success_bounds.membership(1), 0.7310585786300049),
        (success_bounds.membership(0.1), 0.52497918747894),
        (success_bounds.membership(math.log(3), 0.1), 3.1 / 4),
        (success_bounds.bit(1), 0.8807970779778823),
        (success_bounds.bit(math.log(3)), 0.9),
        (success_bounds.bit(math.log(3), 0.01), 9.04 / 10),
        (success_bounds.tpr_at(0.01, math.log(3)), 0.03),
        (success_bounds.tpr_at(0.5, math.log(3)), 1 - 0.5 / 3),
        (success_bounds.tpr_at(0.01, math.log(3), 0.02), 0.05),
        (success_bounds.linkage(10, math.log(2)), 0.2),
        (success_bounds.linkage(2, math.log(3)), 0.9),
        (success_bounds.linkage(2, math.log(1.5), 0.1), 0.85),
        (success_bounds.inversion(0.25, math.log(2), 0.1), 0.6),
    ],
)
def test_a_row_is_what_the_formula_gives_by_hand(found, by_hand):
    assert by_hand <= found == pytest.approx(by_hand, rel=1e-11)


@pytest.mark.parametrize("row", ROWS)
def test_a_bound_starts_at_guessing_rises_with_either_parameter_and_ends_at_one(row):
    bound = ROWS[row]
    assert bound(0.0) == pytest.approx(FLOORS[row])
    values = [bound(epsilon) for epsilon in (0.0, 0.1, 1, 3, 10, 100, 5000)]
    assert values == sorted(values)
    assert values[-1] == 1
    assert bound(1.0) <= bound(1.0, 1e-3) <= bound(1.0, 0.5) <= 1


def test_under_zcdp_the_best_epsilon_is_taken_and_it_is_above_the_gaussian_truth():
    rho = 0.5
    found = success_bounds.zcdp(rho, success_bounds.membership)
    truth = 0.5 * (1 + math.erf(0.5 / math.sqrt(2)))  # two unit Gaussians at distance 1 have rho one half
    assert truth < found < 0.8
    assert all(found <= success_bounds.membership(e, d) for e, d in [(2.0, 0.2), (3.5, 0.01), (0.0, 1.0)])
