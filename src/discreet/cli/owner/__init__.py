"""Commands of data owners."""
