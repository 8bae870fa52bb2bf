"""Principal components from noisy products: the directions of largest variance of scaled columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.exact import read_count
from discreet.errors import BadInput
from discreet.learning.models.learned_model import Floats
from discreet.learning.models.product_moments import Moments, NoisyProducts, design_of
from discreet.learning.runs.model_card import LearnedNumber
from discreet.measurement.domain import Domain
from discreet.measurement.feature_vectors import SCALE
from discreet.measurement.transcript import Transcript


@dataclass(kw_only=True, eq=False, repr=False)
class PCA(Moments):
    """The directions of largest variance of columns, scaled to [-1, 1] between their bounds.

    Intervals cover the noise, to first order.

    Args:
        components: Number of components.
    """

    components: int = 2
    components_: Floats = field(init=False)
    explained_variance_: Floats = field(init=False)
    mean_: Floats = field(init=False)
    deviations: Floats = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_count(self.components, name="components")

    def _settings(self) -> dict[str, Any]:
        return {"components": self.components}

    def check(self, domain: Domain) -> None:
        width = design_of(self.all_features, domain).width - 1
        if self.components > width:
            raise BadInput(
                f"The columns have only {width} directions.", next_step=f"Ask for at most {width} components."
            )

    @classmethod
    def from_moments(cls, moments: Moments, *, components: int = 2) -> PCA:
        """Compute components from learned moments, free.

        Args:
            moments: A learned model.
            components: Number of components.
        """
        model = cls(
            features=moments.features,
            components=components,
            epsilon=moments.epsilon,
            delta=moments.delta,
            rho=moments.rho,
        )
        model.check(moments.domain)
        model.adopt(moments)
        model._find(moments.products)
        return model

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        self._find(NoisyProducts.of(design_of(self.all_features, domain), transcript))

    def _find(self, products: NoisyProducts) -> None:
        self.products = products
        self.mean_ = products.matrix[0, 1:] / products.rows
        spread = products.matrix[1:, 1:] / products.rows - np.outer(self.mean_, self.mean_)
        values, vectors = np.linalg.eigh(spread)
        order = np.argsort(-values)
        values, vectors = values[order], vectors[:, order]
        signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
        vectors = vectors * np.where(signs == 0, 1, signs)
        self.components_ = vectors[:, : self.components].T
        self.explained_variance_ = np.maximum(values[: self.components], 0)
        self.deviations = _rotation_by_noise(values, vectors, products.deviation / products.rows)[: self.components]

    @property
    def learned(self) -> list[LearnedNumber]:
        names, noise = self.entries[1:], self.products.deviation / self.products.rows
        numbers = []
        for at, (vector, value) in enumerate(zip(self.components_, self.explained_variance_, strict=True)):
            numbers.append(
                LearnedNumber(f"variance along {at + 1}", float(value), noise * float(np.sqrt(2 - (vector**4).sum())))
            )
            numbers += [
                LearnedNumber(f"{at + 1}: {name}", float(entry), float(off))
                for name, entry, off in zip(names, vector, self.deviations[at], strict=True)
            ]
        return numbers

    def transform(self, rows: Any) -> Floats:
        """Project rows onto the components.

        Args:
            rows: In a form that `fit` reads.
        """
        design, codes = self.products.design, self.codes(rows)
        whole = np.zeros((len(codes), design.width - 1))
        for at, (attribute, block) in enumerate(zip(design.attributes, design.blocks, strict=True)):
            if attribute.numbers is not None:
                whole[:, block.start - 1] = np.array(attribute.numbers)[codes[:, at]] / SCALE
            else:
                whole[np.arange(len(codes)), block.start - 1 + codes[:, at]] = 1
        return (whole - self.mean_) @ self.components_.T


def _rotation_by_noise(values: Floats, vectors: Floats, noise: float) -> Floats:
    """Estimate the error of each eigenvector's entries: Σ over the other vectors of entry² · min(1, (noise / gap)²)."""
    gaps = values[:, None] - values[None, :]
    with np.errstate(divide="ignore"):
        rotated = np.minimum((noise / np.where(gaps == 0, np.inf, gaps)) ** 2, 1.0)
    np.fill_diagonal(rotated, 0.0)
    return np.sqrt(rotated @ (vectors**2).T)
