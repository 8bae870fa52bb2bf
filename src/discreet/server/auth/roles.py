"""Roles and permissions. `ROUTES` lists the roles that may use each route; a route that is missing there is closed to all."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.api.requests.graph import GRAPH_REQUESTS
from discreet.errors import Forbidden

ROLES = ("owner", "steward", "analyst", "auditor", "metrics", "shuffler")
"""In this order: everything; keys, users and budgets; queries; the ledger; metrics; batches of reports."""

PUBLIC = "public"
ROUTES = {
    "POST /v1/ask": "owner analyst",
    "DELETE /v1/ask/{name}": "owner analyst",
    "POST /v1/explain": "owner analyst",
    "POST /v1/recall": "owner analyst",
    "POST /v1/watch": "owner analyst",
    "POST /v1/watch/evaluate": "owner analyst",
    "POST /v1/watch/recall": "owner analyst",
    "GET /v1/saved": "owner analyst",
    "POST /v1/saved": "owner analyst",
    "GET /v1/saved/{number}": "owner analyst",
    "DELETE /v1/saved/{number}": "owner analyst",
    "GET /v1/saved/{number}/answer": "owner analyst",
    "POST /v1/synthesize": "owner analyst",
    "POST /v1/tabulate": "owner analyst",
    "POST /v1/learn": "owner analyst",
    "POST /v1/evaluate": "owner analyst",
    "POST /v1/sessions": "owner analyst",
    "POST /v1/sessions/{session_id}/answers": "owner analyst",
    "GET /v1/graphs": "owner analyst",
    **{f"POST {kind.http_path}": "owner analyst" for kind in GRAPH_REQUESTS.values()},
    "GET /v1/releases": "owner analyst",
    "GET /v1/releases/{name}": "owner analyst",
    "GET /v1/releases/{name}/rows": "owner analyst",
    "GET /v1/releases/{name}/report": "owner analyst",
    "PUT /v1/releases/{name}/published": "owner",
    "POST /v1/releases/{name}/comparison": "owner",
    "POST /v1/releases/{name}/comparison/pair": "owner",
    "POST /v1/releases/{name}/comparison/price": "owner",
    "GET /v1/published/{name}": PUBLIC,
    "GET /v1/budget": "owner steward analyst auditor",
    "GET /v1/history": "owner analyst auditor",
    "GET /v1/catalog": "owner steward analyst auditor",
    "GET /v1/catalog/source": "owner",
    "POST /v1/catalog/check": "owner",
    "PUT /v1/catalog/source": "owner",
    "GET /v1/keys": "owner steward auditor",
    "POST /v1/keys": "owner steward",
    "DELETE /v1/keys/{number}": "owner steward",
    "POST /v1/keys/{number}/rotation": "owner steward",
    "GET /v1/users": "owner steward auditor",
    "PUT /v1/users/{name}": "owner steward",
    "DELETE /v1/users/{name}": "owner steward",
    "PUT /v1/analysts/{name}": "owner steward",
    "PUT /v1/analysts/{name}/frozen": "owner steward",
    "POST /v1/refresh": "owner steward",
    "GET /v1/serving": "owner steward",
    "GET /v1/ledger": "owner auditor",
    "GET /v1/ledger/verification": "owner auditor",
    "GET /v1/attacks": "owner analyst",
    "POST /v1/attacks/{name}": "owner analyst",
    "GET /v1/tasks": PUBLIC,
    "POST /v1/tasks": "owner",
    "GET /v1/tasks/{name}": PUBLIC,
    "POST /v1/tasks/{name}/slots": PUBLIC,
    "PUT /v1/tasks/{name}/closed": "owner",
    "DELETE /v1/tasks/{name}": "owner",
    "GET /v1/collections": "owner",
    "POST /v1/tasks/{name}/reports": PUBLIC,
    "POST /v1/tasks/{name}/batches": "shuffler",
    "GET /v1/tasks/{name}/estimate": "owner analyst auditor",
    "POST /v1/tasks/{name}/rehearsal": "owner analyst",
    "GET /v1/transparency": PUBLIC,
    "GET /metrics": "owner metrics",
    "GET /healthz": PUBLIC,
    "GET /": PUBLIC,
    "GET /api": PUBLIC,
    "GET /page/{name:path}": PUBLIC,
    "GET /openapi.json": PUBLIC,
    "GET /session": " ".join(ROLES),
    "POST /session": PUBLIC,
    "DELETE /session": PUBLIC,
}
_GRANTS = {"owner": ROLES, "steward": ("analyst", "auditor", "metrics")}
"""The roles that a role may grant and revoke."""


@dataclass(frozen=True, slots=True)
class Holder:
    """An authenticated caller: the holder of a key, or a user of the trusted proxy."""

    id: str
    """`key NUMBER` or `user NAME`; the ledger records it as the actor."""
    name: str
    role: str

    @property
    def charged_analyst(self) -> str | None:
        """The analyst whose account is charged; None for the owner, whose queries charge the dataset's account only."""
        return None if self.role == "owner" else self.name

    @property
    def visible_analyst(self) -> str | None:
        """The analyst whose account and queries the holder may see; None for all."""
        return self.name if self.role == "analyst" else None


def _pattern(route: str) -> re.Pattern[str]:
    """Return the pattern of a route. A name in braces matches one segment of a path, or with `:path` any number."""
    parts = (re.escape(part) for part in re.split(r"{\w+(?::path)?}", route))
    steps = (".*" if named.endswith(":path}") else "[^/]+" for named in re.findall(r"{[^}]*}", route))
    return re.compile("".join(part + next(steps, "") for part in parts))


_METHODS = frozenset(route.partition(" ")[0] for route in ROUTES)
_EXACT = frozenset(route for route in ROUTES if "{" not in route)
_OTHERS = {route: _pattern(route) for route in ROUTES if "{" in route}
_ROLES = {route: frozenset(roles.split()) for route, roles in ROUTES.items()}


def route_for(method: str, path: str) -> str | None:
    """Return the route that matches a request, or None."""
    given = f"{method} {path}"
    if given in _EXACT:
        return given
    return next((route for route, pattern in _OTHERS.items() if pattern.fullmatch(given)), None)


def is_known_path(path: str) -> bool:
    """Whether a path matches a route with any method."""
    return any(route_for(method, path) for method in _METHODS)


def is_public(route: str) -> bool:
    """Whether a route, `METHOD /path`, needs no authentication."""
    return ROUTES.get(route) == PUBLIC


def check_permission(holder: Holder, route: str) -> None:
    """Refuse a route that the holder's role may not use."""
    if holder.role not in _ROLES.get(route, ()):
        allowed = " or ".join(ROUTES.get(route, "").split()) or "no role"
        raise Forbidden(f"The role {holder.role} may not do this.", next_step=f"It needs the role {allowed}.")


def check_can_grant(holder: Holder, role: str, *, name: str) -> None:
    """Refuse to grant or revoke a role above the holder's own, or any role under the holder's own name."""
    if role not in _GRANTS.get(holder.role, ()):
        raise Forbidden(f"The role {holder.role} may not grant or revoke the role {role}.", next_step="Ask the owner.")
    check_other(holder, name)


def check_other(holder: Holder, name: str) -> None:
    """Refuse a change of the holder's own rights."""
    if holder.role != "owner" and name == holder.name:
        raise Forbidden("Only the owner may change their own rights.", next_step="Ask the owner, or another steward.")
