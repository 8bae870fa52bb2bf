"""Exact numbers of networks."""
