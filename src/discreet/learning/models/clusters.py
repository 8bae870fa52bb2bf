"""K-means on a noisy histogram over a public grid: each cell represents its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.exact import read_count
from discreet.errors import BadInput, TooLarge
from discreet.learning.data.features import (
    MOST_BINS,
    Feature,
    Number,
    column_of,
    columns_in,
    ends_of,
    is_numeric,
    middle,
    name_of,
    numbers_in,
)
from discreet.learning.models.learned_model import Floats, Model
from discreet.learning.runs.measurement_plan import NoisyMeasurement
from discreet.learning.runs.model_card import LearnedNumber
from discreet.measurement.domain import Domain
from discreet.measurement.feature_vectors import SumMeasurer
from discreet.measurement.measurer import Measured
from discreet.measurement.transcript import Transcript, measurements_in
from discreet.mechanisms import Gaussian, Laplace

CELLS = 4096
"""Cells of the histogram if no number of bins is given."""
MOST_COLUMNS, MOST_CELLS, MOST_CLUSTERS = 6, 2**16, 64
_ROUNDS, _STARTS = 100, 12
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(kw_only=True, eq=False, repr=False)
class KMeans(Model):
    """Centres of clusters of numbers, scaled to [-1, 1] between their bounds.

    Pure epsilon-DP if the cost is an epsilon.

    The interval of a centre covers the noise of the histogram.

    Args:
        clusters: Number of clusters.
    """

    clusters: int = 3
    cluster_centers_: Floats = field(init=False)
    sizes: Floats = field(init=False)
    deviations: Floats = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_count(self.clusters, name="clusters", most=MOST_CLUSTERS)

    def _settings(self) -> dict[str, Any]:
        return {"clusters": self.clusters}

    @property
    def cells_each(self) -> int:
        """Default number of bins of a column."""
        return max(2, int(CELLS ** (1 / len(list(self.features))) + 1e-9))

    def _declared_columns(self) -> list[Any]:
        return [column_of(feature, bins=self.cells_each) for feature in self.features]

    def bins_in(self, feature: Feature) -> int | None:
        return (feature.bins if isinstance(feature, Number) else None) or min(self.cells_each, MOST_BINS)

    def check(self, domain: Domain) -> None:
        if not all(is_numeric(domain.column(name_of(feature))) for feature in self.features):
            raise BadInput("Clusters need numbers.", next_step="Remove categories from the features.")
        if len(list(self.features)) > MOST_COLUMNS:
            raise BadInput(
                f"Clusters have at most {MOST_COLUMNS} columns.",
                next_step="Choose fewer columns, such as principal components.",
            )
        if domain.cells(domain.names) > MOST_CELLS:
            raise TooLarge(
                f"The histogram would have more than {MOST_CELLS:,} cells.", next_step="Ask for fewer bins or columns."
            )

    def measurements(self, measurer: SumMeasurer) -> list[NoisyMeasurement[Gaussian | Laplace]]:
        noise = measurer.noise(measurer.domain.names, measurer.left)
        return [NoisyMeasurement("table", noise.size, noise)]

    def measure(self, measurer: SumMeasurer) -> None:
        (planned,) = self.measurements(measurer)
        measurer.noisy(measurer.domain.names, planned.noise)

    def burden(self, numbers: int) -> int:
        return numbers * self.clusters * len(list(self.features))

    def conclude(self, domain: Domain, transcript: Transcript) -> None:
        (table,) = (measured for measured in measurements_in(transcript.steps) if isinstance(measured, Measured))
        axes = [_scaled(column) for column in domain.columns]
        points = np.stack([axis.reshape(-1) for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        counts, noise = table.values.reshape(-1).astype(np.float64), math.sqrt(table.variance)
        weights = np.where(counts > 2 * noise, counts, 0.0)
        if not weights.any():
            weights = np.maximum(counts, 0.0) + 1e-9
        self.cluster_centers_ = _centres(points, weights, self.clusters)
        nearest = _nearest(points, self.cluster_centers_)
        self.sizes, self.deviations = np.zeros(self.clusters), np.zeros_like(self.cluster_centers_)
        for at in range(self.clusters):
            own = (nearest == at) & (weights > 0)
            self.sizes[at] = weights[own].sum()
            spread = ((points[own] - self.cluster_centers_[at]) ** 2).sum(axis=0)
            self.deviations[at] = noise * np.sqrt(spread) / max(self.sizes[at], noise)

    @property
    def learned(self) -> list[LearnedNumber]:
        numbers = []
        for at, (centre, off) in enumerate(zip(self.cluster_centers_, self.deviations, strict=True)):
            for column, value, deviation in zip(self.domain.columns, centre.tolist(), off.tolist(), strict=True):
                low, high = map(float, ends_of(column))
                numbers.append(
                    LearnedNumber(
                        f"{at + 1}: {column.name}", low + (value + 1) / 2 * (high - low), deviation * (high - low) / 2
                    )
                )
        return numbers

    @property
    def remarks(self) -> list[str]:
        return ["± covers the noise of the cells' counts, and not the rounding to cells"]

    def _points(self, rows: Any) -> Floats:
        columns = zip(self.domain.columns, columns_in(rows, self.features), strict=True)
        scaled = []
        for column, values in columns:
            low, high = map(float, ends_of(column))
            scaled.append(np.nan_to_num(np.clip(2 * (numbers_in(values) - low) / (high - low) - 1, -1.5, 1.5)))
        return np.stack(scaled, axis=1)

    def predict(self, rows: Any) -> Any:
        """Return the number of each row's cluster, from 0.

        Args:
            rows: In a form that `fit` reads.
        """
        return _nearest(self._points(rows), self.cluster_centers_)

    def inertia(self, rows: Any) -> float:
        """Return the sum of squared scaled distances from the nearest centre. It is exact and not private.

        Args:
            rows: In a form that `fit` reads.
        """
        points = self._points(rows)
        return _inertia(points, np.ones(len(points)), self.cluster_centers_)


def _scaled(column: Any) -> Floats:
    low, high = ends_of(column)
    centre = (low + high) / 2
    numbers = [centre if label is None else middle(label) for label in column.labels]
    return np.array([float(2 * (number - low) / (high - low) - 1) for number in numbers])


def _nearest(points: Floats, centres: Floats) -> Any:
    return ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)


def _centres(points: Floats, weights: Floats, count: int) -> Floats:
    """Run Lloyd's algorithm from several starts and return the best centres for the noisy histogram."""
    kept = weights > 0
    points, weights = points[kept], weights[kept]
    found = [_rounds(points, weights, _start(points, weights, count, number)) for number in range(_STARTS)]
    return min(found, key=lambda centres: _inertia(points, weights, centres))


def _start(points: Floats, weights: Floats, count: int, number: int) -> Floats:
    """Choose starting centres by weight times squared distance, as k-means++ does, but without random draws.

    Each start takes other quantiles of the distribution from which k-means++ would draw.
    """
    centres = np.empty((0, points.shape[1]))
    for at in range(count):
        far = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).min(axis=1) if at else np.ones(len(points))
        reached = np.cumsum(far * weights + 1e-12)
        share = (number * _GOLDEN + at * math.sqrt(2) + 0.5) % 1
        chosen = points[min(int(np.searchsorted(reached, share * reached[-1])), len(points) - 1)]
        centres = np.vstack([centres, chosen])
    return centres


def _rounds(points: Floats, weights: Floats, centres: Floats) -> Floats:
    for _ in range(_ROUNDS):
        nearest, moved = _nearest(points, centres), centres.copy()
        for at in range(len(centres)):
            own = nearest == at
            if own.any():
                moved[at] = (points[own] * weights[own, None]).sum(axis=0) / weights[own].sum()
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres


def _inertia(points: Floats, weights: Floats, centres: Floats) -> float:
    return float((((points - centres[_nearest(points, centres)]) ** 2).sum(axis=1) * weights).sum())
