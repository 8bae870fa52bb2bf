"""Mechanisms that add noise to a number."""
