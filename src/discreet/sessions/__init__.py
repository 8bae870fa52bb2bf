"""Sessions: many adaptive count queries under one charge."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.sessions.count_queries import Between, SessionQuery
    from discreet.sessions.session import Session
    from discreet.sessions.session_terms import SessionAnswer

_MODULES = {
    "Between": "count_queries",
    "Session": "session",
    "SessionAnswer": "session_terms",
    "SessionQuery": "count_queries",
}
"""Imported when they are first used: every curator has a pool of sessions, and few calls open one."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"discreet.sessions.{_MODULES[name]}"), name)
    message = f"module 'discreet.sessions' has no attribute {name!r}"
    raise AttributeError(message)


__all__ = ["Between", "Session", "SessionAnswer", "SessionQuery"]
