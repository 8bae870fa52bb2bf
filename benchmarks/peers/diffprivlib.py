"""diffprivlib's models with bounds from the domain, so that it reads none from the data: pure ε."""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib.models import DecisionTreeClassifier, GaussianNB, KMeans, LinearRegression, LogisticRegression

from benchmarks.peers.splits import (
    CLASS,
    CLUSTERED,
    CLUSTERS,
    HOURS,
    LINEAR,
    LINES,
    Adult,
    Columns,
    Figures,
    area,
    over_splits,
    tell,
)

REGULARIZATIONS = (1.0, 0.1, 0.01)
"""The first is its default."""


def figures(adult: Adult, seeds: int) -> Figures:
    names = adult.explaining
    upper = np.array([adult.sizes[name] - 1 for name in names])

    def codes(columns: Columns) -> Any:
        return np.stack([columns[name] for name in names], axis=1)

    def classified(epsilon: float, train: Columns, test: Columns) -> dict[str, float]:
        worth = {}
        inputs, unseen = adult.one_hot(train, names), adult.one_hot(test, names)
        for strength in REGULARIZATIONS:
            model = LogisticRegression(epsilon=epsilon, data_norm=np.sqrt(len(names)), C=strength, max_iter=300)
            model.fit(inputs, train[CLASS])
            worth[f"logistic, C = {strength:g}, accuracy"] = model.score(unseen, test[CLASS])
            worth[f"logistic, C = {strength:g}, AUC"] = area(model.predict_proba(unseen)[:, 1], test[CLASS])
        bayes = GaussianNB(epsilon=epsilon, bounds=(np.zeros(len(upper)), upper)).fit(codes(train), train[CLASS])
        worth["naive Bayes, AUC"] = area(bayes.predict_proba(codes(test))[:, 1], test[CLASS])
        tree = DecisionTreeClassifier(
            max_depth=5, epsilon=epsilon, bounds=(np.zeros(len(upper)), upper), classes=[0, 1]
        ).fit(codes(train), train[CLASS])
        worth["tree, accuracy"] = tree.score(codes(test), test[CLASS])
        return worth

    def lines(epsilon: float, train: Columns, test: Columns) -> dict[str, float]:
        inputs, unseen = (adult.one_hot(part, list(LINEAR)) for part in (train, test))
        width = inputs.shape[1]
        model = LinearRegression(epsilon=epsilon, bounds_X=(np.zeros(width), np.ones(width)), bounds_y=(0, 98))
        return {"linear, R²": model.fit(inputs, train[HOURS]).score(unseen, test[HOURS])}

    def clusters(epsilon: float, _train: Columns, _test: Columns) -> dict[str, float]:
        points = np.stack([2 * adult.columns[name] / (adult.sizes[name] - 1) - 1 for name in CLUSTERED], axis=1)
        model = KMeans(CLUSTERS, epsilon=epsilon, bounds=(-np.ones(3), np.ones(3))).fit(points)
        nearest = ((points[:, None] - model.cluster_centers_) ** 2).sum(axis=2).min(axis=1)
        return {"k-means, inertia": float(nearest.sum())}

    return {
        **over_splits(adult, seeds, classified),
        **over_splits(adult, seeds, lines, draws=LINES),
        **over_splits(adult, seeds, clusters),
    }


if __name__ == "__main__":
    tell(figures)
