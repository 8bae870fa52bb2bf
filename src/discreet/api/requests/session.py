"""`session` and its plan: many adaptive count queries under one charge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.api.requests.base import TableRunRequest, param, request
from discreet.api.requests.types import Marginals
from discreet.errors import BadInput

if TYPE_CHECKING:
    from discreet.api.plans import SessionPlan
    from discreet.measurement.run_release import RunRelease
    from discreet.sessions.session_base import SessionBase
    from discreet.sql.builder import Table


@request
class SessionRequest(TableRunRequest["SessionBase", "SessionPlan"]):
    """Open a session: many count queries, each of which may depend on earlier answers, for one charge that is made now.

    The same request opens the same session again, without a second charge.
    """

    http_path: ClassVar[str] = "/v1/sessions"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {"source": "visits", "rho": 0.02, "queries": 100_000}

    source: str | Table = param("Table name, or a SELECT that returns protected rows.", max_length=20_000, min_length=1)
    _: KW_ONLY
    queries: int = param("Largest number of different queries.", ge=1, le=1_000_000)
    mode: str = param(
        "How queries are answered: by a fitted model, or by private multiplicative weights with their theorem.",
        default="practical",
        choices=("practical", "textbook"),
    )
    workload: Marginals | None = param(
        "Marginals that the model of a practical session preserves: all k-way marginals (3 if not given), or lists of "
        "column names.",
        default=None,
    )
    alarms: int | None = param(
        "Number of badly answered queries that a practical session can find and measure; 4 if not given. "
        "Opening it again uses one.",
        default=None,
        ge=1,
        le=2**14,
    )
    release: str | RunRelease | None = param(
        "Synthetic data of the same columns, by its name or as a release, to answer from. "
        "Then the whole budget checks the answers.",
        default=None,
        min_length=1,
        max_length=200,
    )
    name: str | None = param(
        "Name of the session. The same request with another name opens another session, charged again.",
        default=None,
        max_length=200,
        pattern=r"^\w[^/]*$",
    )

    def check(self) -> None:
        """Refuse settings that the mode does not have."""
        if self.mode == "textbook" and (self.release, self.workload, self.alarms) != (None, None, None):
            raise BadInput(
                "A textbook session starts from even weights, and its theorem sets the number of alarms.",
                next_step="Leave out release, workload and alarms.",
            )
        if self.release is not None and self.workload is not None:
            raise BadInput(
                "A session answers either from a release or from a model of a workload.",
                next_step="Give a release or a workload.",
            )
