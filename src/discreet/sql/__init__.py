"""Text to plan: what a question means, whether it is private, and what it would cost."""

from discreet.sql.plan import Plan
from discreet.sql.planner import plan_query
from discreet.sql.relations import PublicFacts

__all__ = ["Plan", "PublicFacts", "plan_query"]
