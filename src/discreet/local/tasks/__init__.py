"""Tasks: queries to devices, and the messages that devices send."""
