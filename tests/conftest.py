"""Property tests draw the same examples every time and have no deadline: a red run means a bug."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Each of the two processes that share two cores would start two threads, which wait for each other by spinning: four times the time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
