"""SmartNoise's MST and AIM, every column a category. Its codes are those that it meets in the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
from snsynth import Synthesizer

from benchmarks.peers.making import DELTA, EPSILON, Making, make


def by(name: str, **options: object) -> Making:
    def rows(sizes: dict[str, int], real: np.ndarray) -> np.ndarray:
        names = list(sizes)
        frame = pd.DataFrame(real, columns=names)
        synthesizer = Synthesizer.create(name, epsilon=EPSILON, delta=DELTA, **options)
        synthesizer.fit(frame, categorical_columns=names, preprocessor_eps=0.0)
        return synthesizer.sample(len(real))[names].to_numpy().astype(np.int64)

    return rows


if __name__ == "__main__":
    make({"MST": by("mst"), "AIM": by("aim", degree=3, max_cells=10**7)})
