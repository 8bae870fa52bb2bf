"""Sessions: many queries about counts, one after another, under one price."""

from discreet.sessions.count_queries import Between, SessionQuery
from discreet.sessions.session import Session
from discreet.sessions.session_terms import SessionAnswer

__all__ = ["Between", "Session", "SessionAnswer", "SessionQuery"]
