"""Routes for the owner: keys, caps, freezing, the catalog."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request

from discreet.accounting import open_filter
from discreet.catalog import parse_catalog
from discreet.catalog.warnings import warnings_of
from discreet.errors import BadInput
from discreet.server.bodies import CatalogText, NewCap, NewKey
from discreet.server.refusals import RESPONSES
from discreet.server.service import owner_of, service_of

routes = APIRouter(prefix="/v1", responses=RESPONSES)


@routes.get("/keys")
def list_keys(request: Request) -> dict[str, Any]:
    """Every key, without what opens the door."""
    owner_of(request)
    return {"keys": [asdict(key) for key in service_of(request).keys.all()]}


@routes.post("/keys", status_code=201)
def create_key(body: NewKey, request: Request) -> dict[str, str]:
    """A new key, shown once."""
    owner_of(request)
    return {"key": service_of(request).keys.create(body.analyst, role=body.role, days=body.days)}


@routes.delete("/keys/{number}", status_code=204)
def revoke_key(number: str, request: Request) -> None:
    """Stop a key."""
    owner_of(request)
    service_of(request).keys.revoke(number)


@routes.put("/analysts/{name}", status_code=204)
def set_cap(name: str, body: NewCap, request: Request) -> None:
    """Open an analyst's account, or change its cap."""
    owner_of(request)
    service_of(request).curator.ledger.open_account(open_filter(body.epsilon, body.delta), analyst=name)


@routes.put("/analysts/{name}/frozen", status_code=204)
def set_frozen(name: str, request: Request, *, frozen: bool) -> None:
    """Stop an analyst's account or let it go on."""
    owner_of(request)
    service_of(request).curator.ledger.freeze(name, frozen=frozen)


@routes.get("/catalog/source")
def catalog_text(request: Request) -> dict[str, Any]:
    """The catalog as it is on disk, with what may be regretted about it."""
    owner_of(request)
    text = _catalog_file(request).read_text()
    return {"text": text, "warnings": warnings_of(parse_catalog(text))}


@routes.post("/catalog/check")
def check_catalog(body: CatalogText, request: Request) -> dict[str, Any]:
    """Whether a text is a catalog; an error names its line."""
    owner_of(request)
    return {"warnings": warnings_of(parse_catalog(body.text))}


@routes.put("/catalog/source")
def save_catalog(body: CatalogText, request: Request) -> dict[str, Any]:
    """Write the catalog, whole or not at all; it is served after the next start."""
    owner_of(request)
    warnings, file = warnings_of(parse_catalog(body.text)), _catalog_file(request)
    new = file.with_name(f"{file.name}.new")
    new.write_text(body.text)
    new.replace(file)
    return {"warnings": warnings, "note": "saved; it is served after the next start of the server"}


def _catalog_file(request: Request) -> Path:
    place = service_of(request).config
    if place is None:
        raise BadInput("This server has no catalog file.", next_step="Start it with `discreet serve discreet.toml`.")
    return place
