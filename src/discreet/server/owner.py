"""Routes for the owner: keys, caps, freezing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request

from discreet.accounting import open_filter
from discreet.server.bodies import NewCap, NewKey
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
