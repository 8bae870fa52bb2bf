"""Routes for the owner and stewards: keys, users, caps, freezing, data versions, the catalog. The ledger records each action and its actor."""

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
    """List the entries of all keys. They do not contain the keys."""
    return json_response(request, {"keys": [key_summary(key) for key in service_of(request).keys.all()]})


@routes.post("/keys", status_code=201)
def create_key(body: NewKey, request: Request) -> dict[str, str]:
    """Create a key, which is shown once. With `cap`, open the analyst's account in the same step; an analyst without an account gets no key."""
    holder, cap = holder_of(request), None if body.cap is None else body.cap.filter
    check_can_grant(holder, body.role, name=body.name)
    return {"key": service_of(request).keys.create(body.name, role=body.role, days=body.days, cap=cap, by=holder.id)}


@routes.post("/keys/{number}/rotation", status_code=201)
def rotate_key(number: str, body: Rotation, request: Request) -> dict[str, str]:
    """Create a key for the holder of an old one, and revoke the old one. The new key is shown once."""
    return {"key": _granted(request, number).rotate(number, days=body.days, by=holder_of(request).id)}


@routes.delete("/keys/{number}", status_code=204)
def revoke_key(number: str, request: Request) -> None:
    """Revoke a key."""
    _granted(request, number).revoke(number, by=holder_of(request).id)


def _granted(request: Request, number: str) -> KeyStore:
    """Return the key store, if the caller may grant and revoke the role of this key."""
    keys = service_of(request).keys
    issued = keys.issued(number)
    check_can_grant(holder_of(request), issued.role, name=issued.name)
    return keys


@routes.get("/users")
def list_users(request: Request) -> Response:
    """List the users of the trusted proxy and their roles."""
    users = service_of(request).keys.users()
    return json_response(request, {"users": [{"name": name, "role": role} for name, role in sorted(users.items())]})


@routes.put("/users/{name}", status_code=204)
def set_user(name: str, body: NewUser, request: Request) -> None:
    """Set the role of a user of the trusted proxy."""
    holder, keys = holder_of(request), service_of(request).keys
    for role in {body.role, keys.users().get(name, body.role)}:
        check_can_grant(holder, role, name=name)
    keys.set_user(name, body.role, by=holder.id)


@routes.delete("/users/{name}", status_code=204)
def remove_user(name: str, request: Request) -> None:
    """Remove a user's role."""
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
    """Freeze or unfreeze an analyst's account."""
    holder = holder_of(request)
    check_other(holder, name)
    service_of(request).curator.ledger.freeze(name, frozen=frozen, by=holder.id)


@routes.get("/serving")
def serving(request: Request) -> dict[str, Any]:
    """Return which data version and catalog are served and since when, whether newer ones exist, and why they are not served."""
    return service_of(request).current.status()


@routes.post("/refresh")
def refresh_data(request: Request) -> dict[str, Any]:
    """Read the source again as a new data version. Budgets do not change; running queries finish on the previous version.

    If the catalog has changed, a refresh by the owner also serves the new catalog; a refresh by a steward does not.
    """
    current, holder = service_of(request).current, holder_of(request)
    before = current.curator.version
    return {"before": before, "version": current.refresh(by=holder.id, takes_catalog=holder.role == "owner")}


@routes.get("/catalog/source")
def catalog_text(request: Request) -> dict[str, Any]:
    """Return the catalog as it is on disk, with warnings, or with its error."""
    text = service_of(request).current.config.read_text()
    try:
        return {"text": text, "warnings": warnings_of(parse_catalog(text)), "problem": None}
    except BadCatalog as problem:
        return {"text": text, "warnings": [], "problem": error_json(problem)}


@routes.post("/catalog/check")
def check_catalog(body: CatalogText) -> dict[str, Any]:
    """Check the text of a catalog; an error contains the line."""
    return {"warnings": warnings_of(parse_catalog(body.text))}


@routes.put("/catalog/source")
def save_catalog(body: CatalogText, request: Request) -> dict[str, Any]:
    """Write the catalog atomically, and serve it; if it cannot be served, `serving` says why."""
    current = service_of(request).current
    warnings, file = warnings_of(parse_catalog(body.text)), current.config
    new = file.with_name(f"{file.name}.new")
    new.write_text(body.text)
    digest = hashlib.sha256(body.text.encode()).hexdigest()
    service_of(request).curator.ledger.record(lambda _: [("catalog", {"sha256": digest})], by=holder_of(request).id)
    new.replace(file)
    current.update()
    return {"warnings": warnings, "serving": current.status()}
