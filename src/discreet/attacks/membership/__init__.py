"""Membership attacks: they decide who is in the data."""
