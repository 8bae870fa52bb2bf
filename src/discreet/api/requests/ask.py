"""`ask` and its plan `explain`: one SQL query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.api.requests.base import PaidRequest, param, request
from discreet.errors import BadInput

if TYPE_CHECKING:
    from discreet.core.exact import Number
    from discreet.results.answer_base import AnswerBase
    from discreet.results.models import Explanation
    from discreet.sql.builder import Table
    from discreet.sql.reader.query_text import Parameters


@request
class AskRequest(PaidRequest["AnswerBase", "Explanation"]):
    """Answer one SQL query with noise, and charge for it.

    Give either `epsilon`, here or in OPTIONS of the query, or the accuracy that you need: `within` and `confidence`.
    The same query has the same answer and is charged once.
    """

    http_path: ClassVar[str] = "/v1/ask"
    http_plan_path: ClassVar[str] = "/v1/explain"
    http_example: ClassVar[Mapping[str, Any]] = {
        "sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "epsilon": 0.5,
    }

    sql: str | Table = param("One SELECT statement (in Python also a `Table`).", min_length=1, max_length=20_000)
    _: KW_ONLY
    epsilon: Number | None = param("Privacy cost of the answer. There is no default.", default=None, gt=0)
    within: Number | None = param(
        "Instead of epsilon: the largest ± of any number; epsilon is computed from it.", default=None, gt=0
    )
    confidence: Number | None = param(
        "With within: the probability that it holds, such as 0.95.", default=None, gt=0, lt=1
    )
    delta: Number | None = param(
        "Delta to spend. Needed only for groups whose values are not declared.", default=None, gt=0, lt=1
    )
    mechanism: str | None = param('"laplace", "gaussian" or "choose".', default=None)
    parameters: Parameters = param(
        "Values of the placeholders :name (in Python also a sequence for ?).", default=(), option="--param"
    )

    def check(self) -> None:
        """One price, and all of it."""
        if (self.epsilon is not None and self.within is not None) or (self.within is None) != (self.confidence is None):
            raise BadInput(
                "A query takes either epsilon, or within and confidence.",
                next_step="Give an epsilon, such as 0.5, or within and confidence, such as 50 and 0.95.",
            )
