"""InterpretML's DP-EBM with its defaults; types, bounds and the target's values are told, so that it reads none from the data."""

from __future__ import annotations

import numpy as np
from interpret.privacy import DPExplainableBoostingClassifier

from benchmarks.peers.splits import CLASS, DELTA, NUMBERS, Adult, Columns, Figures, area, over_splits, tell


def figures(adult: Adult, seeds: int) -> Figures:
    names = adult.explaining

    def classified(epsilon: float, train: Columns, test: Columns) -> dict[str, float]:
        model = DPExplainableBoostingClassifier(
            feature_names=names,
            feature_types=["continuous" if name in NUMBERS else "nominal" for name in names],
            privacy_bounds=np.array([[0, adult.sizes[name] - 1] for name in names], dtype=float),
            epsilon=epsilon,
            delta=DELTA,
            n_jobs=1,
        )
        inputs, unseen = (np.stack([part[name] for name in names], axis=1) for part in (train, test))
        model.fit(inputs, train[CLASS])
        return {
            "additive, accuracy": model.score(unseen, test[CLASS]),
            "additive, AUC": area(model.predict_proba(unseen)[:, 1], test[CLASS]),
        }

    return over_splits(adult, seeds, classified)


if __name__ == "__main__":
    tell(figures)
