"""An audit of `aim`: whoever knows everybody but one person, and every law, still cannot tell whether they are in it better than its price allows.

The worst case: two neighbours that are known but for the person, who is alone in a cell of every table, and the likelihood ratio of all that a run
draws, which no other test of the two beats (Neyman, Pearson 1933). Gaussian tables alone would make it normal, mu apart in its own standard
deviations, with mu = sqrt(2 rho); choices leak a little less than they pay for.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np

from discreet.measurement.measurer import Chosen, Measured
from discreet.synthetic.methods.aim import Aim
from tests.support.sources import SeededBits
from tests.synthetic.memory import InMemory, domain_of

DOMAIN = domain_of({"a": 2, "b": 2, "c": 2})
MARGINALS = dict.fromkeys(combinations("abc", 2), 1)
OTHERS = np.repeat(np.array([[0, 0, 0], [0, 1, 1]]), 500, axis=0)
PERSON = np.array([[1, 1, 1]])
RHO = 2
MU = math.sqrt(2 * RHO)


def likelihood_ratio(run, without, joined):
    """The logarithm of how much likelier it is that a run drew what it did with the person than without."""
    ratio, asked = 0.0, iter(run.asked)
    for measurement in run.measurements:
        if isinstance(measurement, Measured):
            absent, present = (measurer.exact(measurement.columns) for measurer in (without, joined))
            apart = (measurement.values - absent) ** 2 - (measurement.values - present) ** 2
            ratio += float(apart.sum()) / (2 * measurement.variance)
        elif isinstance(measurement, Chosen):
            estimates, weights, penalties = next(asked)
            absent, present = (
                _log_law(measurement, _scores(measurer, estimates, weights, penalties))
                for measurer in (without, joined)
            )
            ratio += present[measurement.columns] - absent[measurement.columns]
    return ratio


def _scores(measurer, estimates, weights, penalties):
    """As `worst` is documented: the weight of a table times how far its estimate is off, less the penalty."""
    return {
        columns: weights[columns] * (int(np.abs(64 * measurer.exact(columns) - estimate).sum()) - penalties[columns])
        for columns, estimate in estimates.items()
    }


def _log_law(measurement, scores):
    rate = Fraction(measurement.mechanism.epsilon) / (2 * Fraction(measurement.mechanism.sensitivity))
    exponents = {columns: float(rate * score) for columns, score in scores.items()}
    largest = max(exponents.values())
    norm = largest + math.log(sum(math.exp(exponent - largest) for exponent in exponents.values()))
    return {columns: exponent - norm for columns, exponent in exponents.items()}


@cache
def ratios(runs, times):
    """Of runs in which the person is counted so many times."""
    without, joined = (InMemory(DOMAIN, rows, rho=1) for rows in (OTHERS, np.concatenate([OTHERS, PERSON])))
    rows, bits = np.concatenate([OTHERS, *[PERSON] * times]), SeededBits(f"audit {times}")
    drawn = []
    for _ in range(runs):
        run = InMemory(DOMAIN, rows, rho=RHO, bits=bits)
        Aim().measure(run, MARGINALS)
        drawn.append(likelihood_ratio(run, without, joined))
    return np.array(drawn)


def audit(runs, *, times=1):
    """How many standard deviations apart the ratios are, with and without the person, who is counted so many times."""
    absent, present = ratios(runs, 0), ratios(runs, times)
    spread = math.sqrt((absent.var(ddof=1) + present.var(ddof=1)) / 2)
    return float(present.mean() - absent.mean()) / spread


def check(runs):
    """The distance is what was paid for, or less: the margin is six standard errors. Two thirds of it show that the audit has teeth."""
    told = audit(runs)
    assert 2 / 3 * MU < told < MU + 6 * math.sqrt((2 + MU**2 / 4) / runs), told
    return told


def test_nobody_tells_whether_a_person_is_in_it_better_than_was_paid_for():
    check(30)


def test_a_person_counted_twice_is_found_out():
    assert audit(30, times=2) > 1.6 * MU
