"""Running attacks and reporting their results."""
