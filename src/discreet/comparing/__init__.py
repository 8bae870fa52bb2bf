"""Comparison of synthetic data with real rows, for the data owner only: no result of this package is private."""
