"""Request bodies with limits on size and time, and strict JSON."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from discreet.server.http.connections import connection_of
from discreet.server.http.server_limits import Limits

Model = TypeVar("Model", bound=BaseModel)
_LARGEST = 2**64
"""Largest absolute value of an integer."""
_LONGEST_DIGITS = 20


class LimitedRequest(Request):
    """A request whose body is limited in size and time."""

    async def body(self) -> bytes:
        """Return the whole body; it is limited to the size of a query."""
        return await self.body_within(self._limits.body)

    async def body_within(self, most: int) -> bytes:
        """Return the whole body, or refuse with 413 above `most` bytes and with 408 after a timeout."""
        if not hasattr(self, "_body"):
            declared = self.headers.get("content-length", "0")
            if not declared.isdigit() or int(declared) > most:
                raise HTTPException(413)
            self._body = await self._read(most)
        return self._body

    async def json(self) -> Any:
        """Return the body as JSON, without infinite, undefined or huge numbers."""
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body())
        return self._json

    async def read(self, model: type[Model]) -> Model:
        """Return the body as a pydantic model, or refuse with 422."""
        await self.body()
        if not _is_json(self.headers.get("content-type", "")):
            raise RequestValidationError([])
        try:
            return model.model_validate(await self.json())
        except (json.JSONDecodeError, ValidationError):
            raise RequestValidationError([]) from None

    @property
    def _limits(self) -> Limits:
        limits: Limits = self.app.state.service.limits
        return limits

    async def _read(self, most: int) -> bytes:
        """Read the body. A body that was received completely needs no timeout."""
        connection, now, patience = connection_of(self), asyncio.get_running_loop().time, self._limits.patience
        end = now() + 3 * patience
        try:
            if connection is not None and connection.is_whole:
                return await self._pieces(most, lambda: None)
            async with asyncio.timeout(patience) as clock:
                return await self._pieces(most, lambda: clock.reschedule(min(now() + patience, end)))
        except TimeoutError:
            raise HTTPException(408) from None
        except ClientDisconnect:
            raise HTTPException(400) from None

    async def _pieces(self, most: int, on_piece: Callable[[], None]) -> bytes:
        pieces = bytearray()
        async for piece in self.stream():
            if len(pieces) + len(piece) > most:
                raise HTTPException(413)
            pieces += piece
            on_piece()
        return bytes(pieces)


def _is_json(kind: str) -> bool:
    kind = kind.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def read_json(text: bytes) -> Any:
    """Parse strict JSON in UTF-8, or raise JSONDecodeError. Plain `json.loads` accepts bytes that are not UTF-8, such as lone surrogates."""
    try:
        value = json.loads(text.decode(), parse_int=_whole, parse_float=_real, parse_constant=_refuse)
        if b"\\" in text:
            json.dumps(value, ensure_ascii=False).encode()  # refuses an escaped lone surrogate
    except (RecursionError, UnicodeError):
        _refuse("")
    return value


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_DIGITS + 1 or abs(int(digits)) > _LARGEST:
        _refuse(digits)
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        _refuse(digits)
    return number


def _refuse(_: str) -> NoReturn:
    raise json.JSONDecodeError("number or text out of range", "", 0)
