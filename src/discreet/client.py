"""The curator's face over HTTP, so that a notebook does not care where the data is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import httpx
import pyarrow as pa

from discreet.answering.face import CuratorFace, WatchFace
from discreet.answering.facts import (
    PAGE,
    Balance,
    Card,
    CatalogFacts,
    Explanation,
    PastRelease,
    WatchFacts,
    read_facts,
)
from discreet.answering.shown import Ends, Interval, Shown
from discreet.answering.wire import parameter_facts, read_array, read_ends, read_half_widths, read_intervals, read_type
from discreet.errors import DiscreetError, EngineFailure, Place, QueryRefused, Unreachable
from discreet.exact import Number, exact, read_level
from discreet.figures import CONFIDENCE
from discreet.loss import Loss
from discreet.sql.builder import Table
from discreet.sql.text import Parameters


def _by_code() -> dict[str, type[DiscreetError]]:
    kinds: dict[str, type[DiscreetError]] = {}
    waiting: list[type[DiscreetError]] = [DiscreetError]
    while waiting:
        kind = waiting.pop()
        kinds[kind.code] = kind
        waiting += kind.__subclasses__()
    return kinds


@dataclass(frozen=True, slots=True, repr=False)
class RemoteAnswer(Shown):
    """An answer that came over the wire. Intervals at another level are asked for again, which is free."""

    _at: Callable[[float], Mapping[str, Any]] = field(repr=False, compare=False)
    _facts: dict[float, Mapping[str, Any]]

    def _at_level(self, level: Number) -> Mapping[str, Any]:
        asked = float(read_level(level))
        if asked not in self._facts:
            self._facts[asked] = self._at(asked)
        return self._facts[asked]

    @property
    def columns(self) -> list[str]:
        """Their names, in order."""
        columns: list[str] = self._at_level(CONFIDENCE)["columns"]
        return columns

    @property
    def types(self) -> list[pa.DataType]:
        """Their types, in order."""
        return [read_type(kind) for kind in self._at_level(CONFIDENCE)["types"]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """In order, one dict a row; dates as text."""
        rows: list[dict[str, Any]] = self._at_level(CONFIDENCE)["rows"]
        return rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known beside the numbers."""
        return tuple(self._at_level(CONFIDENCE)["notes"])

    def intervals(self, level: Number) -> list[dict[str, Interval | None]]:
        """(low, high) for every noisy cell, None for keys; an end that nothing bounds is infinite."""
        return read_intervals(self._at_level(level))

    def half_widths(self, level: Number) -> list[dict[str, float | None]]:
        """The larger side of every interval; of dates in days."""
        return read_half_widths(self._at_level(level))

    def arrays(self, level: Number) -> Iterator[tuple[str, pa.Array, Ends | None]]:
        """Each column with its values and, where it is noisy, the ends of its intervals."""
        facts, intervals = self._at_level(CONFIDENCE), self.intervals(level)
        for name, kind in zip(facts["columns"], facts["types"], strict=True):
            yield name, read_array([row[name] for row in self.rows], kind), read_ends([row[name] for row in intervals])


class RemoteWatch(WatchFace):
    """A watch behind a server: the same words find it again, and it says what it said of the data version that is served."""

    __slots__ = ("_tell", "receipt")

    def __init__(self, tell: Callable[[str], WatchFacts], *, receipt: str) -> None:
        self._tell, self.receipt = tell, receipt

    def __repr__(self) -> str:
        return f"RemoteWatch(receipt={self.receipt[:12]!r})"

    @property
    def answers(self) -> dict[int, bool]:
        """What was said, by data version."""
        return {look.version: look.above for look in self._tell("/v1/watch/recall").looks}

    @property
    def ended(self) -> str | None:
        """Why there is nothing more to come: above, failed or lost; None while it goes on."""
        return self._tell("/v1/watch/recall").ended

    def evaluate(self) -> bool:
        """Whether the count of the data version that is served is above, noisily; the same as often as it is asked for."""
        facts = self._tell("/v1/watch/look")
        return next(look.above for look in facts.looks if look.version == facts.data_version)


