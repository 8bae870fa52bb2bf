"""The state that all routes share: the curator, the keys and the limits. Also authentication of a request."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from fastapi import Request

from discreet.api.local import Curator
from discreet.errors import Forbidden, NoAccess, UnknownDataset
from discreet.local.collector.report_store import ReportStore
from discreet.server.auth.keys import PREFIX, KeyStore
from discreet.server.auth.page_sessions import Sessions
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.roles import Holder, check_permission
from discreet.server.http.proxies import user_named
from discreet.server.http.server_limits import Limits, address_group, is_loopback_address
from discreet.server.http.streaming import LongAnswerQuota
from discreet.server.http.telemetry import Telemetry
from discreet.server.http.thread_pools import ThreadPools
from discreet.server.jobs.current_curator import CurrentCurator
from discreet.server.jobs.recent_releases import RecentReleases
from discreet.server.jobs.running_queries import RunningQueries
from discreet.server.jobs.saved_store import SavedQueries

_SIGN_INS = 5
"""Requests per second of one address; bursts may be twice as large."""
_HEALTH_REQUESTS = 50
"""The same for health requests."""
_DELAYED_AT_ONCE = 100


def health_rate_limit() -> RateLimit:
    """Return a rate limit for health requests, by address."""
    return RateLimit(rate=_HEALTH_REQUESTS, at_once=32)


@dataclass(frozen=True, slots=True)
class Service:
    """The shared state of one served curator."""

    current: CurrentCurator
    keys: KeyStore
    sessions: Sessions
    rate_limit: RateLimit
    """Requests of analysts, by name."""
    unauthenticated: RateLimit
    """Requests without a valid key, by address."""
    callers: RateLimit
    """All requests with a key, answered or refused, by the key's number."""
    queries: RunningQueries
    collections: ReportStore
    saved: SavedQueries
    sign_ins: RateLimit = field(default_factory=lambda: RateLimit(rate=_SIGN_INS, at_once=4))
    """Attempts to sign in, by address."""
    health_requests: RateLimit = field(default_factory=health_rate_limit)
    """Health requests, by address."""
    delayed_refusals: RateLimit = field(default_factory=lambda: RateLimit(rate=1e9, at_once=_DELAYED_AT_ONCE))
    """Delayed refusals in progress, by caller."""
    limits: Limits = field(default_factory=Limits)
    pools: ThreadPools = field(default_factory=ThreadPools)
    long_answers: LongAnswerQuota = field(default_factory=LongAnswerQuota)
    telemetry: Telemetry = field(default_factory=Telemetry)
    recent: RecentReleases = field(default_factory=RecentReleases)

    @property
    def curator(self) -> Curator:
        """The current curator, for its ledger and catalog. Queries get it from `queries`, which keeps its data open."""
        return self.current.curator

    def close(self) -> None:
        """Close the data and all databases."""
        self.saved.close()
        self.collections.close()
        self.current.close()

    def check_dataset(self, given: str | None) -> None:
        """Refuse another dataset; an unknown and a forbidden one get the same error."""
        if given not in (None, self.curator.dataset):
            raise UnknownDataset(
                "This dataset does not exist, or you may not use it.", next_step="Omit `dataset`, or see /v1/catalog."
            )


def service_of(request: Request) -> Service:
    """Return the service of a request's application."""
    service: Service = request.app.state.service
    return service


def route_of(request: Request) -> str:
    """Return the route as it is written in `ROUTES`: `METHOD /path`."""
    return f"{request.method} {request.scope['route'].path}"


def admit(request: Request, route: str) -> None:
    """Authenticate a request, and check that the role may use the route."""
    holder = _holder(request, service_of(request))
    request.state.holder = holder.id  # for the access log, also if the route is refused
    check_permission(holder, route)
    request.state.admitted = holder


def holder_of(request: Request) -> Holder:
    """Return the authenticated holder; only on routes that are not public."""
    holder: Holder = request.state.admitted
    return holder


async def check_route_was_admitted(request: Request) -> None:
    """Refuse a request if the middleware checked another route than the one FastAPI chose, or none."""
    if request.state.route != route_of(request):
        raise Forbidden(
            "The permission for this route was not checked.",
            next_step="Report this to the data owner: the server has a fault.",
        )


def _holder(request: Request, service: Service) -> Holder:
    """Authenticate by a key in the header, by the trusted proxy's user header, or by the page's cookie."""
    user = user_named(request, service.limits.user_header)
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and (user is None or key.startswith(PREFIX)):
        return service.keys.holder(key)
    # CSRF: a form of another site can make a browser send its cookies, but not this header.
    if request.method != "GET" and request.headers.get("x-discreet-page") != "1":
        raise NoAccess("The request has no key.", next_step="Send a key, or X-Discreet-Page: 1 if you have signed in.")
    return service.sessions.holder(session_in(request)) if user is None else service.keys.user(user)


def cookie_of(request: Request) -> str:
    """Return the name of the page's cookie. A dataset among several has another name, so that a cookie of the whole site (from another port or an
    earlier start) does not shadow it.
    """
    return "discreet_dataset_session" if request.scope["root_path"] else "discreet_session"


def session_in(request: Request) -> str:
    """Return the token in the page's cookie; empty without one."""
    return request.cookies.get(cookie_of(request), "")


def address_of(request: Request) -> str:
    """Return the address that limits count: the client's, or the one that a trusted proxy forwards."""
    return address_group(request.client.host) if request.client else ""


def admit_health_request(health_requests: RateLimit, request: Request) -> AbstractContextManager[None]:
    """Apply the limit for health requests; the local machine has none."""
    if request.client is None or is_loopback_address(request.client.host):
        return nullcontext()
    return health_requests.admit(address_of(request))
