"""Principal components from noisy products: directions in which scaled columns vary most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.exact import read_count
from discreet.errors import BadInput
from discreet.learning.models.learned_model import Floats
from discreet.learning.models.product_moments import Moments, NoisyProducts, design_of
from discreet.learning.runs.model_card import Learned
from discreet.measurement.domain import Domain
from discreet.measurement.feature_vectors import SCALE
from discreet.measurement.transcript import Transcript


@dataclass(kw_only=True, eq=False, repr=False)
class PCA(Moments):
    """The directions of largest variance of columns that are scaled from -1 to 1 between their bounds. ± is the noise, to first order.

    Args:
        components: How many.
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
        width = design_of(self.wanted, domain).width - 1
        if self.components > width:
            raise BadInput(f"There are {width} directions.", next_step=f"Ask for at most {width} components.")

    @classmethod
    def from_moments(cls, moments: Moments, *, components: int = 2) -> PCA:
        """Components of moments that were measured: nothing is spent.

        Args:
            moments: What was measured.
            components: How many.
        """
        made = cls(
            features=moments.features,
            components=components,
            epsilon=moments.epsilon,
            delta=moments.delta,
            rho=moments.rho,
        )
        made.check(moments.domain)
        made.follow(moments)
        made._find(moments.products)
        return made

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        self._find(NoisyProducts.of(design_of(self.wanted, domain), transcript))

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
        self.deviations = _turned_by_noise(values, vectors, products.deviation / products.rows)[: self.components]

    @property
    def learned(self) -> list[Learned]:
        names, noise = self.places[1:], self.products.deviation / self.products.rows
        numbers = []
        for at, (vector, value) in enumerate(zip(self.components_, self.explained_variance_, strict=True)):
            numbers.append(
                Learned(f"variance along {at + 1}", float(value), noise * float(np.sqrt(2 - (vector**4).sum())))
            )
            numbers += [
                Learned(f"{at + 1}: {name}", float(entry), float(off))
                for name, entry, off in zip(names, vector, self.deviations[at], strict=True)
            ]
        return numbers

    def transform(self, rows: Any) -> Floats:
        """Rows along the components.

        Args:
            rows: As `fit` takes them.
        """
        design, codes = self.products.design, self.codes(rows)
        whole = np.zeros((len(codes), design.width - 1))
        for at, (attribute, block) in enumerate(zip(design.attributes, design.blocks, strict=True)):
            if attribute.numbers is not None:
                whole[:, block.start - 1] = np.array(attribute.numbers)[codes[:, at]] / SCALE
            else:
                whole[np.arange(len(codes)), block.start - 1 + codes[:, at]] = 1
        return (whole - self.mean_) @ self.components_.T


def _turned_by_noise(values: Floats, vectors: Floats, noise: float) -> Floats:
    """How far symmetric noise turns each eigenvector, place by place: Σ over others of its place squared times (noise / gap)², at most 1."""
    gaps = values[:, None] - values[None, :]
    with np.errstate(divide="ignore"):
        turned = np.minimum((noise / np.where(gaps == 0, np.inf, gaps)) ** 2, 1.0)
    np.fill_diagonal(turned, 0.0)
    return np.sqrt(turned @ (vectors**2).T)
