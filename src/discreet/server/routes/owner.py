"""Routes for those who run the service: keys, users, caps, freezing, data versions, the catalog. What they do is written into the ledger, with who did it."""

from __future__ import annotations

import hashlib
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.catalog import parse_catalog
from discreet.catalog.catalog_warnings import warnings_of
from discreet.errors import BadCatalog
from discreet.server.auth.keys import KeyStore, key_summary
from discreet.server.auth.roles import check_can_grant, check_other
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES, error_json
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import json_response
from discreet.server.schemas.query_bodies import CatalogText, NewCap, NewKey, NewUser, Rotation

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)


@routes.get("/keys")
def list_keys(request: Request) -> Response:
    """Every key, without what opens the door."""
    return json_response(request, {"keys": [key_summary(key) for key in service_of(request).keys.all()]})


@routes.post("/keys", status_code=201)
def create_key(body: NewKey, request: Request) -> dict[str, str]:
    """A new key, shown once. With `cap`, an analyst's account is opened in the same step; without an account there is no key."""
    holder, cap = holder_of(request), None if body.cap is None else body.cap.filter
    check_can_grant(holder, body.role, name=body.name)
    return {"key": service_of(request).keys.create(body.name, role=body.role, days=body.days, cap=cap, by=holder.id)}


@routes.post("/keys/{number}/rotation", status_code=201)
def rotate_key(number: str, body: Rotation, request: Request) -> dict[str, str]:
    """A new key for the holder of an old one, shown once; the old one stops working."""
    return {"key": _granted(request, number).rotate(number, days=body.days, by=holder_of(request).id)}


@routes.delete("/keys/{number}", status_code=204)
def revoke_key(number: str, request: Request) -> None:
    """Stop a key."""
    _granted(request, number).revoke(number, by=holder_of(request).id)


def _granted(request: Request, number: str) -> KeyStore:
    """The keys, if whoever asks may give and take the role of this one."""
    keys = service_of(request).keys
    issued = keys.issued(number)
    check_can_grant(holder_of(request), issued.role, name=issued.name)
    return keys


@routes.get("/users")
def list_users(request: Request) -> Response:
    """Everybody who has a role when the owner's proxy signs them in."""
    users = service_of(request).keys.users()
    return json_response(request, {"users": [{"name": name, "role": role} for name, role in sorted(users.items())]})


@routes.put("/users/{name}", status_code=204)
def set_user(name: str, body: NewUser, request: Request) -> None:
    """Give a user of the proxy a role."""
    holder, keys = holder_of(request), service_of(request).keys
    for role in {body.role, keys.users().get(name, body.role)}:
        check_can_grant(holder, role, name=name)
    keys.set_user(name, body.role, by=holder.id)


@routes.delete("/users/{name}", status_code=204)
def remove_user(name: str, request: Request) -> None:
    """Take a user's role away."""
    holder, keys = holder_of(request), service_of(request).keys
    check_can_grant(holder, keys.users().get(name, "analyst"), name=name)
    keys.set_user(name, None, by=holder.id)


@routes.put("/analysts/{name}", status_code=204)
def set_cap(name: str, body: NewCap, request: Request) -> None:
    """Open an analyst's account, or change its cap."""
    holder, ledger = holder_of(request), service_of(request).curator.ledger
    check_other(holder, name)
    ledger.open_account(body.filter, analyst=name, by=holder.id)


@routes.put("/analysts/{name}/frozen", status_code=204)
def set_frozen(name: str, request: Request, *, frozen: bool) -> None:
    """Stop an analyst's account or let it go on."""
    holder = holder_of(request)
    check_other(holder, name)
    service_of(request).curator.ledger.freeze(name, frozen=frozen, by=holder.id)


@routes.get("/serving")
def serving(request: Request) -> dict[str, Any]:
    """Which data version and catalog are served, since when; what is newer, and why it is not served."""
    return service_of(request).current.facts()


@routes.post("/refresh")
def refresh_data(request: Request) -> dict[str, Any]:
    """Read the source anew: a new data version begins, budgets stay as they are. Queries that are under way end on the one before.

    A changed catalog that waits is served with it if the owner asks, and goes on waiting if a steward does.
    """
    current, holder = service_of(request).current, holder_of(request)
    before = current.curator.version
    return {"before": before, "version": current.refresh(by=holder.id, takes_catalog=holder.role == "owner")}


@routes.get("/catalog/source")
def catalog_text(request: Request) -> dict[str, Any]:
    """The catalog as it is on disk, with what may be regretted about it, or what is wrong with it."""
    text = service_of(request).current.config.read_text()
    try:
        return {"text": text, "warnings": warnings_of(parse_catalog(text)), "problem": None}
    except BadCatalog as problem:
        return {"text": text, "warnings": [], "problem": error_json(problem)}


@routes.post("/catalog/check")
def check_catalog(body: CatalogText) -> dict[str, Any]:
    """Whether a text is a catalog; an error names its line."""
    return {"warnings": warnings_of(parse_catalog(body.text))}


@routes.put("/catalog/source")
def save_catalog(body: CatalogText, request: Request) -> dict[str, Any]:
    """Write the catalog, whole or not at all, and serve it; where it cannot be served, `serving` says why."""
    current = service_of(request).current
    warnings, file = warnings_of(parse_catalog(body.text)), current.config
    new = file.with_name(f"{file.name}.new")
    new.write_text(body.text)
    digest = hashlib.sha256(body.text.encode()).hexdigest()
    service_of(request).curator.ledger.record(lambda _: [("catalog", {"sha256": digest})], by=holder_of(request).id)
    new.replace(file)
    current.look()
    return {"warnings": warnings, "serving": current.facts()}
