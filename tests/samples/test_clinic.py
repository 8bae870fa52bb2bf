import numpy as np
import pyarrow.parquet as pq

from discreet.catalog import load_catalog
from discreet.samples import clinic, write_clinic


def test_the_clinic_is_the_same_for_the_same_seed_and_another_for_another():
    one, again, other = (clinic(patients=200, visits=1000, seed=seed) for seed in (1, 1, 2))
    assert all(one[name].equals(again[name]) for name in one)
    assert not one["visits"].equals(other["visits"])


def test_some_people_come_far_more_often_than_the_limit_and_some_costs_lie_above_the_bound():
    world = clinic(patients=5000, visits=50_000)
    counts = np.bincount(world["visits"]["patient_id"].to_numpy())
    assert counts.max() > 60
    assert (counts[1:] == 0).any()
    costs = world["visits"]["cost"].to_numpy()
    assert (costs > 10_000).any()
    assert (costs > 10_000).mean() < 0.2
    assert set(world["visits"]["ward"].to_pylist()) == set(world["wards"]["ward"].to_pylist())


def test_the_written_clinic_has_a_catalog_that_fits_its_files(tmp_path):
    path = write_clinic(tmp_path / "clinic", patients=100, visits=500)
    catalog = load_catalog(path)
    for name, table in catalog.tables.items():
        stored = pq.read_schema(path.parent / f"{name}.parquet").names
        assert set(table.columns) <= set(stored)
