"""DuckDB: snapshots, statements, cancellation."""
