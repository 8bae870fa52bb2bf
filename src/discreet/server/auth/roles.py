"""Roles: who may do what. One table says it of every route, and a route that is not in it is open to nobody."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.api.requests.graph import GRAPH_REQUESTS
from discreet.errors import Forbidden

ROLES = ("owner", "steward", "analyst", "auditor", "metrics", "shuffler")
"""Everything; keys, users and budgets; queries; the books; counts of requests; batches of reports."""

EVERYBODY = "everybody"
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
    "GET /v1/published/{name}": EVERYBODY,
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
    "GET /v1/tasks": EVERYBODY,
    "POST /v1/tasks": "owner",
    "GET /v1/tasks/{name}": EVERYBODY,
    "POST /v1/tasks/{name}/slots": EVERYBODY,
    "PUT /v1/tasks/{name}/closed": "owner",
    "DELETE /v1/tasks/{name}": "owner",
    "GET /v1/collections": "owner",
    "POST /v1/tasks/{name}/reports": EVERYBODY,
    "POST /v1/tasks/{name}/batches": "shuffler",
    "GET /v1/tasks/{name}/estimate": "owner analyst auditor",
    "POST /v1/tasks/{name}/rehearsal": "owner analyst",
    "GET /v1/transparency": EVERYBODY,
    "GET /metrics": "owner metrics",
    "GET /healthz": EVERYBODY,
    "GET /": EVERYBODY,
    "GET /api": EVERYBODY,
    "GET /page/{name:path}": EVERYBODY,
    "GET /openapi.json": EVERYBODY,
    "GET /session": " ".join(ROLES),
    "POST /session": EVERYBODY,
    "DELETE /session": EVERYBODY,
}
_GRANTS = {"owner": ROLES, "steward": ("analyst", "auditor", "metrics")}
"""Which roles a role may give, and take away."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody who was let in: by a key, or by name through the owner's proxy."""

    id: str
    """`key NUMBER` or `user NAME`; what the ledger names as who did something."""
    name: str
    role: str

    @property
    def asks_as(self) -> str | None:
        """The analyst whose account pays; the owner charges the dataset only."""
        return None if self.role == "owner" else self.name

    @property
    def sees(self) -> str | None:
        """The analyst whose account and queries are shown; None for all of them."""
        return self.name if self.role == "analyst" else None


def _pattern(route: str) -> re.Pattern[str]:
    """What a route matches; a part in braces is one step of a path, or with `:path` any number of them."""
    parts = (re.escape(part) for part in re.split(r"{\w+(?::path)?}", route))
    steps = (".*" if named.endswith(":path}") else "[^/]+" for named in re.findall(r"{[^}]*}", route))
    return re.compile("".join(part + next(steps, "") for part in parts))


_METHODS = frozenset(route.partition(" ")[0] for route in ROUTES)
_EXACT = frozenset(route for route in ROUTES if "{" not in route)
_OTHERS = {route: _pattern(route) for route in ROUTES if "{" in route}
_ROLES = {route: frozenset(roles.split()) for route, roles in ROUTES.items()}


def route_for(method: str, path: str) -> str | None:
    """The route of the table that a request is for, if there is one."""
    given = f"{method} {path}"
    if given in _EXACT:
        return given
    return next((route for route, pattern in _OTHERS.items() if pattern.fullmatch(given)), None)


def has_routes(path: str) -> bool:
    """Whether a path is in the table, with whichever method."""
    return any(route_for(method, path) for method in _METHODS)


def is_public(route: str) -> bool:
    """Whether a route, `METHOD /path`, asks nobody who they are."""
    return ROUTES.get(route) == EVERYBODY


def check_may(holder: Holder, route: str) -> None:
    """Refuse a route that is not for this role."""
    if holder.role not in _ROLES.get(route, ()):
        whose = " or ".join(ROUTES.get(route, "").split()) or "nobody"
        raise Forbidden(f"This is not for the role {holder.role}.", next_step=f"It is for: {whose}.")


def check_may_grant(holder: Holder, role: str, *, name: str) -> None:
    """Refuse to give or take a role above one's own, and any role of one's own name."""
    if role not in _GRANTS.get(holder.role, ()):
        raise Forbidden(f"The role {holder.role} does not give or take the role {role}.", next_step="Ask the owner.")
    check_other(holder, name)


def check_other(holder: Holder, name: str) -> None:
    """Refuse to change what one has oneself."""
    if holder.role != "owner" and name == holder.name:
        raise Forbidden(
            "Nobody but the owner changes their own rights.", next_step="Ask the owner, or another steward."
        )
