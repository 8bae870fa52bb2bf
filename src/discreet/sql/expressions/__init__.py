"""SQL expressions as expressions of the algebra."""
