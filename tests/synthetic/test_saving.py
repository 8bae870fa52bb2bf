"""Releases with their bounds, saved and loaded: what is damaged, foreign or newer is refused."""

import hashlib
import json

import numpy as np
import pytest

from discreet.errors import BadInput, BadRelease, TooLarge
from discreet.measurement.release_files import read_release, release_as_bytes
from discreet.synthetic.synthetic_release import SyntheticRelease
from tests.synthetic.test_curator import ROWS, a_curator


@pytest.fixture(scope="module")
def release():
    with a_curator() as curator:
        return curator.as_analyst("alice").synthesize(ROWS, epsilon=1, delta=1e-6, workload=2, method="mst", name="v")


def test_a_release_that_was_saved_is_the_same_when_it_is_loaded(release, tmp_path):
    release.save(tmp_path / "v.discreet")
    loaded = SyntheticRelease.load(tmp_path / "v.discreet")
    assert (loaded.name, loaded.receipt, loaded.method) == ("v", release.receipt, "mst")
    assert np.array_equal(loaded.table("ward", "age"), release.table("ward", "age"))
    assert loaded.sample(10).schema == release.sample(10).schema


def test_every_wanted_table_has_a_bound_and_so_has_any_that_is_named(release):
    bounds = release.bounds(0.95)
    assert [bound.columns for bound in bounds] == [("ward", "sex"), ("ward", "age"), ("sex", "age")]
    assert all(0 < bound.share <= 2 for bound in bounds)
    assert [bound.columns for bound in release.bounds(0.95, ["age", "ward"], ["sex"])] == [("ward", "age"), ("sex",)]


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        (lambda saved: b"", "not a release"),
        (lambda saved: b"\x80\x04\x95 a pickle", "not a release"),
        (lambda saved: saved.replace(b"discreet-release 1", b"discreet-release 2", 1), "another version"),
        (lambda saved: saved[:-1], "damaged"),
        (lambda saved: saved[:-9] + bytes([saved[-9] ^ 1]) + saved[-8:], "damaged"),
        (lambda saved: saved.replace(b'"alice"', b'"alicf"').replace(b'"v"', b'"w"'), "damaged"),
    ],
    ids=["empty", "foreign", "newer", "cut off", "one bit", "another name"],
)
def test_a_file_that_is_damaged_foreign_or_newer_is_refused(release, tmp_path, spoiled, said):
    release.save(tmp_path / "v.discreet")
    (tmp_path / "v.discreet").write_bytes(spoiled((tmp_path / "v.discreet").read_bytes()))
    with pytest.raises(BadRelease, match=said):
        SyntheticRelease.load(tmp_path / "v.discreet")


def rewritten(saved, change):
    """The same file with other facts, and a checksum that fits."""
    stored, name, receipt = read_release(saved)
    head, _, steps = stored.partition(b"\n")
    facts = json.loads(head)
    change(facts)
    return release_as_bytes(json.dumps(facts).encode() + b"\n" + steps, name=name, receipt=receipt)


def checked(rest):
    return f"discreet-release 1 {hashlib.sha256(rest).hexdigest()}\n".encode() + rest


@pytest.mark.parametrize(
    "written",
    [
        lambda saved: checked(b""),
        lambda saved: checked(b"[]\n"),
        lambda saved: checked(b"[" * 100_000 + b"\n"),
        lambda saved: checked(b'{"name": 1, "receipt": ""}\n'),
        lambda saved: saved.replace(b"discreet-release 1", b"discreet-release " + b"1" * 5000, 1),
        lambda saved: release_as_bytes(b"null\n", name="v", receipt=""),
        lambda saved: rewritten(saved, lambda facts: facts.pop("facts")),
        lambda saved: rewritten(saved, lambda facts: facts.update(lengths=["a"])),
        lambda saved: rewritten(saved, lambda facts: facts["facts"].pop("budget")),
        lambda saved: rewritten(saved, lambda facts: facts["facts"]["domain"].update(columns=[])),
        lambda saved: rewritten(saved, lambda facts: facts["facts"]["domain"].update(neighbours="nobody")),
        lambda saved: rewritten(saved, lambda facts: facts["facts"]["domain"]["columns"][0].update(labels=[{}])),
        lambda saved: rewritten(
            saved, lambda facts: facts["facts"]["domain"]["columns"][0].update(labels=[["bin", 2, 1, False]])
        ),
    ],
)
def test_a_file_that_somebody_wrote_with_a_checksum_that_fits_is_refused_like_any_other(release, tmp_path, written):
    release.save(tmp_path / "v.discreet")
    (tmp_path / "v.discreet").write_bytes(written((tmp_path / "v.discreet").read_bytes()))
    with pytest.raises(BadRelease, match="not a release"):
        SyntheticRelease.load(tmp_path / "v.discreet")


def test_a_small_database_comes_from_the_curator_is_the_same_when_loaded_and_has_no_bounds(tmp_path):
    with a_curator() as curator:
        made = curator.synthesize("SELECT ward FROM visits", rho=0.1, workload=1, method="smalldb")
    made.save(tmp_path / "small.discreet")
    loaded = SyntheticRelease.load(tmp_path / "small.discreet")
    assert np.array_equal(loaded.table("ward"), made.table("ward"))
    assert set(made.sample(50)["ward"].to_pylist()) <= {"A", "B", "C"}
    with pytest.raises(BadInput, match="error"):
        made.bounds(0.95)


def test_given_tables_whose_model_is_too_large_are_refused_before_anything_is_paid():
    with a_curator() as curator:
        spent = curator.budget()
        columns = ", ".join(f"age + 0 * {n} AS age{n}" for n in range(9))
        with pytest.raises(TooLarge, match="cells"):
            curator.synthesize(f"SELECT {columns} FROM visits", epsilon=1, delta=1e-6, workload=2, method="fixed")
        assert curator.budget() == spent
