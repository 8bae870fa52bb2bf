"""SQL text from the algebra."""
