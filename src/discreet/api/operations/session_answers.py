"""Answer queries in a session that is open in this process."""

from __future__ import annotations

from discreet.api.context import Context
from discreet.api.requests.session_answers import SessionAnswersRequest
from discreet.sessions.session_base import SessionAnswers


def run(request: SessionAnswersRequest, context: Context) -> SessionAnswers:
    """Find the session of the caller, and answer; all answers of one request are stored together."""
    session = context.sessions.get(request.session_id, analyst=context.analyst)
    answers = session.answer_many(request.queries, call=context.call, most_cells=context.sessions.most_cells)
    return SessionAnswers(answers, session.state)
