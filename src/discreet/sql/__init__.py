"""SQL text to algebra: a query is translated, or refused with a reason. Only this package uses the SQL parser."""

from discreet.sql.builder import Table

__all__ = ["Table"]
