"""Workloads: families of counting queries over columns."""
