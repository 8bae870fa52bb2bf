"""What comes in for sessions: what one shall be, and queries in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from discreet.api.faces.sessions import SessionPlan
from discreet.api.local import Curator
from discreet.core.json_codec import to_json
from discreet.pipeline.call import Call
from discreet.server.schemas.run_bodies import Run
from discreet.server.schemas.strict_json import Parameter, WithoutNulls
from discreet.sessions.query_json import query_from_json
from discreet.sessions.session_run import ALARMS
from discreet.sessions.session_terms import MOST_ALARMS

MOST_AT_ONCE = 5_000
"""Queries of one request."""
_MOST_QUERIES = 200_000
"""Of a session: its answers stay in memory while it is open."""
_MOST_CELLS = 2**22
"""Of a query: tables stay in memory while a session is open."""
_EACH, _MOST_OPEN = 4, 8
"""Sessions that stay open, of one analyst and of all: whoever asks in another opens it again, and it goes on."""
_STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Said:
    """What a session says, as it leaves."""

    facts: Mapping[str, Any]
    replayed: bool = True

    @property
    def stored(self) -> bytes:
        """Its bytes."""
        return json.dumps(self.facts).encode()


class NewSession(Run):
    """A session over a table, or over a SELECT that yields people's rows: a price, and how many queries there may be."""

    model_config = ConfigDict(
        **_STRICT, json_schema_extra={"example": {"source": "visits", "rho": 0.02, "queries": 100_000}}
    )
    queries: Annotated[int, Field(ge=1, le=_MOST_QUERIES)]
    mode: str = "practical"
    workload: Annotated[int, Field(ge=1, le=1000)] | Annotated[list[list[str]], Field(max_length=10_000)] | None = None
    alarms: Annotated[int, Field(ge=1, le=MOST_ALARMS)] = ALARMS
    release: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The name of synthetic data that is the hypothesis."""

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Call) -> Said:
        """Opened and paid for, or found as it is."""
        curator.limit_sessions(each=_EACH, most=_MOST_OPEN)
        session = curator.session(self.source, analyst=analyst, request_id=request_id, asking=asking, **self._details)
        return Said(to_json(session.facts), session.replayed)

    def explained_by(self, curator: Curator, *, analyst: str | None) -> SessionPlan:
        """What it would cost and promise."""
        return curator.plan_session(self.source, analyst=analyst, **self._details)

    @property
    def _details(self) -> dict[str, Any]:
        how = {"queries": self.queries, "mode": self.mode, "workload": self.workload, "alarms": self.alarms}
        return {**self.options, **how, "release": self.release, "name": self.name or ""}


_Range = dict[str, Parameter]
_Condition = Parameter | _Range | Annotated[list[Parameter], Field(max_length=10_000)]


_Sql = Annotated[str, Field(min_length=1, max_length=20_000)]


class QueriesBody(WithoutNulls):
    """Queries in a session: for each a condition by column, a value, a list of values, or {"from": 30, "to": 49}; or one in SQL, "age >= 30"."""

    model_config = ConfigDict(
        **_STRICT,
        json_schema_extra={"example": {"queries": [{"ward": "ICU", "age": {"from": 30, "to": 49}}]}},
    )
    queries: Annotated[list[dict[str, _Condition] | _Sql], Field(min_length=1, max_length=MOST_AT_ONCE)]
    dataset: str | None = None

    def of(self, session_id: str) -> AskedInSession:
        """The same, of one session."""
        return AskedInSession(session_id, self)


@dataclass(frozen=True, slots=True)
class AskedInSession:
    """Queries of one session."""

    session_id: str
    body: QueriesBody

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Call) -> Said:  # noqa: ARG002  a query is asked once, whatever the request is called
        """Answered, or found as they were."""
        session = curator.open_session(self.session_id, analyst=analyst)
        wanted = [query_from_json(facts) for facts in self.body.queries]
        told = session.answer_many(wanted, call=asking, most_cells=_MOST_CELLS)
        return Said({"answers": to_json(told), **to_json(session.facts)})
