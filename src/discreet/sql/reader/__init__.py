"""Read the text of a query: parse it, resolve names in scopes, and translate it to the algebra."""
