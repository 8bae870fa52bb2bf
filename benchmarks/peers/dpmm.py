"""dpmm's MST and AIM on the codes as they are: no binning, which would cost a part of the budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
from dpmm.pipelines import AIMPipeline, MSTPipeline

from benchmarks.peers.making import DELTA, EPSILON, Making, make


def with_pipeline(kind: type, **options: object) -> Making:
    def rows(sizes: dict[str, int], real: np.ndarray) -> np.ndarray:
        frame = pd.DataFrame(real, columns=list(sizes))
        pipeline = kind(epsilon=EPSILON, delta=DELTA, n_jobs=1, disable_processing=True, **options)
        pipeline.fit(frame, sizes)
        return pipeline.generate(n_records=len(real))[list(sizes)].to_numpy(np.int64)

    return rows


if __name__ == "__main__":
    three_way = {"degree": 3, "max_cells": 10**7}
    make(
        {"MST": with_pipeline(MSTPipeline), "AIM": with_pipeline(AIMPipeline, max_model_size=80, gen_kwargs=three_way)}
    )
