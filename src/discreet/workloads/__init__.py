"""Many queries at once: which numbers to measure so that all answers together are as exact as a price allows."""

from discreet.mechanisms.additive.combinations import Measurement
from discreet.workloads.choosing import Estimate, Plan, plan
from discreet.workloads.geography import Tree
from discreet.workloads.price import Price
from discreet.workloads.topdown import TopDown
from discreet.workloads.workload import Workload, marginals, means, points, predicates, ranges, thresholds, total

__all__ = [
    "Estimate",
    "Measurement",
    "Plan",
    "Price",
    "TopDown",
    "Tree",
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
