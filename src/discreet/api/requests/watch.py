"""`watch`: one count that is compared with a threshold in every data version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Never

from discreet.api.requests.base import PaidRequest, param, request

if TYPE_CHECKING:
    from discreet.core.exact import Number
    from discreet.results.watch_base import WatchBase
    from discreet.sql.builder import Table
    from discreet.sql.reader.query_text import Parameters


@request
class WatchRequest(PaidRequest["WatchBase", Never]):
    """Watch one count or sum over data versions until it is above a threshold, with noise.

    All of it is charged once, now. After a watch has ended, another of the same count is run 2, charged again.
    """

    http_path: ClassVar[str] = "/v1/watch"
    http_example: ClassVar[Mapping[str, Any]] = {
        "sql": "SELECT COUNT(*) FROM visits",
        "threshold": 3000,
        "epsilon": 0.5,
    }

    sql: str | Table = param("One count or sum.", min_length=1, max_length=20_000)
    _: KW_ONLY
    threshold: Number = param("In the unit of what is counted.")
    epsilon: Number | None = param("Privacy cost of the whole watch. There is no default.", default=None, gt=0)
    parameters: Parameters = param(
        "Values of the placeholders :name (in Python also a sequence for ?).", default=(), option="--param"
    )
    run: int = param("1, and one more after each watch of the same count that has ended.", default=1)
