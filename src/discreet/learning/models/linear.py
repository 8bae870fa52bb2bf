"""Linear regression from noisy products: least squares for any target, with an interval for every coefficient."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.exact import Number, read_sensitivity
from discreet.errors import BadInput
from discreet.learning.data.features import Feature, column_of, ends_of, name_of
from discreet.learning.models.learned_model import Floats, Model
from discreet.learning.models.product_moments import (
    Moments,
    NoisyProducts,
    design_of,
    entry_names,
    product_measurement,
    to_original,
)
from discreet.learning.runs.measurement_plan import NoisyMeasurement, Work, work_of_products
from discreet.learning.runs.model_card import LearnedNumber
from discreet.measurement.domain import Domain
from discreet.measurement.feature_vectors import SCALE, SumMeasurer
from discreet.measurement.transcript import Transcript
from discreet.mechanisms import Gaussian


@dataclass(frozen=True)
class Line:
    """Weights of a scaled vector that predict a scaled target, and the covariance of their errors."""

    predictors: tuple[int, ...]
    """Their indices in the vector."""
    weights: Floats
    covariance: Floats
    sums: Floats
    """Noisy sums of the predictors over all rows."""
    noise: float

    @classmethod
    def through(cls, products: NoisyProducts, target: int, *, ridge: float) -> Line:
        """Compute least squares, with eigenvalues of at least 3/2 of the largest that noise alone has.

        The covariance is G⁻¹(σ²(1 + |w|²)I + σ²(wwᵀ - diag w²) + s²G)G⁻¹: the noise of the target's products, the noise
        of the other products, and the sampling of rows from the population.

        Args:
            products: Products of all columns.
            target: Index of the target in the vector.
            ridge: Added to every eigenvalue, in rows.
        """
        design, noise = products.design, products.deviation
        kept = np.array([at for at in range(design.width) if at != target])
        among, towards = products.matrix[np.ix_(kept, kept)], products.matrix[kept, target]
        values, vectors = np.linalg.eigh(among)
        least = 3 * noise * math.sqrt(len(kept))
        inverse = (vectors / np.maximum(values + ridge, max(least, 1e-9))) @ vectors.T
        weights = inverse @ towards
        left_over = products.matrix[target, target] - 2 * weights @ towards + weights @ among @ weights
        spread = min(max(left_over / products.rows, 0.0), 4.0)
        drawn = spread * (vectors * np.maximum(values, 0)) @ vectors.T
        noisy = noise**2 * (
            (1 + weights @ weights) * np.eye(len(kept)) + np.outer(weights, weights) - np.diag(weights**2)
        )
        covariance = inverse @ (noisy + drawn) @ inverse
        return cls(tuple(kept.tolist()), weights, covariance, products.matrix[0, kept], noise)


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(Model):
    """Least squares from one release of products. Intervals are for the coefficients of the population.

    Args:
        target: A `Number` with its bounds, or its name if a curator learns.
        ridge: Added to every eigenvalue, in rows. By default nothing is added.
    """

    target: Feature = "y"
    ridge: Number | None = None
    line: Line = field(init=False)

    needs_rho = True

    @property
    def all_features(self) -> list[Feature]:
        return [*self.features, self.target]

    @property
    def label(self) -> str | None:
        return name_of(self.target)

    def _settings(self) -> dict[str, Any]:
        return {} if self.ridge is None else {"ridge": str(read_sensitivity(self.ridge))}

    def _declared_columns(self) -> list[Any]:
        return [*super()._declared_columns(), column_of(self.target, bins=None)]

    def check(self, domain: Domain) -> None:
        self._settings()
        if design_of(self.all_features, domain).attributes[-1].numbers is None:
            raise BadInput(
                "The target is not a number.",
                next_step="Name a numeric column without bins, or learn a classifier such as a logistic model.",
            )

    def work(self, domain: Domain) -> Work:
        return work_of_products(design_of(self.all_features, domain))

    def measurements(self, measurer: SumMeasurer) -> list[NoisyMeasurement[Gaussian]]:
        return [product_measurement(design_of(self.all_features, measurer.domain), measurer, measurer.left)]

    def measure(self, measurer: SumMeasurer) -> None:
        (planned,) = self.measurements(measurer)
        measurer.products(design_of(self.all_features, measurer.domain), planned.noise)

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        products = NoisyProducts.of(design_of(self.all_features, domain), transcript)
        self.line = Line.through(products, products.design.width - 1, ridge=float(self.ridge or 0))

    @classmethod
    def from_moments(cls, moments: Moments, target: str, *, ridge: Number | None = None) -> LinearRegression:
        """Compute least squares for one column from all others, free.

        Args:
            moments: A learned model.
            target: A numeric column without bins.
            ridge: Added to every eigenvalue, in rows.
        """
        others = [feature for feature in moments.features if name_of(feature) != target]
        named = [feature for feature in moments.features if name_of(feature) == target]
        if not named or not others:
            raise BadInput("The target is not one of the measured columns.", next_step="Name another target.")
        line = cls(
            features=others, target=named[0], ridge=ridge, epsilon=moments.epsilon, delta=moments.delta, rho=moments.rho
        )
        line.check(moments.domain)
        line.adopt(moments)
        products = moments.products
        position = products.design.blocks[list(moments.features).index(named[0])].start
        line.line = Line.through(products, position, ridge=float(ridge or 0))
        return line

    @property
    def _half(self) -> tuple[float, float]:
        """The middle of the target's bounds, and half of their distance."""
        low, high = map(float, ends_of(self.domain.column(name_of(self.target))))
        return (low + high) / 2, (high - low) / 2

    @property
    def learned(self) -> list[LearnedNumber]:
        design = design_of(self.features, self.domain)
        rescaling = to_original(design, self.domain, self.line.sums, self.line.noise)
        middle, half = self._half
        values = half * rescaling @ self.line.weights
        values[0] += middle
        deviations = half * np.sqrt(np.maximum(np.diag(rescaling @ self.line.covariance @ rescaling.T), 0))
        names = ["intercept", *entry_names(design, self.domain)[1:]]
        return [LearnedNumber(*each) for each in zip(names, values.tolist(), deviations.tolist(), strict=True)]

    @property
    def remarks(self) -> list[str]:
        return [
            "± is for the population that the rows were sampled from; coefficients of cells are relative to their mean"
        ]

    @property
    def coef_(self) -> Floats:
        """The coefficients, in the order of the card."""
        return np.array([each.value for each in self.learned[1:]])

    @property
    def intercept_(self) -> float:
        """Prediction if all other terms are 0."""
        return self.learned[0].value

    def predict(self, rows: Any) -> Floats:
        """Predict the target of each row, within its bounds.

        Args:
            rows: In a form that `fit` reads.
        """
        design = design_of(self.features, self.domain)
        middle, half = self._half
        scaled = self.line.weights[0] + self._by_column(tables_of(design, self.line.weights), self.codes(rows))
        return middle + half * np.clip(scaled, -1, 1)

    def score(self, rows: Any, y: Any) -> float:
        """Return R², the explained share of the variance. It is exact and not private.

        Args:
            rows: In a form that `fit` reads.
            y: Their targets.
        """
        true = np.asarray(y, np.float64)
        return float(1 - ((true - self.predict(rows)) ** 2).sum() / ((true - true.mean()) ** 2).sum())


def tables_of(design: Any, weights: Floats) -> dict[str, Floats]:
    """Return what each code of each column adds to a score.

    Args:
        design: Layout of the scaled vector.
        weights: Weight of each entry of the vector.
    """
    tables = {}
    for attribute, block in zip(design.attributes, design.blocks, strict=True):
        own = weights[block]
        tables[attribute.column] = own if attribute.numbers is None else own[0] * np.array(attribute.numbers) / SCALE
    return tables
