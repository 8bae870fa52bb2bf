"""A field that is added to a request appears in Python, the HTTP schema, OpenAPI, the command line and the reference page."""

from __future__ import annotations

import inspect
import pkgutil
import pydoc
import subprocess
import sys
from dataclasses import KW_ONLY
from typing import ClassVar

import pytest
import typer
from fastapi import FastAPI
from pydantic import ValidationError
from typer.testing import CliRunner

from discreet.api import requests
from discreet.api.reference import reference
from discreet.api.request_json import request_from_json, request_to_json
from discreet.api.requests.base import TableRunRequest, param, request
from discreet.api.requests.types import Marginals
from discreet.api.verbs import name_verbs, plan_verb, verb
from discreet.cli.terminal.request_options import with_options_of
from discreet.errors import BadInput, TooLarge
from discreet.server.schemas.request_models import PlannableBody, body_of
from discreet.server.schemas.strict_json import in_document


@request
class BrewRequest(TableRunRequest["str", "int"]):
    """Brew a cup from a table."""

    http_path: ClassVar[str] = "/v1/brew"
    http_plan_path: ClassVar[str] = http_path

    source: str = param("Table name.", min_length=1, max_length=20)
    _: KW_ONLY
    sugar: int = param("Lumps of sugar.", default=1, ge=0, le=5)
    kind: str = param("Kind of leaf.", default="green", choices=("green", "black"))
    workload: Marginals = param("Marginals to preserve.", default=3)


@name_verbs
class Toy:
    brew = verb(BrewRequest)
    plan_brewing = plan_verb(BrewRequest, "What `brew` would cost.")

    def __init__(self):
        self.executed = []

    def execute(self, wanted, /):
        self.executed.append(wanted)
        return "a cup"

    def plan(self, wanted, /):
        self.executed.append(wanted)
        return 3


OWN = {"sugar": "Lumps of sugar.", "kind": "Kind of leaf.", "workload": "Marginals to preserve."}
SHARED = {"epsilon", "delta", "rho", "parameters", "name", "bins", "reuse"}


def cli(monkeypatch=None):
    seen = []

    @with_options_of(BrewRequest)
    def brew(options, *, as_json: bool = False):
        """Brew a cup."""
        seen.append(BrewRequest(**options))

    app = typer.Typer(rich_markup_mode=None)
    app.command()(brew)
    return app, seen


def test_python_has_every_field_with_its_type_default_and_documentation():
    toy = Toy()
    taken = inspect.signature(toy.brew).parameters
    assert list(taken)[:4] == ["source", *OWN]
    assert set(taken) == {"source", *OWN, *SHARED, "request_id"}
    assert taken["sugar"].default == 1
    assert taken["sugar"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "source: 'str'" in str(inspect.signature(toy.brew))
    shown = pydoc.render_doc(toy.brew, renderer=pydoc.plaintext)
    assert "method brew" in shown
    for name, doc in OWN.items():
        assert f"{name}: {doc}" in shown
    assert toy.brew("visits", sugar=2, epsilon=1, request_id="once") == "a cup"
    assert toy.plan_brewing("visits", kind="black") == 3
    assert toy.executed[0] == BrewRequest("visits", sugar=2, epsilon=1, request_id="once")
    with pytest.raises(TypeError, match="sugr"):
        toy.brew("visits", sugr=2)


@pytest.mark.parametrize("wrong", [{"sugar": 6}, {"sugar": -1}, {"kind": "white"}, {"name": "x" * 201}, {"source": ""}])
def test_choices_and_limits_hold_in_python_and_over_http(wrong):
    with pytest.raises((BadInput, TooLarge)):
        BrewRequest(**{"source": "visits", **wrong})
    with pytest.raises((BadInput, ValidationError)):
        body_of(BrewRequest, PlannableBody).model_validate({"source": "visits", **wrong}).request(BrewRequest)


def test_the_http_schema_and_its_document_have_every_field():
    schema = body_of(BrewRequest, PlannableBody).model_json_schema()
    assert set(schema["properties"]) == {"source", *OWN, *SHARED, "dataset", "dry"}
    assert schema["properties"]["sugar"]["description"] == "Lumps of sugar."
    assert (schema["properties"]["sugar"]["minimum"], schema["properties"]["sugar"]["maximum"]) == (0, 5)
    assert schema["properties"]["kind"]["enum"] == ["green", "black"]
    assert schema["required"] == ["source"]
    app = FastAPI()
    app.post("/v1/brew", openapi_extra=in_document(body_of(BrewRequest, PlannableBody)))(lambda: None)
    body = app.openapi()["paths"]["/v1/brew"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"]["properties"]["sugar"]["description"] == "Lumps of sugar."


def test_a_request_is_the_same_after_json_and_says_only_what_was_given():
    wanted = BrewRequest("visits", sugar=2, epsilon=0.5, workload=(("age", "ward"),), parameters={"a": 1})
    sent = request_to_json(wanted)
    assert sent == {
        "source": "visits",
        "sugar": 2,
        "epsilon": 0.5,
        "workload": [["age", "ward"]],
        "parameters": {"a": 1},
    }
    read = body_of(BrewRequest, PlannableBody).model_validate(sent).request(BrewRequest, request_id="once")
    assert request_to_json(read) == sent
    assert read.request_id == "once"
    assert request_from_json(BrewRequest, sent) == body_of(BrewRequest, PlannableBody).model_validate(sent).request(
        BrewRequest
    )
    for unknown in ({"sugr": 2}, {"name": None}, {"sugar": 2.0}, {"name": "a/b"}, {"request_id": "x"}):
        with pytest.raises(ValidationError):
            body_of(BrewRequest, PlannableBody).model_validate({"source": "visits", **unknown})


def test_the_command_line_has_every_field_and_reads_it():
    app, seen = cli()
    shown = CliRunner().invoke(app, ["--help"], terminal_width=200).output
    for name, doc in OWN.items():
        assert f"--{name}" in shown
        assert doc in shown
    assert "--request-id" not in shown
    assert "one of green, black" in shown
    written = ["visits", "--sugar", "3", "--workload", "age,ward", "--workload", "sex", "--bins", "age=16", "--reuse"]
    assert CliRunner().invoke(app, written, catch_exceptions=False).exit_code == 0
    assert seen == [
        BrewRequest("visits", sugar=3, workload=[["age", "ward"], ["sex"]], bins={"age": 16}, reuse=True),
    ]
    assert CliRunner().invoke(app, ["visits"], catch_exceptions=False).exit_code == 0
    assert seen[1] == BrewRequest("visits")
    assert CliRunner().invoke(app, ["visits", "--sugar", "9"]).exit_code == 2


def test_the_reference_page_has_every_field():
    page = reference("brew", BrewRequest)
    assert "Brew a cup from a table." in page
    assert '`POST /v1/brew`, with `"dry": true` for its plan' in page
    row = next(line for line in page.splitlines() if line.startswith("| `sugar"))
    assert row == ("| `sugar: int` | `sugar`: integer | `--sugar` | `1` | Lumps of sugar. (at least 0; at most 5) |")
    assert "| `source: str` | `source`: string | `SOURCE` | required |" in page
    assert "| `request_id: str` | — | — | — |" in page


def test_requests_import_nothing_heavy():
    names = [f"discreet.api.requests.{module.name}" for module in pkgutil.iter_modules(requests.__path__)]
    code = f"import sys, {', '.join(names)}; print({{'numpy', 'duckdb', 'pydantic', 'sqlglot'}} & sys.modules.keys())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
