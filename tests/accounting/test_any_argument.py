"""Whatever is handed to a public function: an answer that is a number, or a refusal of ours. Never NaN, never a raw exception."""

import inspect
import math
import random
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from discreet import Loss, Neighbours, accounting, mechanisms
from discreet.accounting import Charge, Composed, LossDistribution, Subsampled, open_filter
from discreet.core import exact
from discreet.core.loss import read_loss, read_neighbours
from discreet.errors import DiscreetError
from discreet.mechanisms import Gaussian, Grid, Laplace, Mechanism, RandomizedResponse
from discreet.mechanisms.statistics import sensitivity


class Contrary:
    """Fails whoever converts, compares or hashes it."""

    __hash__ = None

    def __float__(self):
        raise RuntimeError("no number")

    def __eq__(self, other):
        raise RuntimeError("no comparison")


LAPLACE = Laplace(sensitivity=1, epsilon=0.5)
GAUSSIAN = Gaussian.for_rho(sensitivity=1, rho=0.1)
LOSS = Loss(0.1, 1e-8)


def laplace_at(epsilon):
    return Laplace(sensitivity=1, epsilon=epsilon)


NASTY = [
    *(math.nan, math.inf, -math.inf, 0, 0.0, -0.0, -1, 1, 2, 3, 0.5, -0.5, 0.999999, 5e-324, 1e-15, 1e16, 1e308, 700.0),
    *(10**400, -(10**400), Fraction(1, 3), Fraction(10**400), Fraction(1, 10**400), 1j),
    *(Decimal(text) for text in ("NaN", "sNaN", "Infinity", "-Infinity", "1e400", "1e-400", "0.5")),
    *(True, False, None, "", "0.5", "no", "renyi", "add-remove", b"x", [], [1], [None], (), {}, {"a": 1}, range(3)),
    *(object(), Contrary(), type, Laplace, print),
    *(np.float64("nan"), np.float32(0.5), np.int64(3), np.longdouble(1), np.True_),
    *(np.array(values) for values in (1.0, [], [1.0], [[1, 2]], ["x"], [math.nan, 2.0], [-1.0], [math.inf])),
    *(Loss(1), Loss(0), Loss(1e308, 1), [Loss(0.1), Loss(0.2, 1e-9)], Charge()),
    *(LAPLACE, GAUSSIAN, [LAPLACE, GAUSSIAN], {"a": LAPLACE}, Neighbours.ADD_REMOVE),
]

NAMED = {
    "advanced": {"loss": LOSS, "k": 3, "delta_slack": 1e-6},
    "basic": {"losses": [LOSS]},
    "binary_ish": {"loss": LOSS},
    "calibrate": {"make": laplace_at, "target": Loss(1), "count": 2},
    "compose": {"mechanisms": [LAPLACE, LAPLACE], "delta": 1e-6},
    "delta_of_rho": {"rho": 0.1, "epsilon": 1},
    "epsilon_for": {"mechanism": Laplace, "error": 5, "confidence": 0.95, "sensitivity": 1},
    "epsilon_of_renyi": {"divergence": 0.5, "order": 2, "delta": 1e-6},
    "epsilon_of_rho": {"rho": 0.1, "delta": 1e-6},
    "group": {"loss": LOSS, "k": 3},
    "limits": {"people": 100, "columns": 3, "queries": 2, "epsilon": 1, "delta": 1e-6, "confidence": 0.95},
    "open_filter": {"epsilon": 1, "delta": 1e-6, "kind": "renyi"},
    "optimal": {"losses": [LOSS, Loss(0.2)], "delta": 1e-6, "k": 3, "precision": 1e-2},
    "plot_profile": {"guarantees": {"a": LAPLACE}, "largest_epsilon": 2, "smallest_delta": 1e-9},
    "plot_tradeoff": {"guarantees": {"a": LAPLACE}},
    "renyi_of_epsilon": {"epsilon": 1, "order": 8, "delta": 1e-6},
    "rho_of_epsilon": {"epsilon": 1, "delta": 1e-6},
    "subsampled": {"loss": LOSS, "rate": 0.1},
    "true_positive_rates": {"guarantee": LAPLACE, "false_positive_rates": np.array([0.1, 0.5])},
}
"""Every function of accounting, with arguments that are right."""

