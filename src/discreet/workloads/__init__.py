"""Many queries at once: which numbers to measure so that all answers together are as exact as a price allows."""

from discreet.workloads.choosing import Estimate, Plan, plan
from discreet.workloads.measurement import Measurement, Price
from discreet.workloads.workload import Workload, marginals, means, points, predicates, ranges, thresholds, total

__all__ = [
    "Estimate",
    "Measurement",
    "Plan",
    "Price",
    "Workload",
    "marginals",
    "means",
    "plan",
    "points",
    "predicates",
    "ranges",
    "thresholds",
    "total",
]
