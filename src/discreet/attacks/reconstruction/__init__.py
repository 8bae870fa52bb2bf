"""Attacks that reconstruct the data from aggregates."""
