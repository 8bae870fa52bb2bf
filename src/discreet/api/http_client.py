"""Send requests to a server, and read its responses: JSON, release files, or refusals, which are raised as errors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx

from discreet.api.request_json import address_of, request_to_json
from discreet.api.requests.base import PaidRequest, Request
from discreet.errors import DiscreetError, EngineFailure, QueryRefused, TextSpan, Unreachable
from discreet.measurement.release_files import MEDIA_TYPE, read_release


class HttpClient:
    """A connection to a server, with a key.

    Args:
        url: The server's address.
        key: Names the account.
        seconds: Longest wait for a response.
    """

    def __init__(self, url: str, *, key: str, seconds: float = 660) -> None:
        try:
            self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=seconds)
        except httpx.InvalidURL as failure:
            raise _unreachable(failure) from None

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def execute(
        self, request: Request[Any, Any], *, key: str = "", accept: str = "", more: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """The response to a request.

        Args:
            request: A verb with its parameters.
            key: Idempotency-Key; the request's own id, or a random one, if it is empty.
            accept: Media type of the response.
            more: Further JSON.
        """
        data = {**request_to_json(request), **(more or {})}
        carried = {"json": data} if request.http_method == "POST" else {"params": data}
        headers = {"Accept": accept} if accept else {}
        if isinstance(request, PaidRequest):
            headers["Idempotency-Key"] = key or idempotency_key(request)
        return self.send(request.http_method, address_of(request), headers=headers, **carried)

    def json(self, request: Request[Any, Any], *, key: str = "") -> dict[str, Any]:
        """The JSON of the response to a request."""
        return read_json(self.execute(request, key=key))

    def release(self, request: Request[Any, Any]) -> dict[str, Any]:
        """The release file in the response to a request."""
        response = self.execute(request, accept=MEDIA_TYPE)
        if not response.is_success:
            read_json(response)
        stored, name, receipt = read_release(response.content)
        return {"stored": stored, "name": name, "receipt": receipt, "replayed": is_replayed(response)}

    def send(self, method: str, path: str, **carried: Any) -> httpx.Response:
        """The response to an HTTP request."""
        try:
            return self._http.request(method, path, **carried)
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            raise _unreachable(failure) from None


def idempotency_key(request: PaidRequest[Any, Any]) -> str:
    """The id of a request, or a random one."""
    return request.request_id or os.urandom(16).hex()


def is_replayed(response: httpx.Response) -> bool:
    """Whether the result was stored before, and nothing was charged for it."""
    return response.headers.get("Discreet-Replayed") == "true"


def read_json(response: httpx.Response) -> dict[str, Any]:
    """The JSON of a response. A refusal is raised as the error that the server's curator raised."""
    try:
        data: dict[str, Any] = response.json()
    except ValueError:
        raise EngineFailure("The server did not answer in JSON.", next_step="Check the address.") from None
    if response.is_success:
        return data
    refusal = data.get("error", {})
    kind = _by_code().get(refusal.get("code", ""), DiscreetError)
    error = kind(refusal.get("message", "The server refused."), next_step=refusal.get("next_step", "Ask its owner."))
    if isinstance(error, QueryRefused):
        error.place = TextSpan(**refusal["place"]) if refusal.get("place") else None
        error.instead = tuple(refusal.get("instead", ()))
    raise error


def _unreachable(failure: Exception) -> Unreachable:
    """By the name of its class, and without the address, which may have a password in it."""
    return Unreachable(
        f"The server did not answer ({type(failure).__name__}).",
        next_step="Check its address and that it runs, and send the request again: nothing is charged twice.",
    )


def _by_code() -> dict[str, type[DiscreetError]]:
    kinds: dict[str, type[DiscreetError]] = {}
    waiting: list[type[DiscreetError]] = [DiscreetError]
    while waiting:
        kind = waiting.pop()
        kinds[kind.code] = kind
        waiting += kind.__subclasses__()
    return kinds
