"""Attacks on de-identified tables."""
