"""How many rows there are, the sums of columns and of their products: one release, from which regressions and components follow for free."""

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
from discreet.learning.runs.measurement_plan import NoisyLook, Work, work_of_products
from discreet.learning.runs.model_card import Learned
from discreet.ledger.charges.release_json import mechanism_from_json_as
from discreet.measurement.domain import Bin, Domain
from discreet.measurement.feature_vectors import SCALE, Design, SumMeasurer
from discreet.measurement.transcript import Transcript
from discreet.mechanisms import Gaussian


def design_of(features: Sequence[Feature], domain: Domain) -> Design:
    """What a model sees of rows.

    Args:
        features: What it was told of columns.
        domain: What is public about them.
    """
    return Design(tuple(attribute_of(feature, domain.column(name_of(feature))) for feature in features))


def look_at_products(design: Design, measurer: SumMeasurer, share: Fraction) -> NoisyLook[Gaussian]:
    """The look at all products, for so much of a budget.

    Args:
        design: What is measured.
        measurer: Of the rows, or of nobody's.
        share: Of the budget.
    """
    return NoisyLook("products", design.products[0].size, measurer.products_noise(design, share), SCALE**2)


@dataclass(frozen=True)
class NoisyProducts:
    """The matrix of products of scaled columns, each from -1 to 1, with noise; and the deviation of that noise."""

    design: Design
    matrix: Floats
    deviation: float

    @classmethod
    def of(cls, design: Design, transcript: Transcript, step: int = 0) -> NoisyProducts:
        """From a step of a run.

        Args:
            design: What was measured.
            transcript: Of the run.
            step: Which one.
        """
        noise = mechanism_from_json_as(Gaussian, transcript.steps[step].about["paid"])
        matrix = design.matrix(transcript.steps[step].outcome.astype(np.float64)) / SCALE**2
        return cls(design, matrix, math.sqrt(float(exact(noise.variance))) / SCALE**2)

    @property
    def rows(self) -> float:
        """How many there are, at least 1."""
        return max(float(self.matrix[0, 0]), 1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class Moments(Model):
    """Sums of columns and of their products, measured at once with Gaussian noise. From it
    `LinearRegression.from_moments` and `PCA.from_moments` cost nothing more.
    """

    products: NoisyProducts = field(init=False)

    needs_rho = True

    def check(self, domain: Domain) -> None:
        design_of(self.wanted, domain)

    def work(self, domain: Domain) -> Work:
        return work_of_products(design_of(self.wanted, domain))

    def looks(self, measurer: SumMeasurer) -> list[NoisyLook[Gaussian]]:
        return [look_at_products(design_of(self.wanted, measurer.domain), measurer, measurer.left)]

    def measure(self, measurer: SumMeasurer) -> None:
        (look,) = self.looks(measurer)
        measurer.products(design_of(self.wanted, measurer.domain), look.noise)

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        self.products = NoisyProducts.of(design_of(self.wanted, domain), transcript)

    @property
    def places(self) -> list[str]:
        """What each place of the vector is called."""
        return place_names(self.products.design, self.domain)

    @property
    def learned(self) -> list[Learned]:
        names, products = self.places, self.products
        first, second = products.design.products
        named = [_product_name(names[a], names[b]) for a, b in zip(first, second, strict=True)]
        values = [float(products.matrix[a, b]) for a, b in zip(first, second, strict=True)]
        return [Learned(name, value, products.deviation) for name, value in zip(named, values, strict=True)]

    @property
    def remarks(self) -> list[str]:
        return ["columns are scaled from -1 to 1 between their bounds; ± is the noise around the exact sums of these"]


def _product_name(first: str, second: str) -> str:
    if first == "rows":
        return second if second == "rows" else f"sum of {second}"
    return f"sum of {first} x {second}"


def place_names(design: Design, domain: Domain) -> list[str]:
    """What each place of a design's vector is called.

    Args:
        design: The vector.
        domain: With the labels of its columns.
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
    """What a cell is called.

    Args:
        column: Its column.
        label: Its label.
    """
    if not isinstance(label, Bin):
        return f"{column} = {'none' if label is None else label}"
    return f"{column} {end_name(label.lower)} to {end_name(label.upper)}"


def end_name(end: Fraction | date) -> str:
    """What an end of a bin is called.

    Args:
        end: A number or a day.
    """
    return str(end) if isinstance(end, date) else f"{float(end):g}"


def to_original(design: Design, domain: Domain, sums: Floats, noise: float) -> Floats:
    """The matrix that turns weights of a scaled vector into weights of columns as they are, and cells into differences from their mean over rows.

    Args:
        design: The scaled vector.
        domain: With the labels of its columns.
        sums: Of the vector over all rows, noisy: how many rows each cell has.
        noise: The deviation of theirs; a cell that it hides counts for nothing in a mean.
    """
    turned = np.eye(design.width)
    for attribute, block in zip(design.attributes, design.blocks, strict=True):
        if attribute.numbers is not None:
            low, high = map(float, ends_of(domain.column(attribute.column)))
            turned[block, block] = 2 / (high - low)
            turned[0, block] = -(high + low) / (high - low)
        else:
            rows = np.where(sums[block] > 2 * noise, sums[block], 0.0)
            shares = rows / rows.sum() if rows.any() else np.full(attribute.width, 1 / attribute.width)
            turned[block, block] -= shares
            turned[0, block] = shares
    return turned
