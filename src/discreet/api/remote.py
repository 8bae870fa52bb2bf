"""The curator's face over HTTP, so that a notebook does not care where the data is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack
from urllib.parse import quote

import httpx

from discreet.api.base import CuratorFace
from discreet.api.faces.models import Kind, LearningFace, LearningOptions, LearningPlan
from discreet.api.faces.networks import GraphsFace, unknown_graph
from discreet.api.faces.sessions import SessionPlan, SessionsFace
from discreet.api.faces.synthesis import SynthesisPlan, SyntheticFace
from discreet.api.faces.tables import TablesFace, TablesPlan, TablesRelease
from discreet.api.http_client import Caller, checked, named, run_body
from discreet.api.remote_results import RemoteAnswer, RemoteGraph, RemoteSession, RemoteWatch
from discreet.core.exact import Number, exact
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadInput
from discreet.learning.data.features import Feature
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Model
from discreet.learning.models.product_moments import Moments
from discreet.learning.runs.deciders import Decider
from discreet.learning.runs.evaluation import Evaluation
from discreet.learning.runs.model_json import decider_facts, model_facts
from discreet.measurement.run_options import RunOptions
from discreet.measurement.run_release import RunRelease
from discreet.results.answer_json import parameter_facts
from discreet.results.models import (
    PAGE,
    Balance,
    Card,
    CatalogFacts,
    Explanation,
    PastRelease,
    WatchFacts,
    read_facts,
)
from discreet.sessions.session_run import SessionOptions
from discreet.sql.builder import Table
from discreet.sql.reader.query_text import Parameters
from discreet.synthetic.synthesis_run import SynthesisOptions
from discreet.synthetic.synthetic_release import SyntheticRelease
from discreet.workloads.queries.workload import Workload
from discreet.workloads.queries.workload_json import described
from discreet.workloads.releases.regional import RegionalRelease
from discreet.workloads.releases.tabulation import TabulatedRelease


class RemoteCurator(Caller, SyntheticFace, TablesFace, LearningFace, GraphsFace, SessionsFace, CuratorFace):
    """Asks a server; the same calls as a curator at hand, for whoever the key is.

    Args:
        url: The server's address.
        key: Who asks.
        seconds: How long to wait for an answer.
    """

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
        headers = named(request_id)

        def asked(level: float) -> httpx.Response:
            """Under one Idempotency-Key: asked again after the data changed, it is refused and not paid for anew."""
            return self._send("POST", "/v1/ask", json={**body, "level": level}, headers=headers)

        response = asked(CONFIDENCE)
        facts = checked(response)
        return RemoteAnswer(
            lambda level: checked(asked(level)),
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
        return read_facts(Explanation, checked(self._send("POST", "/v1/explain", json=body)))

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
            return read_facts(WatchFacts, checked(self._send("POST", path, json=body, headers=named(request_id))))

        return RemoteWatch(tell, receipt=tell("/v1/watch").receipt)

    def budget(self) -> list[Balance]:
        """The dataset's account and your own; all of them for the owner."""
        return [read_facts(Balance, facts) for facts in self._get("/v1/budget")["accounts"]]

    def history(self, *, before: int | None = None, limit: int = PAGE) -> list[PastRelease]:
        """What you asked, newest first; for the owner, what anybody did. With `before`, what came before that number."""
        page: dict[str, int] = {"limit": limit} if before is None else {"limit": limit, "before": before}
        facts = checked(self._send("GET", "/v1/history", params=page))
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
        body = run_body(source, {**wanted, "name": name})
        return SyntheticRelease(**self._saved("POST", "/v1/synthesize", json=body, headers=named(request_id)))

    def plan_synthesis(
        self,
        source: str | Table,
        *,
        name: str | None = None,
        rows_about: int | None = None,
        **wanted: Unpack[SynthesisOptions],
    ) -> SynthesisPlan:
        """What `synthesize` would make and cost, and how exact it would be; or its refusal. Spends nothing."""
        body = run_body(source, {**wanted, "name": name, "rows_about": rows_about, "dry": True})
        return read_facts(SynthesisPlan, checked(self._send("POST", "/v1/synthesize", json=body)))

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
        body = run_body(source, {**options, "workload": _queries(workload), "tree": tree, "name": name})
        kind = TabulatedRelease if tree is None else RegionalRelease
        return kind(**self._saved("POST", "/v1/tabulate", json=body, headers=named(request_id)))

    def plan_tables(
        self,
        source: str | Table,
        workload: Workload | None = None,
        *,
        tree: str | None = None,
        name: str | None = None,
        **options: Unpack[RunOptions],
    ) -> TablesPlan:
        """What `tabulate` would measure, ± of its answers, and the price. Spends nothing."""
        body = run_body(source, {**options, "workload": _queries(workload), "tree": tree, "name": name, "dry": True})
        return read_facts(TablesPlan, checked(self._send("POST", "/v1/tabulate", json=body)))

    def session(
        self, source: str | Table, *, questions: int, request_id: str | None = None, **wanted: Unpack[SessionOptions]
    ) -> RemoteSession:
        """Many questions about counts of rows, chosen one by another's answer, for one price that is paid now. A release is named."""
        body = _session_body(source, questions, wanted)
        headers = named(request_id)

        def send(path: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
            return checked(self._send("POST", path, json=given, headers=headers if given is body else named(None)))

        return RemoteSession(send, body)

    def plan_session(self, source: str | Table, *, questions: int, **wanted: Unpack[SessionOptions]) -> SessionPlan:
        """What `session` would cost and promise, or its refusal. Spends nothing."""
        body = {**_session_body(source, questions, wanted), "dry": True}
        return read_facts(SessionPlan, checked(self._send("POST", "/v1/sessions", json=body)))

    def learn(
        self,
        model: Kind,
        source: str | Table,
        *,
        name: str | None = None,
        request_id: str | None = None,
        **price: Unpack[LearningOptions],
    ) -> Kind:
        """Learn a model from a table, or from a SELECT that yields people's rows: all of it is charged once before the first look."""
        body = run_body(source, {**price, "model": model_facts(model), "name": name})
        saved = self._saved("POST", "/v1/learn", json=body, headers=named(request_id))
        return model.learned_from(saved["stored"], receipt=saved["receipt"], replayed=saved["replayed"])

    def plan_learning(self, model: Model, source: str | Table, **price: Unpack[LearningOptions]) -> LearningPlan:
        """What `learn` would look at and cost, or its refusal. Spends nothing."""
        body = run_body(source, {**price, "model": model_facts(model), "dry": True})
        return read_facts(LearningPlan, checked(self._send("POST", "/v1/learn", json=body)))

    def moments(
        self,
        source: str | Table,
        *columns: Feature,
        name: str | None = None,
        request_id: str | None = None,
        **price: Unpack[LearningOptions],
    ) -> Moments:
        """How many rows there are, the sums of columns and of their products, in one release, from which lines and components follow for free."""
        return self.learn(Moments(features=columns), source, name=name, request_id=request_id, **price)

    def evaluate(
        self,
        model: Classifier,
        source: str | Table,
        *,
        name: str | None = None,
        request_id: str | None = None,
        **price: Unpack[LearningOptions],
    ) -> Evaluation:
        """How well a model that was learned decides about people's rows: a noisy table of decided and true classes, paid for once."""
        body = run_body(source, {**price, "decider": decider_facts(Decider.of(model)), "name": name})
        return Evaluation(**self._saved("POST", "/v1/evaluate", json=body, headers=named(request_id)))

    def plan_evaluation(self, model: Classifier, source: str | Table, **price: Unpack[LearningOptions]) -> LearningPlan:
        """What `evaluate` would count, how exactly, and what it would cost, or its refusal. Spends nothing."""
        body = run_body(source, {**price, "decider": decider_facts(Decider.of(model)), "dry": True})
        return read_facts(LearningPlan, checked(self._send("POST", "/v1/evaluate", json=body)))

    def graph(self, name: str) -> RemoteGraph:
        """A network of the catalog, to be asked about: `graph("friends").triangles(epsilon=1)`."""
        networks = {listed["name"]: listed for listed in self._get("/v1/graphs")["graphs"]}
        if name not in networks:
            raise unknown_graph(networks)

        def send(path: str, body: Mapping[str, Any], request_id: str | None) -> tuple[Mapping[str, Any], bool]:
            response = self._send("POST", path, json=body, headers=named(request_id))
            return checked(response), response.headers.get("Discreet-Replayed") == "true"

        return RemoteGraph(send, networks[name])

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
            checked(response)


def _body(sql: str | Table, mechanism: str | None, parameters: Parameters, **prices: Number | None) -> dict[str, Any]:
    """What was said, and nothing that was not."""
    body: dict[str, Any] = {"sql": str(sql)}
    body |= {name: float(exact(value)) for name, value in prices.items() if value is not None}
    body |= {} if mechanism is None else {"mechanism": mechanism}
    return {**body, "parameters": parameter_facts(parameters)} if parameters else body


def _session_body(source: str | Table, questions: int, wanted: SessionOptions) -> dict[str, Any]:
    """What was said about a session; a server knows releases by their names."""
    if isinstance(wanted.get("release"), RunRelease):
        raise BadInput(
            "A server knows releases by their names.", next_step="Give the name of one that you have paid for."
        )
    return run_body(source, {**wanted, "questions": questions, "name": wanted.get("name") or None})


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


def connect(url: str, *, key: str) -> RemoteCurator:
    """A curator behind a server."""
    return RemoteCurator(url, key=key)
