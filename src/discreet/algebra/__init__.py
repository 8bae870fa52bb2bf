"""What a query means: typed relations and expressions that cannot mix two people."""

from discreet.algebra import functions

__all__ = ["functions"]
