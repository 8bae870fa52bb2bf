"""Text to plan: what a question means, whether it is private, and what it would cost."""

from discreet.sql.builder import Table
from discreet.sql.joins import PublicFacts
from discreet.sql.plan import Plan
from discreet.sql.planner import plan_query
from discreet.sql.text import Parameters

__all__ = ["Parameters", "Plan", "PublicFacts", "Table", "plan_query"]
