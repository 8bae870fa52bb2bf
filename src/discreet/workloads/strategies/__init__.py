"""Strategies: which combinations of counts to measure for a workload."""
