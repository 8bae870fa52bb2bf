"""Differential privacy, end to end."""

__version__ = "0.1.0"
