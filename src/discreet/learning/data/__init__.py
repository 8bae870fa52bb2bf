"""Columns as features, and finite classes of hypotheses."""
