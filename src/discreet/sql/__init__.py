"""Text to meaning: a query's SQL becomes algebra, or is refused by name. The only room that knows the parser."""

from discreet.sql.builder import Table

__all__ = ["Table"]
