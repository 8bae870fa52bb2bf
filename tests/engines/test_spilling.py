"""Spilled rows: each open snapshot has a folder of its own, and what a killed process left is removed."""

from discreet.engines.duckdb.spill_folder import Spill


def test_two_that_are_open_at_once_have_folders_of_their_own_and_what_was_left_is_removed(tmp_path):
    place = tmp_path / "snapshot.duckdb"
    older = Spill(place)
    (older.path / "rows").write_text("private")
    left = older.path.parent / "left"
    left.mkdir()
    (left / "rows").write_text("of a process that was killed")
    newer = Spill(place)
    assert (older.path / "rows").exists(), "somebody still reads them"
    assert not left.exists()
    assert older.path != newer.path
    assert newer.path.parent.stat().st_mode & 0o077 == 0
    for spill in (older, newer, older):
        spill.close()
    assert list(newer.path.parent.iterdir()) == []
