"""Translate SQL expressions to expressions of the algebra."""
