"""Real beside synthetic, for the owner of the data and nobody else: nothing that comes out of this room is private."""
