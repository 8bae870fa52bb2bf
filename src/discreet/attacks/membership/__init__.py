"""Attacks that decide who is in the data."""
