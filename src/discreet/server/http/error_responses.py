"""Errors as HTTP: a status, and always the same three words about what is wrong and what to do next."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from discreet.errors import (
    AccountFrozen,
    BudgetExceeded,
    DiscreetError,
    EngineFailure,
    Forbidden,
    LedgerDamaged,
    NameTaken,
    NoAccess,
    NotAnswered,
    OutOfTime,
    OverQuota,
    QueryRefused,
    ReplayedReport,
    ReportTooLong,
    RequestConflict,
    SessionEnded,
    StoreUnavailable,
    TaskClosed,
    TooFewReports,
    TooMany,
    TooManyReports,
    UnknownAccount,
    UnknownDataset,
    UnknownSaved,
    UnknownSession,
    UnknownTask,
    UnparsableQuery,
)

STATUS: list[tuple[type[DiscreetError], int]] = [
    (UnparsableQuery, 400),
    (Forbidden, 403),
    (NoAccess, 401),
    (BudgetExceeded, 403),
    (AccountFrozen, 403),
    (UnknownAccount, 403),
    (UnknownDataset, 404),
    (UnknownTask, 404),
    (UnknownSaved, 404),
    (NotAnswered, 404),
    (UnknownSession, 404),
    (SessionEnded, 409),
    (ReplayedReport, 409),
    (TooFewReports, 409),
    (TooManyReports, 429),
    (OverQuota, 429),
    (ReportTooLong, 413),
    (TaskClosed, 410),
    (OutOfTime, 409),
    (RequestConflict, 409),
    (NameTaken, 409),
    (TooMany, 429),
    (EngineFailure, 503),
    (StoreUnavailable, 503),
    (LedgerDamaged, 503),
    (DiscreetError, 422),
]
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {"application/json": {"schema": {"type": "object"}}}}
    for status, text in {
        400: "no SQL that can be read",
        401: "no key, or one that opens nothing",
        403: "beyond the budget, frozen or not yours",
        404: "no such dataset for you, or no such task",
        408: "too slow",
        409: "used before, or too early",
        410: "no longer collected",
        413: "too long",
        422: "refused, with a next step",
        429: "too often",
        500: "a failure",
        503: "the books or the engine do not answer",
    }.items()
}


_UNREAD = {
    400: ("bad-input", "The request broke off, or cannot be read.", "Send it again, as /openapi.json says."),
    408: ("too-slow", "The request came too slowly.", "Send it again, in one go."),
    413: ("too-large", "The request is too long.", "Send less."),
}
"""What is wrong with a request before it is understood."""


REFUSALS = (DiscreetError, RequestValidationError, HTTPException)
"""Errors that are raised on purpose."""


def add_refusals(app: FastAPI) -> None:
    """Every error that is raised on purpose becomes an answer that says nothing about data."""

    async def refused(request: Request, error: Exception) -> JSONResponse:  # no coroutine would need a thread
        return refusal(request, error)

    for kind in REFUSALS:
        app.add_exception_handler(kind, refused)


def refusal(request: Request, error: Exception) -> JSONResponse:
    """The answer to a request for which such an error was raised; its code is noted."""
    status, facts = _of(error)
    request.state.code = facts["code"]
    return JSONResponse({"error": facts}, status)


def failed() -> JSONResponse:
    """Whatever else happens."""
    problem = "The server failed. If this was a question, its price may have been paid."
    return JSONResponse({"error": _facts("failure", problem, "Ask again with the same Idempotency-Key.")}, 500)


def refusal_facts(error: DiscreetError) -> dict[str, Any]:
    """An error as JSON: of a query also where in its text, and the names that a misspelt one may have meant."""
    facts = _facts(error.code, error.problem, error.next_step)
    if isinstance(error, QueryRefused):
        facts |= {"place": error.place._asdict()} if error.place is not None else {}
        facts |= {"instead": list(error.instead)} if error.instead else {}
    return facts


def _facts(code: str, message: str, next_step: str) -> dict[str, Any]:
    """The same of an error that is none of ours."""
    return {"code": code, "message": message, "next_step": next_step}


def _of(error: Exception) -> tuple[int, dict[str, Any]]:
    if isinstance(error, DiscreetError):
        return next(status for kind, status in STATUS if isinstance(error, kind)), refusal_facts(error)
    if isinstance(error, RequestValidationError):
        return 422, _facts(
            "bad-input", "The request does not have the form that this route takes.", "See /openapi.json."
        )
    status = error.status_code if isinstance(error, HTTPException) else 404
    nowhere = ("no-route", "There is no such route, or not with this method.", "See /openapi.json.")
    return status, _facts(*_UNREAD.get(status, nowhere))
