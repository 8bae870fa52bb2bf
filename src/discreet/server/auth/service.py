"""What the routes share: the curator, the keys, the limits; and who is asking."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from fastapi import Request

from discreet.api.local import Curator
from discreet.errors import Forbidden, NoAccess, UnknownDataset
from discreet.local.collector.report_store import ReportStore
from discreet.server.auth.keys import PREFIX, KeyBook
from discreet.server.auth.page_sessions import Sessions
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.roles import Holder, check_may
from discreet.server.http.proxies import user_named
from discreet.server.http.server_limits import Limits, is_of_this_machine, place_of
from discreet.server.http.streaming import Writing
from discreet.server.http.telemetry import Telemetry
from discreet.server.http.thread_pools import Shares
from discreet.server.jobs.current_curator import Current
from discreet.server.jobs.recent_releases import RecentReleases
from discreet.server.jobs.running_queries import Queries
from discreet.server.jobs.saved_store import SavedQueries

_SIGN_INS = 5
"""A second from one address, and twice as many at once."""
_LOOKS = 50
"""The same for looks at the health."""
_SLOWED_AT_ONCE = 100


def new_lookers() -> RateLimit:
    """A limit for looks at the health, by address."""
    return RateLimit(rate=_LOOKS, at_once=32)


@dataclass(frozen=True, slots=True)
class Service:
    """One curator behind a door."""

    current: Current
    keys: KeyBook
    sessions: Sessions
    guard: RateLimit
    """Of analysts, by name."""
    strangers: RateLimit
    """Of those without a key, by address."""
    callers: RateLimit
    """Of those with a key, by its number: all that they come for, answered or refused."""
    queries: Queries
    collections: ReportStore
    saved: SavedQueries
    sign_ins: RateLimit = field(default_factory=lambda: RateLimit(rate=_SIGN_INS, at_once=4))
    """Attempts to sign in, by address."""
    lookers: RateLimit = field(default_factory=new_lookers)
    """Looks at the health, by address."""
    slowed: RateLimit = field(default_factory=lambda: RateLimit(rate=1e9, at_once=_SLOWED_AT_ONCE))
    """Refusals that take their time, by address."""
    limits: Limits = field(default_factory=Limits)
    shares: Shares = field(default_factory=Shares)
    writing: Writing = field(default_factory=Writing)
    telemetry: Telemetry = field(default_factory=Telemetry)
    recent: RecentReleases = field(default_factory=RecentReleases)

    @property
    def curator(self) -> Curator:
        """The one that is served now, for its books and its catalog; queries have their own way to its data."""
        return self.current.curator

    def close(self) -> None:
        """Let go of the data and of all books."""
        self.saved.close()
        self.collections.close()
        self.current.close()

    def check_dataset(self, given: str | None) -> None:
        """An unknown dataset and a forbidden one look the same."""
        if given not in (None, self.curator.dataset):
            raise UnknownDataset(
                "There is no such dataset for you.", next_step="Leave `dataset` out, or see /v1/catalog."
            )


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service


def route_of(request: Request) -> str:
    """The route as the table of roles calls it: `METHOD /path`."""
    return f"{request.method} {request.scope['route'].path}"


def admit(request: Request, route: str) -> None:
    """Whether a route that is not public is for who asks."""
    holder = _holder(request, service_of(request))
    request.state.holder = holder.id  # for the log, whether or not the route is for them
    check_may(holder, route)
    request.state.admitted = holder


def holder_of(request: Request) -> Holder:
    """Who was let in to a route that is not public."""
    holder: Holder = request.state.admitted
    return holder


async def came_through_the_gate(request: Request) -> None:
    """Fail where a route was reached that is not the one which the gate looked at, or past the gate."""
    if request.state.route != route_of(request):
        raise Forbidden("This route was not reached through the gate.", next_step="Tell the owner of the data.")


def _holder(request: Request, service: Service) -> Holder:
    """By a key in the header, by the name that the owner's proxy says, or by the page's cookie."""
    user = user_named(request, service.limits.user_header)
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and (user is None or key.startswith(PREFIX)):
        return service.keys.holder(key)
    # A form of another site can make a browser send its cookies, to the proxy as to us; this header it cannot.
    if request.method != "GET" and request.headers.get("x-discreet-page") != "1":
        raise NoAccess("There is no key.", next_step="Send a key, or X-Discreet-Page: 1 if you have signed in.")
    return service.sessions.holder(session_in(request)) if user is None else service.keys.user(user)


def cookie_of(request: Request) -> str:
    """What the page's cookie is called: one of a whole site, from an earlier start or another port, does not hide one of a dataset."""
    return "discreet_dataset_session" if request.scope["root_path"] else "discreet_session"


def session_in(request: Request) -> str:
    """The token in the page's cookie; empty where there is none."""
    return request.cookies.get(cookie_of(request), "")


def address_of(request: Request) -> str:
    """Where a request comes from: the client's address, or what a named proxy says that it is."""
    return place_of(request.client.host) if request.client else ""


def admit_looker(lookers: RateLimit, request: Request) -> AbstractContextManager[None]:
    """Let somebody look at the health, within a limit beside all others; this machine, which watches itself, has none."""
    if request.client is None or is_of_this_machine(request.client.host):
        return nullcontext()
    return lookers.admit(address_of(request))
