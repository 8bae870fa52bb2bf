"""FROM, JOIN, set operations and SELECTs that stay rows."""
