"""Which combinations to measure for a workload."""
