"""Sessions: many questions about counts, one after another, under one price."""

from discreet.sessions.questions import Between, Query
from discreet.sessions.session import Session
from discreet.sessions.terms import SessionAnswer

__all__ = ["Between", "Query", "Session", "SessionAnswer"]
