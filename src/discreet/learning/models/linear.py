"""Straight lines from noisy products: least squares for any column as target, with the ± of every coefficient."""

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
    look_at_products,
    place_names,
    to_original,
)
from discreet.learning.runs.measurement_plan import NoisyLook, Work, work_of_products
from discreet.learning.runs.model_card import Learned
from discreet.measurement.domain import Domain
from discreet.measurement.feature_vectors import SCALE, SumMeasurer
from discreet.measurement.transcript import Transcript
from discreet.mechanisms import Gaussian


@dataclass(frozen=True)
class Line:
    """Weights of a scaled vector that predict a scaled target, and the covariance of their error."""

    places: tuple[int, ...]
    """Of the whole vector, those that predict."""
    weights: Floats
    covariance: Floats
    sums: Floats
    """Of those places over all rows, noisy."""
    noise: float

    @classmethod
    def through(cls, products: NoisyProducts, target: int, *, ridge: float) -> Line:
        """Least squares with eigenvalues that are at least three halves of the most that noise alone gives.

        The covariance is G⁻¹(σ²(1 + |w|²)I + σ²(wwᵀ - diag w²) + s²G)G⁻¹: noise of the target's products, noise of the others', and how the
        population's rows were drawn.

        Args:
            products: Of all columns.
            target: The place of the target.
            ridge: Added to every eigenvalue, in rows.
        """
        design, noise = products.design, products.deviation
        kept = np.array([place for place in range(design.width) if place != target])
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
    """Least squares from one release of products. ± of coefficients is around the population's.

    Args:
        target: A `Number` with its bounds, or its name where a curator knows them.
        ridge: Added to every eigenvalue, in rows; none unless given.
    """

    target: Feature = "y"
    ridge: Number | None = None
    line: Line = field(init=False)

    needs_rho = True

    @property
    def wanted(self) -> list[Feature]:
        return [*self.features, self.target]

    @property
    def label(self) -> str | None:
        return name_of(self.target)

    def _settings(self) -> dict[str, Any]:
        return {} if self.ridge is None else {"ridge": str(read_sensitivity(self.ridge))}

    def _columns_at_hand(self) -> list[Any]:
        return [*super()._columns_at_hand(), column_of(self.target, bins=None)]

    def check(self, domain: Domain) -> None:
        self._settings()
        if design_of(self.wanted, domain).attributes[-1].numbers is None:
            raise BadInput(
                "The target of a line is a number.",
                next_step="Name a column of numbers without bins, or learn a classifier: a logistic model.",
            )

    def work(self, domain: Domain) -> Work:
        return work_of_products(design_of(self.wanted, domain))

    def looks(self, measurer: SumMeasurer) -> list[NoisyLook[Gaussian]]:
        return [look_at_products(design_of(self.wanted, measurer.domain), measurer, measurer.left)]

    def measure(self, measurer: SumMeasurer) -> None:
        (look,) = self.looks(measurer)
        measurer.products(design_of(self.wanted, measurer.domain), look.noise)

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        products = NoisyProducts.of(design_of(self.wanted, domain), transcript)
        self.line = Line.through(products, products.design.width - 1, ridge=float(self.ridge or 0))

    @classmethod
    def from_moments(cls, moments: Moments, target: str, *, ridge: Number | None = None) -> LinearRegression:
        """Least squares for one column of moments by all others: nothing is spent.

        Args:
            moments: What was measured.
            target: The column, a number without bins.
            ridge: Added to every eigenvalue, in rows.
        """
        others = [feature for feature in moments.features if name_of(feature) != target]
        named = [feature for feature in moments.features if name_of(feature) == target]
        if not named or not others:
            raise BadInput("The target is one of the columns that were measured.", next_step="Name another target.")
        line = cls(
            features=others, target=named[0], ridge=ridge, epsilon=moments.epsilon, delta=moments.delta, rho=moments.rho
        )
        line.check(moments.domain)
        line.follow(moments)
        products = moments.products
        place = products.design.blocks[list(moments.features).index(named[0])].start
        line.line = Line.through(products, place, ridge=float(ridge or 0))
        return line

    @property
    def _half(self) -> tuple[float, float]:
        """The middle of the target's bounds, and half of what is between them."""
        low, high = map(float, ends_of(self.domain.column(name_of(self.target))))
        return (low + high) / 2, (high - low) / 2

    @property
    def learned(self) -> list[Learned]:
        design = design_of(self.features, self.domain)
        turned = to_original(design, self.domain, self.line.sums, self.line.noise)
        middle, half = self._half
        values = half * turned @ self.line.weights
        values[0] += middle
        deviations = half * np.sqrt(np.maximum(np.diag(turned @ self.line.covariance @ turned.T), 0))
        names = ["intercept", *place_names(design, self.domain)[1:]]
        return [Learned(*each) for each in zip(names, values.tolist(), deviations.tolist(), strict=True)]

    @property
    def remarks(self) -> list[str]:
        return [
            "± is around the coefficients of the population that the rows were drawn from; cells are differences from their mean over rows"
        ]

    @property
    def coef_(self) -> Floats:
        """The coefficients, in the order of the card."""
        return np.array([each.value for each in self.learned[1:]])

    @property
    def intercept_(self) -> float:
        """What is predicted where everything else is nothing."""
        return self.learned[0].value

    def predict(self, rows: Any) -> Floats:
        """The target of each row, within its bounds.

        Args:
            rows: As `fit` takes them.
        """
        design = design_of(self.features, self.domain)
        middle, half = self._half
        scaled = self.line.weights[0] + self._by_column(tables_of(design, self.line.weights), self.codes(rows))
        return middle + half * np.clip(scaled, -1, 1)

    def score(self, rows: Any, y: Any) -> float:
        """R², the share of the variance of rows at hand that is explained. It is exact, and so not private.

        Args:
            rows: As `fit` takes them.
            y: Their targets.
        """
        true = np.asarray(y, np.float64)
        return float(1 - ((true - self.predict(rows)) ** 2).sum() / ((true - true.mean()) ** 2).sum())


def tables_of(design: Any, weights: Floats) -> dict[str, Floats]:
    """What each code of a column adds to a score.

    Args:
        design: The scaled vector.
        weights: Of its places.
    """
    tables = {}
    for attribute, block in zip(design.attributes, design.blocks, strict=True):
        own = weights[block]
        tables[attribute.column] = own if attribute.numbers is None else own[0] * np.array(attribute.numbers) / SCALE
    return tables
