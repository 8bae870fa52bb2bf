"""Request bodies."""
