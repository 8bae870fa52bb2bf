"""Logistic regression by noisy gradient passes over all rows.

Steps follow from the noisy products, without a learning rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import exact, read_count
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Floats
from discreet.learning.models.linear import tables_of
from discreet.learning.models.product_moments import (
    NoisyProducts,
    design_of,
    entry_names,
    product_measurement,
    to_original,
)
from discreet.learning.runs.measurement_plan import NoisyMeasurement, Work, work_of_products
from discreet.learning.runs.model_card import LearnedNumber
from discreet.ledger.charges.release_json import mechanism_from_json_as
from discreet.measurement.domain import Domain
from discreet.measurement.feature_vectors import SCALE, WEIGHTS, WHOLE, Deciding, Design, SumMeasurer, on_weights
from discreet.measurement.transcript import Step, Transcript
from discreet.mechanisms import Gaussian

PRODUCTS_SHARE = 3
"""Tenths of the cost for the products; the passes share the rest."""
MOST_PASSES = 100
_SHIFT = 0.7
"""Weight of a known squared bias in a variance: 95 % intervals then cover about 95 % up to a bias of two deviations."""
_STEP = 1e-9
"""Seconds per cubed width: the curvature is computed by an eigendecomposition."""


@dataclass(frozen=True)
class Steps:
    """Step sizes from the noisy curvature, which is bounded below by what noise alone can be.

    Along eigenvector i, a gradient g moves the weights by g / curvature_i.
    """

    vectors: Floats
    values: Floats
    """Eigenvalues of the products, at least 0."""
    curvature: Floats
    is_known: NDArray[np.bool_]
    """Whether the products determine the curvature, and not the lower bound."""

    @classmethod
    def of(cls, products: NoisyProducts, *, classes: int) -> Steps:
        """Bound the curvature: p(1 - p) is at most 1/4 for two classes, the covariance of more classes at most 1/2.

        Args:
            products: Products of the features.
            classes: Number of classes.
        """
        most = 0.25 if classes == 2 else 0.5
        values, vectors = np.linalg.eigh(products.matrix)
        least = max(2 * most * products.deviation * math.sqrt(len(values)), 1e-9)
        return cls(vectors, np.maximum(values, 0), np.maximum(most * values, least), most * values > least)

    def after(self, weights: Floats, gradient: Floats) -> Floats:
        """Take a step, for each row of weights.

        Args:
            weights: Before the step.
            gradient: At these weights.
        """
        return weights - ((gradient @ self.vectors) / self.curvature) @ self.vectors.T


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegression(Classifier):
    """Class probabilities by a weight for each number and each cell.

    Intervals are for the weights of the fit without noise.

    Args:
        passes: Number of passes over all rows. The weights are the mean of the last half of them.
    """

    passes: int = 10
    weights: Floats = field(init=False)
    deviations: Floats = field(init=False)
    rescaling: Floats = field(init=False)
    """Matrix from weights of scaled columns to the weights that are shown."""

    needs_rho = True

    def __post_init__(self) -> None:
        super().__post_init__()
        read_count(self.passes, name="passes", most=MOST_PASSES)

    def _settings(self) -> dict[str, Any]:
        return {"passes": self.passes}

    def check(self, domain: Domain) -> None:
        super().check(domain)
        design_of(self.features, domain)

    def work(self, domain: Domain) -> Work:
        design, count = self._design(domain)
        passes = Work(self.passes * count * len(design.attributes), _STEP * design.width**3)
        return work_of_products(design) + passes

    def _design(self, domain: Domain) -> tuple[Design, int]:
        """Return the layout of the features, and the number of rows of weights: one for two classes."""
        classes = domain.column(self.target).size
        return design_of(self.features, domain), 1 if classes == 2 else classes

    def measurements(self, measurer: SumMeasurer) -> list[NoisyMeasurement[Gaussian]]:
        design, count = self._design(measurer.domain)
        first, each, *_ = measurer.shares([PRODUCTS_SHARE * self.passes, *[10 - PRODUCTS_SHARE] * self.passes])
        noise = measurer.gradient_noise(design, self.target, count, each)
        a_pass = NoisyMeasurement("pass", count * design.width, noise, WHOLE * SCALE)
        return [product_measurement(design, measurer, first), *[a_pass] * self.passes]

    def measure(self, measurer: SumMeasurer) -> None:
        design, count = self._design(measurer.domain)
        first, *passes = self.measurements(measurer)
        outcome = measurer.products(design, first.noise)
        steps = Steps.of(_products(design, outcome, first.noise), classes=measurer.domain.column(self.target).size)
        weights = np.zeros((count, design.width), np.int64)
        for planned in passes:
            gradient = measurer.gradient(design, self.target, weights, planned.noise)
            weights = on_weights(steps.after(weights / WEIGHTS, gradient / (WHOLE * SCALE)))

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        design, _ = self._design(domain)
        products = NoisyProducts.of(design, transcript)
        steps = Steps.of(products, classes=domain.column(self.target).size)
        self.rescaling = to_original(design, domain, products.matrix[0], products.deviation)
        passes = transcript.steps[1:]
        last = passes[-((len(passes) + 1) // 2) :]
        self.weights = np.mean([_after(steps, step) for step in last], axis=0)
        self.deviations = np.stack(
            [self._deviation(steps, products, row, _noise_of(passes[0]), self.rescaling) for row in self.weights]
        )

    def _deviation(
        self, steps: Steps, products: NoisyProducts, weights: Floats, noise: float, rescaling: Floats
    ) -> Floats:
        """Return the deviations of weights: the noise to first order, and the remaining bias of a descent from 0.

        The noise is linearised at shrunken weights, because noise alone already spreads the scores.
        """
        _, spread = _normal(products)
        roughly = steps.vectors @ self._covariance(steps, _curvature(products, weights)[0], noise) @ steps.vectors.T
        scores = max(float(weights @ spread @ weights), 1e-9)
        truly = max(scores - max(float((spread * roughly).sum()), 0.0), scores / 16)
        shortened = weights * math.sqrt(truly / scores)
        curvature, level = _curvature(products, shortened)
        half = (self.passes + 1) // 2
        kept = (1 - level * steps.values / steps.curvature)[:, None] ** np.arange(
            self.passes - half + 1, self.passes + 1
        )
        left = np.clip(kept.mean(axis=1), 0, 0.9)
        missing = np.where(steps.is_known, 0, left / (1 - left) * (weights @ steps.vectors))
        whole = rescaling @ steps.vectors
        noisy = ((whole @ self._covariance(steps, curvature, noise)) * whole).sum(axis=1)
        shift = _SHIFT * (rescaling @ self._way_left(steps, products, shortened)) ** 2
        return np.sqrt(np.maximum(noisy + shift + (whole**2) @ missing**2, 0))

    def _way_left(self, steps: Steps, products: NoisyProducts, weights: Floats) -> Floats:
        """Return the bias of the mean of the last passes of a descent from 0, for normal rows, in known directions."""
        normal, path = _normal(products), [np.zeros_like(weights)]
        target, known = _mean_of_p(normal, weights), steps.vectors[:, steps.is_known]
        for _ in range(self.passes):
            path.append(steps.after(path[-1], products.rows * (_mean_of_p(normal, path[-1]) - target)))
        return known @ (known.T @ (weights - np.mean(path[-((self.passes + 1) // 2) :], axis=0)))

    def _covariance(self, steps: Steps, curvature: Floats, noise: float) -> Floats:
        """Return the covariance of the mean of the last passes, along the eigenvectors.

        In each pass the error becomes e ← (I - PH)e - Pξ.
        """
        half = (self.passes + 1) // 2
        stepped = np.eye(len(steps.values)) - (steps.vectors.T @ curvature @ steps.vectors) / steps.curvature[:, None]
        powers = [np.eye(len(stepped))]
        for _ in range(self.passes):
            powers.append(powers[-1] @ stepped)
        covariance = np.eye(len(stepped)) / (12 * WEIGHTS**2 * half)
        for drawn in range(self.passes):
            ends = [end for end in range(self.passes - half + 1, self.passes + 1) if end > drawn]
            moved = sum(powers[end - 1 - drawn] for end in ends) / half * (noise / steps.curvature)
            covariance += moved @ moved.T
        return covariance

    @property
    def learned(self) -> list[LearnedNumber]:
        design, _ = self._design(self.domain)
        names = ["intercept", *entry_names(design, self.domain)[1:]]
        whose = [""] if len(self.weights) == 1 else [f"{label}: " for label in self.classes_]
        return [
            LearnedNumber(f"{prefix}{name}", value, deviation)
            for prefix, row, off in zip(whose, self.weights, self.deviations, strict=True)
            for name, value, deviation in zip(names, (self.rescaling @ row).tolist(), off.tolist(), strict=True)
        ]

    @property
    def remarks(self) -> list[str]:
        return [
            "± is for the weights of the same fit without noise; weights of cells are relative to their mean over rows"
        ]

    @property
    def coef_(self) -> Floats:
        """The coefficients: one row per class, or a single row for two classes."""
        return np.array([each.value for each in self.learned]).reshape(len(self.weights), -1)[:, 1:]

    @property
    def intercept_(self) -> Floats:
        """The intercept of each row of coefficients."""
        return np.array([each.value for each in self.learned]).reshape(len(self.weights), -1)[:, 0]

    def decision_function(self, rows: Any) -> Floats:
        """Return the score of each row: of the second of two classes, or of each class.

        Args:
            rows: In a form that `fit` reads.
        """
        design, _ = self._design(self.domain)
        codes = self.codes(rows)
        scores = np.stack([row[0] + self._by_column(tables_of(design, row), codes) for row in self.weights], axis=1)
        return scores[:, 0] if len(self.weights) == 1 else scores

    def deciding(self) -> Deciding:
        design, _ = self._design(self.domain)
        weights = np.vstack([np.zeros(design.width), self.weights]) if len(self.weights) == 1 else self.weights
        each = [tables_of(design, row) for row in weights]
        return self._by_scores(
            weights[:, 0], {name: np.stack([tables[name] for tables in each], axis=1) for name in each[0]}
        )

    def predict_proba(self, rows: Any) -> Floats:
        scores = self.decision_function(rows)
        scores = np.stack([np.zeros(len(scores)), scores], axis=1) if scores.ndim == 1 else scores
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)


def _products(design: Design, outcome: Any, noise: Gaussian) -> NoisyProducts:
    return NoisyProducts(design, design.matrix(outcome.astype(np.float64)) / SCALE**2, noise.sigma / SCALE**2)


def _after(steps: Steps, step: Step) -> Floats:
    """Return the weights after a stored pass, from the weights that it was computed at."""
    weights = np.array(step.about["weights"], np.float64) / WEIGHTS
    return steps.after(weights, step.outcome.reshape(weights.shape) / (WHOLE * SCALE))


def _noise_of(step: Step) -> float:
    noise = mechanism_from_json_as(Gaussian, step.about["paid"])
    return math.sqrt(float(exact(noise.variance))) / (WHOLE * SCALE)


def _mean_of_p(normal: tuple[Floats, Floats], weights: Floats) -> Floats:
    """Return the mean of p x over normal rows: E[pξ] = E[p(1 - p)]Σw (Stein)."""
    mean, spread = normal
    chance, shares, _, _ = _chances(mean, spread, weights)
    return float(shares @ chance) * mean + float(shares @ (chance * (1 - chance))) * (spread @ weights)


def _curvature(products: NoisyProducts, weights: Floats) -> tuple[Floats, float]:
    """Return the sum of p(1 - p) x xᵀ over normal rows with the mean and covariance of the products, and the mean of
    p(1 - p).

    With v = p(1 - p) of a normal score, E[vξ] = E[v']Σw and E[vξξᵀ] = E[v]Σ + E[v'']ΣwwᵀΣ (Stein).
    """
    mean, spread = _normal(products)
    chance, shares, points, width = _chances(mean, spread, weights)
    variance, along = chance * (1 - chance), spread @ weights
    level, slope, bend = (
        float((shares * variance * form).sum()) for form in (1, points / width, (points**2 - 1) / width**2)
    )
    mixed = slope * np.outer(mean, along)
    curved = level * (spread + np.outer(mean, mean)) + mixed + mixed.T + bend * np.outer(along, along)
    values, vectors = np.linalg.eigh(curved)
    return products.rows * (vectors * np.maximum(values, 0)) @ vectors.T, level


def _normal(products: NoisyProducts) -> tuple[Floats, Floats]:
    """Return the mean and the covariance of rows."""
    mean = products.matrix[0] / products.rows
    return mean, products.matrix / products.rows - np.outer(mean, mean)


def _chances(mean: Floats, spread: Floats, weights: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Return nodes to integrate over the scores of normal rows (Gauss-Hermite).

    Probabilities and weights of the nodes, the nodes in deviations from the mean, and the deviation.
    """
    width = math.sqrt(max(float(weights @ spread @ weights), 1e-9))
    points, shares = np.polynomial.hermite_e.hermegauss(48)
    chance = 1 / (1 + np.exp(-np.clip(float(weights @ mean) + width * points, -30, 30)))
    return chance, shares / shares.sum(), points, width
