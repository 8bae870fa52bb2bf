"""Routes for graphs of the catalog: list them, and one route for each verb."""

from __future__ import annotations

import inspect
import json

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from discreet.api.requests.base import body_params
from discreet.api.requests.graph import GRAPH_REQUESTS
from discreet.core.json_codec import to_json
from discreet.graphs.network_answers import GraphAnswer
from discreet.server.auth.service import service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import JSON, Form
from discreet.server.http.streaming import SpooledAnswer
from discreet.server.http.verb_routes import add_verb

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


@routes.get("/graphs")
def list_networks(request: Request) -> Response:
    """List the graphs of the catalog and what is protected, and the verbs with their parameters."""
    verbs = {
        verb: {
            "summary": inspect.cleandoc(str(kind.__doc__)),
            "parameters": [each.name for each in body_params(kind)],
        }
        for verb, kind in GRAPH_REQUESTS.items()
    }
    return JSONResponse({"graphs": list(service_of(request).curator.catalog().graphs), "verbs": verbs})


def _write(answer: GraphAnswer, file: SpooledAnswer) -> None:
    body = {name: value for name, value in answer.summary.items() if name != "replayed"}  # a repeat has the same bytes
    file.write(json.dumps(to_json(body), ensure_ascii=False).encode())


for _kind in GRAPH_REQUESTS.values():
    add_verb(routes, _kind, lambda _: Form(JSON, _write))
