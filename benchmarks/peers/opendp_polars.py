"""OpenDP's Context on Polars.

One thing to know of 0.16: truncate_num_groups fails with its default, a random choice of groups ("multiple fields with
name 'region'"), so Q2p keeps the first groups by name; of 3 it keeps 2, since it compares a rank from 1 with < 3.
"""

from __future__ import annotations

from pathlib import Path

import opendp.prelude as dp
import polars as pl

from benchmarks.peers.serve import REGIONS, Action, serve

dp.enable_features("contrib")
COUNT = (dp.len(),)
COUNT_AND_SUM = (dp.len(), pl.col("cost").dp.sum((0.0, 100.0)))
PEOPLE = (pl.col("uid").dp.n_unique(),)


def bounded(frame: dp.polars.LazyFrameQuery, query: str) -> dp.polars.LazyFrameQuery:
    match query:
        case "Q1":
            return frame
        case "Q2p":
            return frame.truncate_per_group(10, by=["region"]).truncate_num_groups(3, by=["region"], keep="first")
        case _:
            return frame.truncate_per_group(10)


def prepare(folder: Path, query: str) -> dict[str, Action]:
    flat = query == "Q1"
    data = pl.read_parquet(folder / f"{'flat' if flat else 'visits'}.parquet")
    unit = dp.unit_of(contributions=1) if flat else dp.unit_of(contributions=1, identifier=pl.col("uid"))
    measures = {"Q1": COUNT, "Q4": PEOPLE}.get(query, COUNT_AND_SUM)

    def ask(epsilon: float) -> list:
        context = dp.Context.compositor(
            data=data.lazy(),
            privacy_unit=unit,
            privacy_loss=dp.loss_of(epsilon=epsilon),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["region"], max_length=len(data), max_groups=len(REGIONS))],
        )
        grouped = bounded(context.query(), query).group_by("region").agg(*measures)
        return grouped.with_keys(pl.LazyFrame({"region": REGIONS})).release().collect().rows()

    return {"ask": ask}


if __name__ == "__main__":
    serve(prepare)
