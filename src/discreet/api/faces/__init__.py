"""Interfaces of each family of calls."""
