"""Statistics of bounded values."""
