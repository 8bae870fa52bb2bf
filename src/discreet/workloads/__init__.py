"""Workloads of counting queries: choose what to measure so that all answers together are as exact as possible."""

from discreet.mechanisms.additive.combinations import Measurement
from discreet.workloads.queries.geography import Tree
from discreet.workloads.queries.workload import (
    Workload,
    marginals,
    means,
    points,
    predicates,
    ranges,
    thresholds,
    total,
)
from discreet.workloads.releases.topdown import TopDown
from discreet.workloads.strategies.strategy_choice import Estimate, Plan, plan
from discreet.workloads.strategies.workload_budget import WorkloadBudget

__all__ = [
    "Estimate",
    "Measurement",
    "Plan",
    "TopDown",
    "Tree",
    "Workload",
    "WorkloadBudget",
    "marginals",
    "means",
    "plan",
    "points",
    "predicates",
    "ranges",
    "thresholds",
    "total",
]
