"""OpenDP's MST and AIM with all keys given, which it takes only under rho; it fits with mbi 1.1.0."""

from __future__ import annotations

import numpy as np
import opendp.prelude as dp
import polars as pl

from benchmarks.peers.making import RHO, Making, make

dp.enable_features("contrib")


def by(algorithm: object) -> Making:
    def rows(sizes: dict[str, int], real: np.ndarray) -> np.ndarray:
        context = dp.Context.compositor(
            data=pl.LazyFrame(dict(zip(sizes, real.T, strict=True))),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(rho=RHO),
            split_evenly_over=1,
        )
        keys = {name: list(range(size)) for name, size in sizes.items()}
        release = context.query().contingency_table(keys=keys, algorithm=algorithm).release()
        lost = [pl.col(name).fill_null(size) for name, size in sizes.items()]
        return release.synthesize().select(lost).to_numpy().astype(np.int64)

    return rows


if __name__ == "__main__":
    make({"MST": by(dp.mbi.MST()), "AIM": by(dp.mbi.AIM())})
