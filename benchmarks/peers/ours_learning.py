"""Discreet's models on Adult. Naive Bayes, tree and k-means are pure; the rest takes δ."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.peers.splits import (
    CLASS,
    CLUSTERED,
    CLUSTERS,
    DELTA,
    EPSILONS,
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
from discreet.learning import (
    Category,
    DecisionTree,
    KMeans,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    Number,
)

BINS = {"age": 16, "capital-gain": 25, "capital-loss": 25, HOURS: 16}
TREE_BINS = {"age": 12, "capital-gain": 50, "capital-loss": 25, HOURS: 10, "education-num": 16}


def figures(adult: Adult, seeds: int) -> Figures:
    def features(names: list[str], bins: dict[str, int]) -> list[Number | Category]:
        return [
            Number(name, 0, adult.sizes[name] - 1, bins=bins[name])
            if name in bins
            else Category(name, list(range(adult.sizes[name])))
            for name in names
        ]

    binned, coarse = features(adult.explaining, BINS), features(adult.explaining, TREE_BINS)
    explaining_hours = features(list(LINEAR), {"age": 8})

    def classified(epsilon: float, train: Columns, test: Columns) -> dict[str, float]:
        def fitted(model: Any) -> tuple[float, float, float]:
            began = time.process_time()
            model.fit(train, train[CLASS])
            seconds = time.process_time() - began
            return model.score(test, test[CLASS]), area(model.predict_proba(test)[:, 1], test[CLASS]), seconds

        common: dict[str, Any] = {"classes": [0, 1], "epsilon": epsilon}
        logistic = fitted(LogisticRegression(features=binned, delta=DELTA, **common))
        bayes = fitted(NaiveBayes(features=binned, **common))
        tree = fitted(DecisionTree(features=coarse, **common))
        return {
            "logistic with bins, accuracy": logistic[0],
            "logistic with bins, AUC": logistic[1],
            "naive Bayes, AUC": bayes[1],
            "tree, accuracy": tree[0],
            "seconds of a logistic fit": logistic[2],
        }

    def lines(epsilon: float, train: Columns, test: Columns) -> dict[str, float]:
        hours = Number("hours", 0, 98)
        model = LinearRegression(features=explaining_hours, target=hours, epsilon=epsilon, delta=DELTA)
        return {"linear, R²": model.fit(train, train[HOURS]).score(test, test[HOURS])}

    def clusters(epsilon: float, _train: Columns, _test: Columns) -> dict[str, float]:
        numbers = [Number(name, 0, adult.sizes[name] - 1) for name in CLUSTERED]
        model = KMeans(features=numbers, clusters=CLUSTERS, epsilon=epsilon).fit(adult.columns)
        return {"k-means, inertia": model.inertia(adult.columns)}

    return {
        **over_splits(adult, seeds, classified),
        **over_splits(adult, seeds, lines, draws=LINES),
        **over_splits(adult, seeds, clusters),
        "k-means without noise, inertia": [plain_inertia(adult)] * len(EPSILONS),
    }


def plain_inertia(adult: Adult) -> float:
    """The best of ten runs of k-means without privacy."""
    points = np.stack([2 * adult.columns[name] / (adult.sizes[name] - 1) - 1 for name in CLUSTERED], axis=1)
    rng, best = np.random.default_rng(0), np.inf
    for _ in range(10):
        centres = points[rng.choice(len(points), CLUSTERS, replace=False)]
        for _ in range(60):
            nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
            centres = np.stack([points[nearest == at].mean(axis=0) for at in range(CLUSTERS)])
        best = min(best, ((points - centres[nearest]) ** 2).sum())
    return float(best)


if __name__ == "__main__":
    tell(figures)
