"""Generated people whose truth is known, and how often the ± of models hold it."""

import numpy as np

from discreet.accounting.conversions import rho_of_epsilon
from discreet.learning import LinearRegression, LogisticRegression, Number
from discreet.learning.models import learned_model
from tests.support.sources import SeededBits

NAMES = ("a", "b", "c")
TRUE = np.array([0.4, 0.9, -0.7, 0.2])
FEATURES = [Number(name, -1, 1) for name in NAMES]


def people(count, seed):
    """Three numbers from -1 to 1, a chance of a class, a number with noise around a line."""
    rng = np.random.default_rng(seed)
    rows = {name: rng.uniform(-1, 1, count) for name in NAMES}
    scores = TRUE[0] + sum(weight * rows[name] for weight, name in zip(TRUE[1:], NAMES, strict=True))
    classes = (rng.random(count) < 1 / (1 + np.exp(-2 * scores))).astype(int)
    numbers = np.clip(scores + rng.normal(0, 0.4, count), -4, 4)
    return rows, classes, numbers


def without_noise(rows, classes):
    """The logistic fit of nobody's privacy, by Newton's steps."""
    x = np.column_stack([np.ones(len(classes)), *(rows[name] for name in NAMES)])
    weights = np.zeros(x.shape[1])
    for _ in range(12):
        chance = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x
        weights -= np.linalg.solve(curvature, x.T @ (chance - classes))
    return weights


def covered(kind, *, runs, count, epsilon, patch):
    """The share of coefficients that lie within ± in 95 of 100."""
    inside = []
    price = {"rho": rho_of_epsilon(epsilon, delta=1e-6), "features": FEATURES}
    for seed in range(runs):
        patch.setattr(learned_model, "_bits", SeededBits(f"{kind} {seed} {count} {epsilon}"))
        rows, classes, numbers = people(count, seed)
        if kind == "linear":
            learned, truth = LinearRegression(target=Number("y", -4, 4), **price).fit(rows, numbers), TRUE
        else:
            learned, truth = (
                LogisticRegression(classes=[0, 1], **price).fit(rows, classes),
                without_noise(rows, classes),
            )
        ends = [row["value"] for row in learned.card().intervals(0.95)]
        inside += [low <= value <= high for (low, high), value in zip(ends, truth, strict=True)]
    return float(np.mean(inside))
