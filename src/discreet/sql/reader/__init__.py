"""The text of a query, its scopes, and the algebra that it becomes."""
