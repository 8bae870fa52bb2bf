"""Requests to a server, and what it says: answers, releases, or refusals as the errors that they are at home."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx

from discreet.errors import DiscreetError, EngineFailure, QueryRefused, TextSpan, Unreachable
from discreet.measurement.release_files import MEDIA_TYPE, read_release


class Caller:
    """Somebody with a key to a server.

    Args:
        url: The server's address.
        key: Who asks.
        seconds: How long to wait for an answer.
    """

    def __init__(self, url: str, *, key: str, seconds: float = 660) -> None:
        try:
            self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=seconds)
        except httpx.InvalidURL as failure:
            raise _unreachable(failure) from None

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def saved(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **given: Any
    ) -> dict[str, Any]:
        """A release as its file has it."""
        response = self.send(method, path, headers={**(headers or {}), "Accept": MEDIA_TYPE}, **given)
        if not response.is_success:
            checked(response)
        stored, name, receipt = read_release(response.content)
        replayed = response.headers.get("Discreet-Replayed") == "true"
        return {"stored": stored, "name": name, "receipt": receipt, "replayed": replayed}

    def get(self, path: str) -> dict[str, Any]:
        """What is at an address."""
        return checked(self.send("GET", path))

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        """What the server says to a request."""
        try:
            return self._http.request(method, path, **given)
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            raise _unreachable(failure) from None


def named(request_id: str | None) -> dict[str, str]:
    """The header that names a call; one that nobody named gets a name of its own."""
    return {"Idempotency-Key": request_id or os.urandom(16).hex()}


def _unreachable(failure: Exception) -> Unreachable:
    """By name, and without the address, which may have a password in it."""
    return Unreachable(
        f"The server did not answer ({type(failure).__name__}).",
        next_step="Check its address and that it runs, and ask again: a question that was paid for costs nothing more.",
    )


def checked(response: httpx.Response) -> dict[str, Any]:
    """The answer, or the refusal as the error that it is at home."""
    try:
        facts: dict[str, Any] = response.json()
    except ValueError:
        raise EngineFailure("The server did not answer in JSON.", next_step="Check the address.") from None
    if response.is_success:
        return facts
    refusal = facts.get("error", {})
    kind = _by_code().get(refusal.get("code", ""), DiscreetError)
    error = kind(refusal.get("message", "The server refused."), next_step=refusal.get("next_step", "Ask its owner."))
    if isinstance(error, QueryRefused):
        error.place = TextSpan(**refusal["place"]) if refusal.get("place") else None
        error.instead = tuple(refusal.get("instead", ()))
    raise error


def _by_code() -> dict[str, type[DiscreetError]]:
    kinds: dict[str, type[DiscreetError]] = {}
    waiting: list[type[DiscreetError]] = [DiscreetError]
    while waiting:
        kind = waiting.pop()
        kinds[kind.code] = kind
        waiting += kind.__subclasses__()
    return kinds
