"""The curator's face over HTTP, so that a notebook does not care where the data is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self, Unpack
from urllib.parse import quote

import httpx

from discreet.answering.face import CuratorFace
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
from discreet.answering.release_files import MEDIA_TYPE, read_release
from discreet.answering.run_options import RunOptions
from discreet.answering.run_release import RunRelease
from discreet.answering.wire import parameter_facts
from discreet.errors import BadInput, DiscreetError, EngineFailure, QueryRefused, Unreachable
from discreet.exact import Number, exact
from discreet.figures import CONFIDENCE
from discreet.loss import Loss
from discreet.place import Place
from discreet.remote import RemoteAnswer, RemoteSession, RemoteWatch
from discreet.sessions.asking import SessionOptions
from discreet.sessions.face import SessionPlan, SessionsFace
from discreet.sql.builder import Table
from discreet.sql.text import Parameters
from discreet.synthetic.asking import SynthesisOptions
from discreet.synthetic.face import SynthesisPlan, SyntheticFace
from discreet.synthetic.release import SyntheticRelease
from discreet.workloads.describing import described
from discreet.workloads.face import TablesFace, TablesPlan, TablesRelease
from discreet.workloads.regional import RegionalRelease
from discreet.workloads.tabulating import TabulatedRelease
from discreet.workloads.workload import Workload


def _by_code() -> dict[str, type[DiscreetError]]:
    kinds: dict[str, type[DiscreetError]] = {}
    waiting: list[type[DiscreetError]] = [DiscreetError]
    while waiting:
        kind = waiting.pop()
        kinds[kind.code] = kind
        waiting += kind.__subclasses__()
    return kinds


class RemoteCurator(SyntheticFace, TablesFace, SessionsFace, CuratorFace):
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

    def synthesize(
        self,
        source: str | Table,
        *,
        name: str | None = None,
        request_id: str | None = None,
        **wanted: Unpack[SynthesisOptions],
    ) -> SyntheticRelease:
        """Synthetic rows of a table, or of a SELECT that yields people's rows: paid for once, and resumed where a crash left it."""
        body = _run_body(source, {**wanted, "name": name})
        return SyntheticRelease(**self._saved("POST", "/v1/synthesize", json=body, headers=_named(request_id)))

    def plan_synthesis(
        self, source: str | Table, *, rows_about: int | None = None, **wanted: Unpack[SynthesisOptions]
    ) -> SynthesisPlan:
        """What `synthesize` would make and cost, and how exact it would be; or its refusal. Spends nothing."""
        body = _run_body(source, {**wanted, "rows_about": rows_about, "dry": True})
        return read_facts(SynthesisPlan, _checked(self._send("POST", "/v1/synthesize", json=body)))

    def tabulate(
        self,
        source: str | Table,
        workload: Workload | None = None,
        *,
        tree: str | None = None,
        name: str | None = None,
        request_id: str | None = None,
        **options: Unpack[RunOptions],
    ) -> TablesRelease:
        """The answers to a workload over a table, or over a SELECT that yields people's rows: they agree, and are paid for once."""
        body = _run_body(source, {**options, "workload": _queries(workload), "tree": tree, "name": name})
        kind = TabulatedRelease if tree is None else RegionalRelease
        return kind(**self._saved("POST", "/v1/tabulate", json=body, headers=_named(request_id)))

    def plan_tables(
        self,
        source: str | Table,
        workload: Workload | None = None,
        *,
        tree: str | None = None,
        **options: Unpack[RunOptions],
    ) -> TablesPlan:
        """What `tabulate` would measure, ± of its answers, and the price. Spends nothing."""
        body = _run_body(source, {**options, "workload": _queries(workload), "tree": tree, "dry": True})
        return read_facts(TablesPlan, _checked(self._send("POST", "/v1/tabulate", json=body)))

    def session(
        self, source: str | Table, *, questions: int, request_id: str | None = None, **wanted: Unpack[SessionOptions]
    ) -> RemoteSession:
        """Many questions about counts of rows, chosen one by another's answer, for one price that is paid now. A release is named."""
        body = _session_body(source, questions, wanted)
        headers = _named(request_id)

        def send(path: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
            return _checked(self._send("POST", path, json=given, headers=headers if given is body else _named(None)))

        return RemoteSession(send, body)

    def plan_session(self, source: str | Table, *, questions: int, **wanted: Unpack[SessionOptions]) -> SessionPlan:
        """What `session` would cost and promise, or its refusal. Spends nothing."""
        body = {**_session_body(source, questions, wanted), "dry": True}
        return read_facts(SessionPlan, _checked(self._send("POST", "/v1/sessions", json=body)))

    def releases(self) -> list[str]:
        """The names of releases that are finished and yours to see: those that you have paid for, or all for the owner; and what is published."""
        names: list[str] = self._get("/v1/releases")["releases"]
        return names

    def release(self, name: str) -> RunRelease:
        """A release by its name: synthetic data, or tables. Nothing is spent."""
        return RunRelease.of_its_kind(**self._saved("GET", f"/v1/releases/{quote(name, safe='')}"))

    def publish(self, name: str, *, given_by: str | None = None) -> None:
        """Show a finished release to all, free, from now on: with an owner's key. It cannot be taken back.

        Args:
            name: As it was given.
            given_by: The analyst who gave it, where several did.
        """
        place, whose = f"/v1/releases/{quote(name, safe='')}/published", {"analyst": given_by} if given_by else {}
        if not (response := self._send("PUT", place, params=whose)).is_success:
            _checked(response)

    def _saved(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **given: Any
    ) -> dict[str, Any]:
        """A release as its file has it."""
        response = self._send(method, path, headers={**(headers or {}), "Accept": MEDIA_TYPE}, **given)
        if not response.is_success:
            _checked(response)
        stored, name, receipt = read_release(response.content)
        replayed = response.headers.get("Discreet-Replayed") == "true"
        return {"stored": stored, "name": name, "receipt": receipt, "replayed": replayed}

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


def _run_body(source: str | Table, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said about a run, and nothing that was not."""
    body: dict[str, Any] = {"source": str(source)}
    for name, value in said.items():
        if name in ("epsilon", "delta", "rho") and value is not None:
            body[name] = float(exact(value))
        elif name == "parameters":
            body |= {name: parameter_facts(value)} if value else {}
        elif value is not None:
            body[name] = value
    return body


def _session_body(source: str | Table, questions: int, wanted: SessionOptions) -> dict[str, Any]:
    """What was said about a session; a server knows releases by their names."""
    if isinstance(wanted.get("release"), RunRelease):
        raise BadInput(
            "A server knows releases by their names.", next_step="Give the name of one that you have paid for."
        )
    return _run_body(source, {**wanted, "questions": questions, "name": wanted.get("name") or None})


def _queries(workload: Workload | None) -> list[dict[str, Any]] | None:
    """A workload as the server reads it."""
    if workload is None:
        return None
    if not isinstance(workload, Workload):
        raise BadInput("A workload is needed here.", next_step="Give one, such as discreet.workloads.marginals(2).")
    return described(workload, number=float)


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
