"""A clinic: patients, their visits, and wards. A few patients have very many visits."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

WARDS = ("ER", "ICU", "Surgery")
FIRST_DAY, LAST_DAY = date(2020, 1, 1), date(2025, 12, 31)

_WARD_SHARES = {"young": (0.75, 0.05, 0.20), "old": (0.45, 0.20, 0.35)}
_TYPICAL_COST = {"ER": 900.0, "ICU": 5200.0, "Surgery": 3100.0}

CATALOG = """\
[source]
path = "."

[ledger]
path = "ledger.sqlite"

[budget]                                # all analysts together
epsilon = 5.0
delta = 1e-6

[budget.analysts.alice]
epsilon = 2.0

[tables.patients]
privacy_unit = "patient_id"
columns.patient_id = { type = "integer" }
columns.age = { type = "integer", lower = 0, upper = 110 }
columns.sex = { type = "text", values = ["F", "M"] }
columns.zip = { type = "text" }         # no values declared: grouping by it costs delta

[tables.visits]
privacy_unit = "patient_id"
max_rows = 20                           # a person counts with at most 20 visits
columns.patient_id = { type = "integer" }
columns.ward = { type = "text", values = ["ER", "ICU", "Surgery"] }
columns.cost = { type = "real", lower = 0, upper = 10000 }
columns.date = { type = "date", lower = 2020-01-01, upper = 2025-12-31 }

[tables.wards]
public = true
"""


def clinic(*, patients: int = 100_000, visits: int = 1_000_000, seed: int = 0) -> dict[str, pa.Table]:
    """Return the three tables as Arrow; the same seed gives the same tables."""
    import pyarrow as pa  # noqa: PLC0415  heavy; only worlds need it

    rng = np.random.default_rng(seed)
    ages = np.clip(rng.normal(48, 22, patients), 0, 109).astype(np.int64)
    zips = 60600 + np.minimum(rng.zipf(1.4, patients), 60)
    people = pa.table(
        {
            "patient_id": np.arange(1, patients + 1),
            "age": ages,
            "sex": np.where(rng.random(patients) < 0.52, "F", "M"),
            "zip": zips.astype(str),
        }
    )
    visitors = _visitors(rng, patients, visits)
    wards = _wards(rng, ages[visitors])
    typical = np.array([_TYPICAL_COST[ward] for ward in WARDS])[wards]
    days = (LAST_DAY - FIRST_DAY).days + 1
    stays = pa.table(
        {
            "patient_id": visitors + 1,
            "ward": np.array(WARDS)[wards],
            "cost": np.round(typical * rng.lognormal(0, 0.6, visits), 2),  # a few lie above the declared 10,000
            "date": np.datetime64(FIRST_DAY) + rng.integers(0, days, visits),
        }
    )
    rooms = pa.table({"ward": list(WARDS), "floor": [0, 2, 1], "beds": [40, 24, 60]})
    return {"patients": people, "visits": stays, "wards": rooms}


def _visitors(rng: np.random.Generator, patients: int, visits: int) -> np.ndarray:
    """Draw the patient of each visit, with heavy-tailed weights, so some patients exceed any contribution bound."""
    weights = rng.lognormal(0, 1.1, patients)
    ends = np.cumsum(weights / weights.sum())
    return np.minimum(np.searchsorted(ends, rng.random(visits)), patients - 1)


def _wards(rng: np.random.Generator, ages: np.ndarray) -> np.ndarray:
    young, old = (np.cumsum(_WARD_SHARES[group]) for group in ("young", "old"))
    ends = np.where(ages[:, None] < 65, young, old)
    return np.minimum((rng.random(ages.size)[:, None] > ends).sum(axis=1), len(WARDS) - 1)


def write_clinic(folder: str | Path, *, patients: int = 100_000, visits: int = 1_000_000, seed: int = 0) -> Path:
    """Write the clinic as Parquet files with a catalog, and return the catalog's path."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, table in clinic(patients=patients, visits=visits, seed=seed).items():
        pq.write_table(table, target / f"{name}.parquet")
    catalog = target / "discreet.toml"
    catalog.write_text(CATALOG)
    return catalog
