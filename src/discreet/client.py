"""The curator's face over HTTP, so that a notebook does not care where the data is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Self

import httpx

from discreet.errors import BadInput, DiscreetError, EngineFailure
from discreet.loss import Loss
from discreet.sql import Parameters, Table


def _by_code() -> dict[str, type[DiscreetError]]:
    found: dict[str, type[DiscreetError]] = {}
    waiting: list[type[DiscreetError]] = [DiscreetError]
    while waiting:
        kind = waiting.pop()
        found[kind.code] = kind
        waiting += kind.__subclasses__()
    return found


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """A private answer that came over the wire; intervals are for the server's confidence."""

    columns: list[str]
    rows: list[dict[str, Any]]
    confidence: float
    loss: Loss
    replayed: bool
    receipt: str
    _half_widths: list[dict[str, float | None]]
    _intervals: list[dict[str, list[float] | None]]

    def half_widths(self, level: float) -> list[dict[str, float | None]]:
        """The larger side of every interval."""
        self._check(level)
        return self._half_widths

    def intervals(self, level: float) -> list[dict[str, tuple[float, float] | None]]:
        """(low, high) for every noisy cell, None for keys and for cells that could be anything."""
        self._check(level)
        return [
            {n: None if i is None or None in i else (i[0], i[1]) for n, i in row.items()} for row in self._intervals
        ]

    def _check(self, level: float) -> None:
        if level != self.confidence:
            raise BadInput(
                f"This server answers with intervals at {self.confidence:g}.", next_step=f"Ask for {self.confidence:g}."
            )

    def to_arrow(self) -> Any:
        """An Arrow table of the values; ± columns are named `name ±`."""
        import pyarrow as pa  # noqa: PLC0415

        columns: dict[str, list[Any]] = {}
        for name in self.columns:
            columns[name] = [row[name] for row in self.rows]
            if any(row[name] is not None for row in self._half_widths):
                columns[f"{name} ±"] = [row[name] for row in self._half_widths]
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """The same as a data frame; needs pandas."""
        return self.to_arrow().to_pandas()


class RemoteCurator:
    """Asks a server; the same calls as a curator at hand."""

    def __init__(self, url: str, *, key: str, seconds: float = 660) -> None:
        self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def table(self, name: str) -> Table:
        """A question built step by step instead of written."""
        return Table(name)

    def ask(
        self,
        sql: str | Table,
        *,
        epsilon: float | None = None,
        within: float | None = None,
        confidence: float | None = None,
        delta: float | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        request_id: str | None = None,
    ) -> RemoteAnswer:
        """Ask; a call that is repeated with the same `request_id` is paid for once."""
        body = _body(sql, epsilon, within, confidence, delta, mechanism, parameters)
        headers = {"Idempotency-Key": request_id or os.urandom(16).hex()}
        response = self._http.post("/v1/ask", json=body, headers=headers)
        facts = _checked(response)
        return RemoteAnswer(
            columns=facts["columns"],
            rows=facts["rows"],
            confidence=facts["confidence"],
            loss=Loss(**facts["loss"]),
            replayed=response.headers.get("Discreet-Replayed") == "true",
            receipt=facts["receipt"],
            _half_widths=facts["half_widths"],
            _intervals=facts["intervals"],
        )

    def explain(
        self, sql: str | Table, *, epsilon: float | None = None, delta: float | None = None, parameters: Parameters = ()
    ) -> dict[str, Any]:
        """What a question would read, measure and cost. Spends nothing."""
        body = _body(sql, epsilon, None, None, delta, None, parameters)
        return _checked(self._http.post("/v1/explain", json=body))

    def budget(self) -> list[dict[str, Any]]:
        """What is left."""
        found: list[dict[str, Any]] = _checked(self._http.get("/v1/budget"))["accounts"]
        return found

    def history(self) -> list[dict[str, Any]]:
        """What was asked."""
        found: list[dict[str, Any]] = _checked(self._http.get("/v1/history"))["questions"]
        return found

    def catalog(self) -> dict[str, Any]:
        """What is public about the data."""
        return _checked(self._http.get("/v1/catalog"))


def _body(*given: Any) -> dict[str, Any]:
    names = ("sql", "epsilon", "within", "confidence", "delta", "mechanism", "parameters")
    body = {name: value for name, value in zip(names, given, strict=True) if value is not None}
    body["sql"] = str(body["sql"])
    parameters = body.pop("parameters", ())
    return (
        {**body, "parameters": parameters if isinstance(parameters, dict) else list(parameters)} if parameters else body
    )


def _checked(response: httpx.Response) -> dict[str, Any]:
    """The answer, or the refusal as the error that it is at home."""
    try:
        facts: dict[str, Any] = response.json()
    except ValueError:
        raise EngineFailure("The server did not answer in JSON.", next_step="Check the address.") from None
    if response.is_success:
        return facts
    refusal = facts.get("error", {})
    kind = _by_code().get(refusal.get("code", ""), DiscreetError)
    raise kind(refusal.get("message", "The server refused."), next_step=refusal.get("next_step", "Ask its owner."))


def connect(url: str, *, key: str) -> RemoteCurator:
    """A curator behind a server."""
    return RemoteCurator(url, key=key)
