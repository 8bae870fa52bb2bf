"""Errors as HTTP: a status, and always the same three words about what is wrong and what to do next."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, Response
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
    NoAccess,
    OverQuota,
    ReplayedReport,
    ReportTooLong,
    RequestConflict,
    StoreUnavailable,
    TaskClosed,
    TooFewReports,
    TooMany,
    TooManyReports,
    UnknownDataset,
    UnknownTask,
    UnparsableQuery,
)

_STATUS: list[tuple[type[DiscreetError], int]] = [
    (UnparsableQuery, 400),
    (Forbidden, 403),
    (NoAccess, 401),
    (BudgetExceeded, 403),
    (AccountFrozen, 403),
    (UnknownDataset, 404),
    (UnknownTask, 404),
    (ReplayedReport, 409),
    (TooFewReports, 409),
    (TooManyReports, 429),
    (OverQuota, 429),
    (ReportTooLong, 413),
    (TaskClosed, 410),
    (RequestConflict, 409),
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
        409: "used before, or too early",
        410: "no longer collected",
        413: "too long",
        422: "refused, with a next step",
        429: "too often",
        503: "a failure",
    }.items()
}


def add_refusals(app: FastAPI) -> None:
    """Every error becomes an answer that says nothing about data."""
    app.add_exception_handler(DiscreetError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _no_such_thing)
    app.add_exception_handler(Exception, _failed)


def told(status: int, code: str, message: str, next_step: str) -> JSONResponse:
    """The body of every error."""
    return JSONResponse({"error": {"code": code, "message": message, "next_step": next_step}}, status)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, DiscreetError)  # noqa: S101
    request.state.code = error.code
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    return told(status, error.code, error.problem, error.next_step)


def _malformed(_: Request, __: Exception) -> Response:
    return told(422, "bad-input", "The request does not have the form that this route takes.", "See /openapi.json.")


def _no_such_thing(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return told(status, "no-route", "There is no such route, or not with this method.", "See /openapi.json.")


def _failed(_: Request, __: Exception) -> Response:
    problem = "The server failed. If this was a question, its price may have been paid."
    return told(503, "failure", problem, "Ask again with the same Idempotency-Key.")
