"""Shared foundations: exact numbers, privacy loss, number formatting and optional imports."""
