"""Synthetic data: methods that measure people's rows through a `Measurer`, and models of what was measured. Nothing private is in here."""
