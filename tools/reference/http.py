"""The routes of the service, from its own OpenAPI document and its table of roles."""

import tempfile
from functools import cache
from pathlib import Path

import discreet
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.roles import ROUTES
from discreet.server.http.http_app import create_app
from tools.reference.markdown import first_paragraph


def route_list(*first_parts):
    """A section for each route whose path begins with one of these parts, such as `ask` for /v1/ask."""
    lines = []
    for path, methods in _document()["paths"].items():
        if path.removeprefix("/v1").split("/")[1] in first_parts:
            for method, operation in methods.items():
                lines += ["", *_route(f"{method.upper()} {path}", operation)]
    return lines[1:]


def all_first_parts():
    """What `route_list` can be asked for."""
    return {path.removeprefix("/v1").split("/")[1] for path in _document()["paths"]}


def _route(name, operation):
    roles = ROUTES[name].replace(" ", ", ")
    yield from (f"## {name}", "", f"For: {roles}.", "", *first_paragraph(operation.get("description", "")))
    parameters = [each["name"] for each in operation.get("parameters", ())]
    if parameters:
        yield from ("", "Parameters: " + ", ".join(f"`{each}`" for each in parameters))
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        keys = _properties(content.get("schema", {}))
        shown = f": {', '.join(f'`{key}`' for key in keys)}" if keys else ""
        yield from ("", *first_paragraph(f"Body (`{kind}`){shown}"))


def _properties(schema):
    reference = schema.get("$ref", "").rpartition("/")[2]
    return list((_document()["components"]["schemas"][reference] if reference else schema).get("properties", {}))


@cache
def _document():
    """The document of a small service over a generated clinic."""
    with tempfile.TemporaryDirectory() as folder:
        config = write_clinic(Path(folder), patients=20, visits=40)
        with discreet.open(config, create_ledger=True) as curator:
            keys = KeyStore.open(str(Path(folder) / "ledger.sqlite"))
            document = create_app(curator, keys).openapi()
            keys.close()
    return document
