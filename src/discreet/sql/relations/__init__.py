"""FROM, JOIN, set operations, and SELECTs that return rows."""
