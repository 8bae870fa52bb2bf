"""Learning and evaluation as charged runs."""
