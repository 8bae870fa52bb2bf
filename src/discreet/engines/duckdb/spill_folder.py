"""The folder to which DuckDB spills rows that do not fit in memory: one per open snapshot, accessible to its owner only."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Spill:
    """A folder that exists until it is closed or its process ends.

    Two snapshots that are open at once, an older and a newer one, would overwrite each other's files in one folder. Folders left
    behind by a killed process are removed when the same snapshot is opened again.
    """

    def __init__(self, beside: Path | None) -> None:
        """Create a folder beside the snapshot's file; in the system's temporary folder for a snapshot in memory."""
        if beside is None:
            self.path = Path(tempfile.mkdtemp(prefix="discreet-"))
            self._held = os.open(self.path, os.O_RDONLY)
            return
        folder = Path(f"{beside}.tmp")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(folder):
            for left in folder.iterdir():
                _remove_unless_held(left)
            self.path = Path(tempfile.mkdtemp(dir=folder))
            self._held = os.open(self.path, os.O_RDONLY)
            fcntl.flock(self._held, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove the folder. Calling it twice is harmless."""
        if self._held >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._held)
            self._held = -1


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _remove_unless_held(left: Path) -> None:
    held = os.open(left, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(left, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(held)
