"""Commands and how they look in a terminal."""
