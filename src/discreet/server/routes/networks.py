"""Routes for networks of the catalog: which there are, and their verbs, each with its price."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field

from discreet.api.faces.networks import GraphPlan
from discreet.api.local import Curator
from discreet.core.json_codec import to_json
from discreet.graphs.network_answers import GraphAnswer
from discreet.graphs.network_verbs import VERBS
from discreet.pipeline.call import Call
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.idempotency import NAME, answered
from discreet.server.http.request_body import LimitedRequest
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import JSON, Form
from discreet.server.http.streaming import WaitingAnswer
from discreet.server.schemas.query_bodies import body_outcome, planned_body
from discreet.server.schemas.strict_json import Positive, WithoutNulls, in_document

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)
_Whole = Annotated[int, Field(ge=1)]


class Verb(WithoutNulls):
    """What a verb takes: its price, and what it says beside."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": {"epsilon": 1.0}})
    epsilon: Positive
    max_degree: _Whole | None = None
    per_node: _Whole | None = None
    attribute: Annotated[str, Field(max_length=200)] | None = None
    k: _Whole | None = None
    transmission: Annotated[float, Field(ge=0, le=1)] | None = None
    then: Positive | None = None
    dataset: str | None = None
    dry: bool = False
    """Say what it would cost, and spend nothing."""


@dataclass(frozen=True, slots=True)
class AskedNetwork:
    """A verb that is asked of a network."""

    name: str
    verb: str
    given: Verb

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Call) -> GraphAnswer:
        """The answer."""
        network = curator.graph(self.name)
        return network.ask(self.verb, analyst=analyst, request_id=request_id, asking=asking, **self._details)

    def explained_by(self, curator: Curator, *, analyst: str | None) -> GraphPlan:
        """What it would cost."""
        return curator.graph(self.name).explain(self.verb, analyst=analyst, **self._details)

    @property
    def _details(self) -> dict[str, Any]:
        return self.given.model_dump(exclude={"dataset", "dry"}, exclude_none=True)


@routes.get("/graphs")
def list_networks(request: Request) -> Response:
    """The networks of the catalog with what of them is protected, and the verbs that they are asked by."""
    verbs = {name: {"summary": verb.summary, "takes": list(verb.takes)} for name, verb in VERBS.items()}
    return JSONResponse({"graphs": list(service_of(request).curator.catalog().graphs), "verbs": verbs})


@routes.post("/graphs/{name}/{verb}", openapi_extra={**in_document(Verb), "parameters": [NAME]})
async def ask_network(name: str, verb: str, request: LimitedRequest) -> Response:
    """Ask about a network: pays, and answers with what is protected. With `dry`, say what it would cost.

    Idempotency-Key, lines and time classes as for `/v1/ask`.
    """
    given, service = await request.read(Verb), service_of(request)
    service.check_dataset(given.dataset)
    wanted = AskedNetwork(name, verb, given)
    if given.dry:
        holder = holder_of(request)
        return await service.queries.explain(
            planned_body(wanted), holder=holder, then=lambda plan: JSONResponse(to_json(plan))
        )
    return await answered(request, body_outcome(wanted), _FORM)


def _written(answer: GraphAnswer, file: WaitingAnswer) -> None:
    facts = {name: value for name, value in answer.facts.items() if name != "replayed"}  # the same bytes again
    file.write(json.dumps(to_json(facts), ensure_ascii=False).encode())


_FORM = Form(JSON, _written)
