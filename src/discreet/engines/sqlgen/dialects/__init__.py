"""How each engine writes types, names and constants."""
