"""Models of all columns, fitted to noisy tables."""
