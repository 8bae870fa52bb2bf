"""Tasks: what devices are asked, and the messages they send."""