CLASSES = {
    "AboveThreshold": {"epsilon": 1, "sensitivity": 1, "threshold": 3, "positives": 2, "monotone": False},
    "Adaptive": {"rho": 0.1},
    "BiasedCoin": {"gamma": 0.2},
    "Exponential": {"sensitivity": 1, "epsilon": 1, "size": 3, "monotone": True},
    "Gaussian": {"sensitivity": 1, "variance": 2, "size": 2},
    "GeneralizedExponential": {"sensitivities": (1, 2, 4), "epsilon": 1},
    "Ladder": {"epsilon": 1, "most": 3},
    "Laplace": {"sensitivity": 1, "epsilon": 1, "size": 2},
    "NoisyMax": {"sensitivity": 1, "epsilon": 1, "size": 3},
    "PartitionSelection": {"epsilon": 1, "delta": 1e-3},
    "PermuteAndFlip": {"sensitivity": 1, "epsilon": 1, "size": 3, "monotone": True},
    "PureAdaptive": {"epsilon": 1},
    "Quantile": {"q": 0.5, "lower": 0, "upper": 10, "epsilon": 1, "neighbours": "add-remove", "points": 64, "rows": 2},
    "RandomizedResponse": {"epsilon": 1, "categories": 3},
    "Snapping": {"sensitivity": 1, "epsilon": 1, "bound": 100.0},
}
"""Every mechanism, likewise."""

CURVES = {"profile": "epsilon", "epsilon_at": "delta", "renyi": "order", "deltas": "epsilons"}
READERS = ["epsilon", "epsilon_from_zero", "order", "delta", "sensitivity"]
BOUNDS = {"lower": 0, "upper": 1, "neighbours": "add-remove"}
DISTRIBUTION = LossDistribution.of(LAPLACE, step=1e-2)

TARGETS = {name: (getattr(accounting, name), right) for name, right in NAMED.items()}
TARGETS |= {name: (getattr(mechanisms, name), right) for name, right in CLASSES.items()}
TARGETS |= {
    f"{type(guarantee).__name__}.{curve}": (getattr(guarantee, curve), {argument: 1.5})
    for guarantee in (LAPLACE, GAUSSIAN, Composed.of([LAPLACE, GAUSSIAN]), Subsampled(LAPLACE, 0.1))
    for curve, argument in CURVES.items()
}
TARGETS |= {
    f"{account.kind} {method}": (getattr(account, method), {"total": Charge()})
    for account in (open_filter(1), open_filter(1, 1e-6), open_filter(1, 1e-6, kind="renyi"))
    for method in ("allows", "spent")
}
TARGETS |= {f"read_{name}": (getattr(exact, f"read_{name}"), {"value": 0.5}) for name in READERS}
TARGETS |= {
    "read_amount": (partial(exact.read_amount, name="rho"), {"value": 1}),
    "read_level": (partial(exact.read_level, name="level"), {"value": 0.5}),
    "read_count": (partial(exact.read_count, name="count"), {"value": 3}),
    "read_flag": (partial(exact.read_flag, name="flag"), {"value": True}),
    "read_bounds": (exact.read_bounds, {"lower": 0, "upper": 1}),
    "read_loss": (read_loss, {"value": LOSS}),
    "read_neighbours": (read_neighbours, {"value": "add-remove"}),
    "Loss": (Loss, {"epsilon": 1, "delta": 1e-6}),
    "Loss +": (LOSS.__add__, {"other": LOSS}),
    "Charge": (Charge, {"pure": 0, "rho": 0, "delta": 0}),
    "Charge.of": (Charge.of, {"releases": [LAPLACE]}),
    "Charge +": (Charge().__add__, {"other": Charge()}),
    "Composed": (Composed, {"parts": (LAPLACE,)}),
    "Composed.of": (Composed.of, {"parts": [LAPLACE]}),
    "Subsampled": (Subsampled, {"original": LAPLACE, "rate": 0.1}),
    "LossDistribution.of": (LossDistribution.of, {"guarantee": LAPLACE, "step": 1e-2}),
    "LossDistribution.times": (DISTRIBUTION.times, {"count": 3}),
    "LossDistribution.deltas": (DISTRIBUTION.deltas, {"epsilons": np.array([0.5])}),
    "LossDistribution.epsilon_at": (DISTRIBUTION.epsilon_at, {"delta": 1e-3}),
    "LossDistribution @": (DISTRIBUTION.__matmul__, {"other": DISTRIBUTION}),
    "Grid.given": (Grid.given, {"granularity": 1}),
    "Gaussian.for_rho": (Gaussian.for_rho, {"sensitivity": 1, "rho": 1, "size": 2}),
    "Gaussian.for_loss": (Gaussian.for_loss, {"sensitivity": 1, "epsilon": 1, "delta": 1e-6, "size": 1}),
    "Gaussian.classical": (Gaussian.classical, {"sensitivity": 1, "epsilon": 0.5, "delta": 1e-6, "size": 1}),
    "Laplace.epsilon_for": (Laplace.epsilon_for, {"error": 5, "confidence": 0.95, "sensitivity": 1}),
    "Gaussian.rho_for": (Gaussian.rho_for, {"error": 5, "confidence": 0.95, "sensitivity": 1}),
    "unbiased_count": (RandomizedResponse(epsilon=1).unbiased_count, {"ones": 3, "people": 9}),
    "keep_probability": (mechanisms.PartitionSelection(epsilon=1, delta=1e-3).keep_probability, {"people": 3}),
    "sensitivity.total": (sensitivity.total, BOUNDS),
    "sensitivity.mean": (sensitivity.mean, {**BOUNDS, "size": 5}),
    "sensitivity.median": (sensitivity.median, BOUNDS),
    "sensitivity.variance": (sensitivity.variance, {**BOUNDS, "size": 5}),
}


