"""Errors as HTTP responses: a status, and JSON with `code`, `message` and `next_step`."""

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
        400: "the SQL cannot be parsed",
        401: "no key, or an invalid one",
        403: "over the budget, account frozen, or not permitted",
        404: "unknown dataset, task, release or session",
        408: "the request was sent too slowly",
        409: "conflicts with an earlier request, or too early",
        410: "the task is closed",
        413: "the request is too long",
        422: "refused; `next_step` says what to do",
        429: "too many requests",
        500: "unexpected failure",
        503: "the ledger or the engine is not available",
    }.items()
}


_UNREAD = {
    400: ("bad-input", "The request is incomplete or malformed.", "Send it as /openapi.json describes."),
    408: ("too-slow", "The request was sent too slowly.", "Send it again without pauses."),
    413: ("too-large", "The request is too long.", "Send a shorter one."),
}
"""Errors of requests that could not be read, by status."""


REFUSALS = (DiscreetError, RequestValidationError, HTTPException)
"""Errors that the server raises deliberately. Their texts never quote data."""


def add_refusals(app: FastAPI) -> None:
    """Register handlers that turn each deliberate error into a response."""

    async def refused(
        request: Request, error: Exception
    ) -> JSONResponse:  # async, as FastAPI runs plain functions in a thread
        return refusal_response(request, error)

    for kind in REFUSALS:
        app.add_exception_handler(kind, refused)


def refusal_response(request: Request, error: Exception) -> JSONResponse:
    """Return the response for an error, and set its code for the access log."""
    status, details = _status_and_json(error)
    request.state.code = details["code"]
    return JSONResponse({"error": details}, status)


def failure_response() -> JSONResponse:
    """Return the response for an unexpected error."""
    problem = "The server failed. If this was a query, it may have been charged."
    return JSONResponse(
        {"error": _facts("failure", problem, "Send it again with the same Idempotency-Key: it is charged once.")}, 500
    )


def error_json(error: DiscreetError) -> dict[str, Any]:
    """Return an error as JSON. An error of a query also has its position in the text, and suggestions for a misspelt name."""
    facts = _facts(error.code, error.problem, error.next_step)
    if isinstance(error, QueryRefused):
        facts |= {"place": error.place._asdict()} if error.place is not None else {}
        facts |= {"instead": list(error.instead)} if error.instead else {}
    return facts


def _facts(code: str, message: str, next_step: str) -> dict[str, Any]:
    """Return the JSON of an error that is not a `DiscreetError`."""
    return {"code": code, "message": message, "next_step": next_step}


def _status_and_json(error: Exception) -> tuple[int, dict[str, Any]]:
    if isinstance(error, DiscreetError):
        return next(status for kind, status in STATUS if isinstance(error, kind)), error_json(error)
    if isinstance(error, RequestValidationError):
        return 422, _facts(
            "bad-input", "The body or the parameters do not match the schema of this route.", "See /openapi.json."
        )
    status = error.status_code if isinstance(error, HTTPException) else 404
    unknown = ("no-route", "This route does not exist, or does not support this method.", "See /openapi.json.")
    return status, _facts(*_UNREAD.get(status, unknown))
