"""Deliberately broken twins of our own parts, and the proof (`test_mutants.py`) that our checks catch each of them."""
