"""The remote curator: the interface of the local one over HTTP, so that the same code works with both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import httpx

from discreet.api.base import Api
from discreet.api.http_client import HttpClient, idempotency_key, is_replayed, read_json
from discreet.api.plans import GraphPlan, LearningPlan, SessionPlan, SynthesisPlan, TablesPlan
from discreet.api.remote_results import RemoteAnswer, RemoteSession, RemoteWatch, session_answers
from discreet.api.request_json import address_of, request_to_json
from discreet.api.requests.accounts import BudgetRequest, CardRequest, CatalogRequest, HistoryRequest
from discreet.api.requests.ask import AskRequest
from discreet.api.requests.base import Plan, Request
from discreet.api.requests.compare import ComparePairRequest, ComparePriceRequest, CompareRequest
from discreet.api.requests.evaluate import EvaluateRequest
from discreet.api.requests.graph import GRAPH_REQUESTS, GraphRequest
from discreet.api.requests.learn import LearnRequest
from discreet.api.requests.releases import PublishRequest, ReleaseRequest, ReleasesRequest
from discreet.api.requests.session import SessionRequest
from discreet.api.requests.session_answers import SessionAnswersRequest
from discreet.api.requests.synthesize import SynthesizeRequest
from discreet.api.requests.tabulate import TabulateRequest
from discreet.api.requests.watch import WatchRequest
from discreet.api.stored_releases import stored_release
from discreet.core.json_codec import from_json
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.graphs.network_answers import GraphAnswer, answer_from_json
from discreet.learning.runs.evaluation import Evaluation
from discreet.learning.runs.model_release import ModelRelease
from discreet.measurement.run_release import RunRelease
from discreet.results.models import (
    Balance,
    Card,
    CatalogFacts,
    Explanation,
    PastRelease,
)
from discreet.synthetic.synthetic_release import SyntheticRelease
from discreet.workloads.releases.regional import RegionalRelease
from discreet.workloads.releases.tabulation import TabulatedRelease


class RemoteCurator(Api):
    """The interface over HTTP: the same calls as on a local curator, for the account of the key.

    Args:
        url: The server's address.
        key: Who asks.
        seconds: How long to wait for an answer.
    """

    def __init__(self, url: str, *, key: str, seconds: float = 660) -> None:
        self.server = HttpClient(url, key=key, seconds=seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.server.close()

    def outcome(self, request: Request[Any, Any]) -> Any:
        """What the server releases for a request.

        Args:
            request: A verb with its parameters.
        """
        return _READERS[type(request)](self.server, request)

    def plan(self, request: Request[Any, Plan]) -> Plan:
        """Say what a request would cost and return. Spends nothing and reads no protected row.

        Args:
            request: A verb with its parameters.
        """
        body, path = request_to_json(request), request.http_plan_path
        if path == request.http_path:
            body, path = {**body, "dry": True}, address_of(request)
        planned: Plan = from_json(_PLANS[type(request)], read_json(self.server.send("POST", path, json=body)))
        return planned


def _answer(server: HttpClient, request: AskRequest) -> RemoteAnswer:
    # One Idempotency-Key for all levels: a repeat after the data changed is refused and not charged again.
    key = idempotency_key(request)

    def at_level(level: float) -> httpx.Response:
        return server.execute(request, key=key, more={"level": level})

    response = at_level(CONFIDENCE)
    data = read_json(response)
    return RemoteAnswer(
        lambda level: read_json(at_level(level)),
        {CONFIDENCE: data},
        loss=Loss(**data["loss"]),
        replayed=is_replayed(response),
        receipt=data["receipt"],
    )


def _graph_answer(server: HttpClient, request: GraphRequest) -> GraphAnswer:
    response = server.execute(request)
    return answer_from_json(read_json(response), replayed=is_replayed(response))


def _release_as(kind: type[RunRelease]) -> Callable[[HttpClient, Any], RunRelease]:
    """Read the release of a run."""
    return lambda server, request: kind(**server.release(request))


def _tables(server: HttpClient, request: TabulateRequest) -> RunRelease:
    kind: type[RunRelease] = TabulatedRelease if request.tree is None else RegionalRelease
    return kind(**server.release(request))


def _published(server: HttpClient, request: PublishRequest) -> None:
    if not (response := server.execute(request)).is_success:
        read_json(response)


def _json(read: Callable[[Mapping[str, Any]], Any]) -> Callable[[HttpClient, Any], Any]:
    """Read the JSON of a response."""
    return lambda server, request: read(server.json(request))


_READERS: dict[type[Request[Any, Any]], Callable[[HttpClient, Any], Any]] = {
    AskRequest: _answer,
    WatchRequest: RemoteWatch,
    SynthesizeRequest: _release_as(SyntheticRelease),
    TabulateRequest: _tables,
    LearnRequest: _release_as(ModelRelease),
    EvaluateRequest: _release_as(Evaluation),
    SessionRequest: RemoteSession,
    SessionAnswersRequest: session_answers,
    **dict.fromkeys(GRAPH_REQUESTS.values(), _graph_answer),
    BudgetRequest: _json(lambda data: [from_json(Balance, each) for each in data["accounts"]]),
    HistoryRequest: _json(lambda data: [from_json(PastRelease, each) for each in data["queries"]]),
    CatalogRequest: _json(lambda data: from_json(CatalogFacts, data)),
    CardRequest: _json(lambda data: from_json(Card, data)),
    ReleasesRequest: _json(lambda data: data["releases"]),
    ReleaseRequest: lambda server, request: stored_release(**server.release(request)),
    PublishRequest: _published,
    **dict.fromkeys((CompareRequest, ComparePairRequest, ComparePriceRequest), _json(dict)),
}
"""How the response to each request is read."""
_PLANS: dict[type[Request[Any, Any]], type[Any]] = {
    AskRequest: Explanation,
    SynthesizeRequest: SynthesisPlan,
    TabulateRequest: TablesPlan,
    LearnRequest: LearningPlan,
    EvaluateRequest: LearningPlan,
    SessionRequest: SessionPlan,
    **dict.fromkeys(GRAPH_REQUESTS.values(), GraphPlan),
}
"""What the plan of each request is."""


def connect(url: str, *, key: str) -> RemoteCurator:
    """A curator behind a server."""
    return RemoteCurator(url, key=key)
