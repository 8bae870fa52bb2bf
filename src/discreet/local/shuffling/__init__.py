"""The shuffler, and what shuffling adds to privacy."""
