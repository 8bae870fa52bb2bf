"""Generated public worlds: nobody in them exists, so demos, tests and attacks may do with them as they like."""

from discreet.samples.clinic import clinic, write_clinic

__all__ = ["clinic", "write_clinic"]
