"""The command line: commands by user, and what they share for terminal output."""
