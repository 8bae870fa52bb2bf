"""Generated public data for demonstrations, tests and attacks. No real people are in them."""

from discreet.samples.clinic import clinic, write_clinic

__all__ = ["clinic", "write_clinic"]