class RemoteCurator(CuratorFace):
    """Asks a server; the same calls as a curator at hand, for whoever the key is.

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
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        request_id: str | None = None,
    ) -> RemoteAnswer:
        """Ask; a call that is repeated with the same `request_id` is paid for once."""
        body = _body(
            sql, mechanism, parameters, epsilon=epsilon, within=within, confidence=confidence, delta=delta
        )  # fmt: skip
        headers = _named(request_id)

        def asked(level: float) -> httpx.Response:
            """Under one Idempotency-Key: asked again after the data changed, it is refused and not paid for anew."""
            return self._send("POST", "/v1/ask", json={**body, "level": level}, headers=headers)

        response = asked(CONFIDENCE)
        facts = _checked(response)
        return RemoteAnswer(
            lambda level: _checked(asked(level)),
            {CONFIDENCE: facts},
            loss=Loss(**facts["loss"]),
            replayed=response.headers.get("Discreet-Replayed") == "true",
            receipt=facts["receipt"],
        )

    def explain(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
    ) -> Explanation:
        """What a question would read, measure and cost. Spends nothing."""
        body = _body(
            sql, mechanism, parameters, epsilon=epsilon, within=within, confidence=confidence, delta=delta
        )  # fmt: skip
        return read_facts(Explanation, _checked(self._send("POST", "/v1/explain", json=body)))

    def watch(
        self,
        sql: str | Table,
        *,
        threshold: Number,
        epsilon: Number | None = None,
        parameters: Parameters = (),
        run: int = 1,
        request_id: str | None = None,
    ) -> RemoteWatch:
        """Watch one count or sum over data versions until it is above, noisily: paid for in full now, and once."""
        body = _body(sql, None, parameters, epsilon=epsilon)
        body |= {"threshold": _plain_number(threshold), "run": run}

        def tell(path: str) -> WatchFacts:
            return read_facts(WatchFacts, _checked(self._send("POST", path, json=body, headers=_named(request_id))))

        return RemoteWatch(tell, receipt=tell("/v1/watch").receipt)

    def budget(self) -> list[Balance]:
        """The dataset's account and your own; all of them for the owner."""
        return [read_facts(Balance, facts) for facts in self._get("/v1/budget")["accounts"]]

    def history(self, *, before: int | None = None, limit: int = PAGE) -> list[PastRelease]:
        """What you asked, newest first; for the owner, what anybody did. With `before`, what came before that number."""
        page: dict[str, int] = {"limit": limit} if before is None else {"limit": limit, "before": before}
        facts = _checked(self._send("GET", "/v1/history", params=page))
        return [read_facts(PastRelease, question) for question in facts["questions"]]

    def catalog(self) -> CatalogFacts:
        """What is public about the data."""
        return read_facts(CatalogFacts, self._get("/v1/catalog"))

    def card(self) -> Card:
        """What was spent on what, for everybody."""
        return read_facts(Card, self._get("/v1/transparency"))

    def _get(self, path: str) -> dict[str, Any]:
        return _checked(self._send("GET", path))

    def _send(self, method: str, path: str, **given: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **given)
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            raise _unreachable(failure) from None


def _body(sql: str | Table, mechanism: str | None, parameters: Parameters, **prices: Number | None) -> dict[str, Any]:
    """What was said, and nothing that was not."""
    body: dict[str, Any] = {"sql": str(sql)}
    body |= {name: float(exact(value)) for name, value in prices.items() if value is not None}
    body |= {} if mechanism is None else {"mechanism": mechanism}
    return {**body, "parameters": parameter_facts(parameters)} if parameters else body


def _plain_number(value: Number) -> int | float:
    """As JSON has it: whole numbers stay exact."""
    number = exact(value)
    return int(number) if number.denominator == 1 else float(number)


def _named(request_id: str | None) -> dict[str, str]:
    return {"Idempotency-Key": request_id or os.urandom(16).hex()}


def _unreachable(failure: Exception) -> Unreachable:
    """By name, and without the address, which may have a password in it."""
    return Unreachable(
        f"The server did not answer ({type(failure).__name__}).",
        next_step="Check its address and that it runs, and ask again: a question that was paid for costs nothing more.",
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
    error = kind(refusal.get("message", "The server refused."), next_step=refusal.get("next_step", "Ask its owner."))
    if isinstance(error, QueryRefused):
        error.place = Place(**refusal["place"]) if refusal.get("place") else None
        error.instead = tuple(refusal.get("instead", ()))
    raise error


def connect(url: str, *, key: str) -> RemoteCurator:
    """A curator behind a server."""
    return RemoteCurator(url, key=key)
