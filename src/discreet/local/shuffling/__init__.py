"""The shuffler, and privacy amplification by shuffling."""
