"""Sums of columns and of their products: one release from which regressions and components follow, free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

import numpy as np

from discreet.core.exact import exact
from discreet.learning.data.features import Feature, attribute_of, ends_of, name_of
from discreet.learning.models.learned_model import Floats, Model
from discreet.learning.runs.measurement_plan import NoisyMeasurement, Work, work_of_products
from discreet.learning.runs.model_card import LearnedNumber
from discreet.ledger.charges.release_json import mechanism_from_json_as
from discreet.measurement.domain import Bin, Domain
from discreet.measurement.feature_vectors import SCALE, Design, SumMeasurer
from discreet.measurement.transcript import Transcript
from discreet.mechanisms import Gaussian


def design_of(features: Sequence[Feature], domain: Domain) -> Design:
    """Return the layout of the vector that a model reads from a row.

    Args:
        features: Features of the model.
        domain: Public description of the rows.
    """
    return Design(tuple(attribute_of(feature, domain.column(name_of(feature))) for feature in features))


def product_measurement(design: Design, measurer: SumMeasurer, share: Fraction) -> NoisyMeasurement[Gaussian]:
    """Plan the measurement of all products.

    Args:
        design: Layout of the vector.
        measurer: Measures the rows, or plans without rows.
        share: Share of the budget.
    """
    return NoisyMeasurement("products", design.products[0].size, measurer.products_noise(design, share), SCALE**2)


@dataclass(frozen=True)
class NoisyProducts:
    """The noisy matrix of products of columns scaled to [-1, 1], and the deviation of its noise."""

    design: Design
    matrix: Floats
    deviation: float

    @classmethod
    def of(cls, design: Design, transcript: Transcript, step: int = 0) -> NoisyProducts:
        """Read the products from a step of a run.

        Args:
            design: Layout of the vector.
            transcript: Transcript of the run.
            step: Index of the step.
        """
        noise = mechanism_from_json_as(Gaussian, transcript.steps[step].about["paid"])
        matrix = design.matrix(transcript.steps[step].outcome.astype(np.float64)) / SCALE**2
        return cls(design, matrix, math.sqrt(float(exact(noise.variance))) / SCALE**2)

    @property
    def rows(self) -> float:
        """Number of rows, at least 1."""
        return max(float(self.matrix[0, 0]), 1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class Moments(Model):
    """Sums of columns and of their products, measured together with Gaussian noise.

    `LinearRegression.from_moments` and `PCA.from_moments` follow from them, free.
    """

    products: NoisyProducts = field(init=False)

    needs_rho = True

    def check(self, domain: Domain) -> None:
        design_of(self.all_features, domain)

    def work(self, domain: Domain) -> Work:
        return work_of_products(design_of(self.all_features, domain))

    def measurements(self, measurer: SumMeasurer) -> list[NoisyMeasurement[Gaussian]]:
        return [product_measurement(design_of(self.all_features, measurer.domain), measurer, measurer.left)]

    def measure(self, measurer: SumMeasurer) -> None:
        (planned,) = self.measurements(measurer)
        measurer.products(design_of(self.all_features, measurer.domain), planned.noise)

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        self.products = NoisyProducts.of(design_of(self.all_features, domain), transcript)

    @property
    def entries(self) -> list[str]:
        """Name of each entry of the vector."""
        return entry_names(self.products.design, self.domain)

    @property
    def learned(self) -> list[LearnedNumber]:
        names, products = self.entries, self.products
        first, second = products.design.products
        named = [_product_name(names[a], names[b]) for a, b in zip(first, second, strict=True)]
        values = [float(products.matrix[a, b]) for a, b in zip(first, second, strict=True)]
        return [LearnedNumber(name, value, products.deviation) for name, value in zip(named, values, strict=True)]

    @property
    def remarks(self) -> list[str]:
        return ["columns are scaled to [-1, 1] between their bounds; ± covers the noise of the sums of these"]


def _product_name(first: str, second: str) -> str:
    if first == "rows":
        return second if second == "rows" else f"sum of {second}"
    return f"sum of {first} x {second}"


def entry_names(design: Design, domain: Domain) -> list[str]:
    """Return the name of each entry of a vector.

    Args:
        design: Layout of the vector.
        domain: Has the labels of the columns.
    """
    names = ["rows"]
    for attribute in design.attributes:
        labels = domain.column(attribute.column).labels
        names += (
            [attribute.column]
            if attribute.numbers is not None
            else [label_name(attribute.column, label) for label in labels]
        )
    return names


def label_name(column: str, label: object) -> str:
    """Return the name of a cell.

    Args:
        column: Column name.
        label: Label of the cell.
    """
    if not isinstance(label, Bin):
        return f"{column} = {'none' if label is None else label}"
    return f"{column} {end_name(label.lower)} to {end_name(label.upper)}"


def end_name(end: Fraction | date) -> str:
    """Return the end of a bin as text.

    Args:
        end: A number or a day.
    """
    return str(end) if isinstance(end, date) else f"{float(end):g}"


def to_original(design: Design, domain: Domain, sums: Floats, noise: float) -> Floats:
    """Return the matrix from weights of the scaled vector to weights of unscaled columns; cells become differences from
    their mean.

    Args:
        design: Layout of the scaled vector.
        domain: Has the bounds and labels of the columns.
        sums: Noisy sums of the vector over all rows; those of cells are their numbers of rows.
        noise: Deviation of the sums. A cell whose sum is within the noise has no weight in the mean.
    """
    rescaling = np.eye(design.width)
    for attribute, block in zip(design.attributes, design.blocks, strict=True):
        if attribute.numbers is not None:
            low, high = map(float, ends_of(domain.column(attribute.column)))
            rescaling[block, block] = 2 / (high - low)
            rescaling[0, block] = -(high + low) / (high - low)
        else:
            rows = np.where(sums[block] > 2 * noise, sums[block], 0.0)
            shares = rows / rows.sum() if rows.any() else np.full(attribute.width, 1 / attribute.width)
            rescaling[block, block] -= shares
            rescaling[0, block] = shares
    return rescaling
