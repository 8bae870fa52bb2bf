"""Property tests draw the same examples every time and have no deadline: a red run means a bug."""

import gc
import os
import shutil
import tempfile

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Each of the two processes that share two cores would start two threads, which wait for each other by spinning: four times the time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Books are written through to the disk with every charge, and nobody waits for a disk in memory: processes die here, machines do not.
_MEMORY, _ROOM = "/dev/shm", 4 * 2**30
if "TMPDIR" not in os.environ and os.path.isdir(_MEMORY) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ["TMPDIR"] = tempfile.tempdir = _MEMORY

# Eleven thousand tests and all modules stay until the end: the collector need not look through them again and again.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_sessionfinish():
    gc.unfreeze()
