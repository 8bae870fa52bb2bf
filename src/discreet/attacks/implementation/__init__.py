"""Attacks on implementations: floating point, generators, timing, races."""
