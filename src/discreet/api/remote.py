"""The curator's face over HTTP, so that a notebook does not care where the data is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import httpx

from discreet.api.base import Api
from discreet.api.http_client import Caller, checked, named
from discreet.api.plans import GraphPlan, LearningPlan, SessionPlan, SynthesisPlan, TablesPlan
from discreet.api.remote_results import RemoteAnswer, RemoteSession, RemoteWatch, session_answers
from discreet.api.request_json import address_of, request_to_json
from discreet.api.requests.accounts import BudgetRequest, CardRequest, CatalogRequest, HistoryRequest
from discreet.api.requests.ask import AskRequest
from discreet.api.requests.base import Plan, Request, RunRequest
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
    WatchFacts,
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
        self.server = Caller(url, key=key, seconds=seconds)

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
        planned: Plan = from_json(_PLANS[type(request)], checked(self.server.send("POST", path, json=body)))
        return planned


def _answer(caller: Caller, request: AskRequest) -> RemoteAnswer:
    # One Idempotency-Key for all levels: a repeat after the data changed is refused and not charged again.
    headers = named(request.request_id)

    def asked(level: float) -> httpx.Response:
        return caller.send(
            "POST", request.http_path, json={**request_to_json(request), "level": level}, headers=headers
        )

    response = asked(CONFIDENCE)
    facts = checked(response)
    return RemoteAnswer(
        lambda level: checked(asked(level)),
        {CONFIDENCE: facts},
        loss=Loss(**facts["loss"]),
        replayed=response.headers.get("Discreet-Replayed") == "true",
        receipt=facts["receipt"],
    )


def _watch(caller: Caller, request: WatchRequest) -> RemoteWatch:
    body = request_to_json(request)

    def tell(path: str) -> WatchFacts:
        headers = named(request.request_id)
        return from_json(WatchFacts, checked(caller.send("POST", path, json=body, headers=headers)))

    return RemoteWatch(tell, receipt=tell(request.http_path).receipt)


def _graph_answer(caller: Caller, request: GraphRequest) -> GraphAnswer:
    response = caller.send(
        request.http_method, address_of(request), json=request_to_json(request), headers=named(request.request_id)
    )
    return answer_from_json(checked(response), replayed=response.headers.get("Discreet-Replayed") == "true")


def _release_as(kind: type[RunRelease]) -> Callable[[Caller, Any], RunRelease]:
    """Read the release of a run."""

    def read(caller: Caller, request: RunRequest[Any, Any]) -> RunRelease:
        headers = named(request.request_id)
        return kind(
            **caller.saved(request.http_method, address_of(request), json=request_to_json(request), headers=headers)
        )

    return read


def _tables(caller: Caller, request: TabulateRequest) -> RunRelease:
    return _release_as(TabulatedRelease if request.tree is None else RegionalRelease)(caller, request)


def _release(caller: Caller, request: ReleaseRequest) -> RunRelease:
    return stored_release(**caller.saved(request.http_method, address_of(request)))


def _published(caller: Caller, request: PublishRequest) -> None:
    given_by = {"analyst": request.given_by} if request.given_by else {}
    if not (response := caller.send(request.http_method, address_of(request), params=given_by)).is_success:
        checked(response)


def _posted(caller: Caller, request: Request[Any, Any]) -> dict[str, Any]:
    return checked(caller.send(request.http_method, address_of(request), json=request_to_json(request)))


def _got(read: Callable[[Mapping[str, Any]], Any]) -> Callable[[Caller, Any], Any]:
    """Read what is at an address."""

    def get(caller: Caller, request: Request[Any, Any]) -> Any:
        return read(checked(caller.send(request.http_method, address_of(request), params=request_to_json(request))))

    return get


_READERS: dict[type[Request[Any, Any]], Callable[[Caller, Any], Any]] = {
    AskRequest: _answer,
    WatchRequest: _watch,
    SynthesizeRequest: _release_as(SyntheticRelease),
    TabulateRequest: _tables,
    LearnRequest: _release_as(ModelRelease),
    EvaluateRequest: _release_as(Evaluation),
    SessionRequest: RemoteSession,
    SessionAnswersRequest: session_answers,
    **dict.fromkeys(GRAPH_REQUESTS.values(), _graph_answer),
    BudgetRequest: _got(lambda facts: [from_json(Balance, each) for each in facts["accounts"]]),
    HistoryRequest: _got(lambda facts: [from_json(PastRelease, each) for each in facts["queries"]]),
    CatalogRequest: _got(lambda facts: from_json(CatalogFacts, facts)),
    CardRequest: _got(lambda facts: from_json(Card, facts)),
    ReleasesRequest: _got(lambda facts: facts["releases"]),
    ReleaseRequest: _release,
    PublishRequest: _published,
    CompareRequest: _posted,
    ComparePairRequest: _posted,
    ComparePriceRequest: _posted,
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
