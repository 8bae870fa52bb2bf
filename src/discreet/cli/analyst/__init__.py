"""Commands of analysts."""
