"""Sessions: many questions about counts, one after another, under one price."""

from discreet.sessions.count_queries import Between, Query
from discreet.sessions.session import Session
from discreet.sessions.session_terms import SessionAnswer

__all__ = ["Between", "Query", "Session", "SessionAnswer"]