def attempt(function, arguments):
    """What came back must be sound, and so must what it promises."""
    try:
        made = function(**arguments)
        promises = _promises(made) if isinstance(made, Mechanism | Composed | Subsampled) else made
    except DiscreetError:
        return
    assert _sound(promises), f"{arguments} gave {promises}"


def _promises(made):
    values = [made.pure_epsilon, made.rho, made.profile(0.0), made.profile(1.0), made.renyi(2), made.epsilon_at(1e-3)]
    return [*values, made.error(0.9)] if isinstance(made, Mechanism) else values


def _sound(value):
    if isinstance(value, float):
        return not math.isnan(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind != "f" or not np.isnan(value).any()
    if isinstance(value, list | tuple):
        return all(map(_sound, value))
    return not isinstance(value, Loss) or _sound([value.epsilon, value.delta])


@pytest.mark.parametrize("name", TARGETS)
def test_one_nasty_argument_is_answered_or_refused(name):
    function, right = TARGETS[name]
    attempt(function, right)
    for argument in right:
        for nasty in NASTY:
            if argument != "make" or not callable(nasty):  # a caller's own function may raise what it likes
                attempt(function, {**right, argument: nasty})


@pytest.mark.parametrize("name", [name for name in TARGETS if len(TARGETS[name][1]) > 1 and name != "calibrate"])
def test_several_nasty_arguments_are_answered_or_refused(name):
    function, right = TARGETS[name]
    choose = random.Random(name)
    for _ in range(60):
        attempt(
            function,
            {argument: choose.choice([value, *choose.choices(NASTY, k=2)]) for argument, value in right.items()},
        )


def test_every_function_of_accounting_and_every_mechanism_is_tried():
    assert set(NAMED) == {name for name in accounting.__all__ if inspect.isfunction(getattr(accounting, name))}
    made = {name for name in mechanisms.__all__ if issubclass(getattr(mechanisms, name), Mechanism)} - {"Mechanism"}
    assert set(CLASSES) == made
    for name in made:
        required = {f.name for f in fields(getattr(mechanisms, name)) if f.init}
        assert set(CLASSES[name]) <= required


def test_a_parameter_too_many_or_too_few_is_named():
    with pytest.raises(DiscreetError, match="sensitivity"):
        Laplace.epsilon_for(error=5, confidence=0.9)
    with pytest.raises(DiscreetError, match="sensitivty"):
        accounting.epsilon_for(Laplace, error=5, confidence=0.9, sensitivty=1)
    with pytest.raises(DiscreetError, match="delta"):
        Gaussian.epsilon_for(error=5, confidence=0.9, sensitivity=1)
