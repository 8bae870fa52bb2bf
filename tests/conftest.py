"""Property tests draw the same examples every time and have no deadline: a red run means a bug."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
