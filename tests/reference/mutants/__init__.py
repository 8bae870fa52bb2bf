"""Mistakes that somebody could make, each with the check that must notice it.

A mutant is a small patch of our code; its check passes on the code as it is, and finds fault once the patch is in place.
"""
