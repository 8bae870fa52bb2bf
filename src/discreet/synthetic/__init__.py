"""Synthetic data: methods that measure protected rows through a `Measurer`, and models fitted to the measurements."""
