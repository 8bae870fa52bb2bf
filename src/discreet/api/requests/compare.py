"""`compare`, `compare_pair` and `compare_price`: real numbers beside a release, for the data owner only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Never

from discreet.api.requests.base import Request, param, request

if TYPE_CHECKING:
    from discreet.core.exact import Number
    from discreet.sql.reader.query_text import Parameters


@request
class CompareRequest(Request["dict[str, Any]", Never]):
    """Show real numbers beside a release of synthetic data: every column, the error of tables, and trained models.

    Not private: only the data owner can see it. Nothing is charged or stored, and the ledger records who looked.
    """

    http_path: ClassVar[str] = "/v1/releases/{name}/comparison"

    name: str = param("Name of the release.")
    _: KW_ONLY
    given_by: str | None = param(
        "The analyst who gave the release its name, if several did.", default=None, max_length=200
    )
    parameters: Parameters = param(
        "Values for the placeholders of the release's source: the ledger does not keep them.",
        default=(),
        option="--param",
    )


@request
class ComparePairRequest(CompareRequest):
    """Show the table of two columns, real beside synthetic. Not private: only the data owner can see it."""

    http_path: ClassVar[str] = "/v1/releases/{name}/comparison/pair"
    http_example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "ward"]}

    columns: tuple[str, ...] = param("Two columns of the release.", min_length=2, max_length=2)


@request
class ComparePriceRequest(CompareRequest):
    """Show the error that the same release would have at another epsilon. Not private: only the data owner can see it.

    The release is made once from the real rows, compared, and thrown away. Nothing is charged, because it is neither
    returned nor stored.
    """

    http_path: ClassVar[str] = "/v1/releases/{name}/comparison/price"
    http_example: ClassVar[Mapping[str, Any]] = {"epsilon": 1}

    epsilon: Number = param("The epsilon to try, at a delta of 1e-9 unless the release has a pure epsilon.", gt=0)
