"""Typed relations and expressions that cannot combine rows of two people."""

from discreet.algebra import functions

__all__ = ["functions"]
