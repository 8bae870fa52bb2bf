"""Attacks on tables without names."""
