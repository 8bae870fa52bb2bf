"""Discreet inside other tools: notebooks, DB-API, SQLAlchemy, data frames."""
