"""What every request promises: documented parameters, an operation, a reader of its response, a route, and an example that is accepted."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

import pytest

from discreet.api import remote, requests
from discreet.api.reference import reference
from discreet.api.request_json import request_from_json, request_to_json
from discreet.api.requests.base import body_params, params
from discreet.server.auth.roles import route_for
from discreet.server.schemas.request_models import Body, PlannableBody, body_of

REQUESTS = {
    kind
    for module in pkgutil.iter_modules(requests.__path__)
    for name, kind in vars(import_module(f"{requests.__name__}.{module.name}")).items()
    if name.endswith("Request") and kind.__module__ != f"{requests.__name__}.base" and kind.http_path
}


@pytest.fixture(params=sorted(REQUESTS, key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def test_there_are_requests():
    assert {"AskRequest", "SynthesizeRequest", "BudgetRequest"} <= {kind.__name__ for kind in REQUESTS}


def test_every_parameter_is_documented_in_a_sentence(kind):
    for each in params(kind):
        assert each.doc[0].isupper() or not each.doc[0].isalpha(), each.name
        assert each.doc.endswith("."), each.name
    assert kind.__doc__.strip().endswith(".")
    assert f"`{kind.http_method} {kind.http_path}`" in reference("verb", kind)


def test_it_has_an_operation_and_a_reader_of_its_response(kind):
    operation = import_module(kind.__module__.replace(".requests.", ".operations."))
    assert callable(operation.run)
    assert callable(getattr(operation, "plan", None)) or not kind.http_plan_path
    assert kind in remote._READERS
    assert (kind in remote._PLANS) == bool(kind.http_plan_path)


def test_a_server_takes_it_and_says_for_whom(kind):
    paths = [(kind.http_method, kind.http_path)] + [("POST", kind.http_plan_path)] * bool(kind.http_plan_path)
    for method, path in paths:
        assert route_for(method, re.sub(r"{\w+}", "x", path)) is not None


def test_its_example_is_accepted_and_the_same_after_json(kind):
    if kind.http_method != "POST":
        return
    base = PlannableBody if kind.http_plan_path == kind.http_path else Body
    address = dict.fromkeys(re.findall(r"{(\w+)}", kind.http_path), "x")
    wanted = body_of(kind, base).model_validate(kind.http_example).request(kind, **address)
    sent = request_to_json(wanted)
    assert request_to_json(request_from_json(kind, sent, **address)) == sent
    assert set(sent) <= set(kind.http_example) <= {each.name for each in body_params(kind)}
