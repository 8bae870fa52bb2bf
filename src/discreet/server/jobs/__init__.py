"""Work that outlives one request: running queries, the served curator, saved queries."""
