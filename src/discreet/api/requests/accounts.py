"""`budget`, `history`, `catalog` and `card`: what is public, and what was spent."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar, Never

from discreet.api.requests.base import Request, param, request

if TYPE_CHECKING:
    from discreet.results.models import Balance, Card, CatalogFacts, PastRelease


@request
class BudgetRequest(Request["list[Balance]", Never]):
    """List the dataset's account and your own with what is left; all accounts for the data owner."""

    http_method: ClassVar[str] = "GET"
    http_path: ClassVar[str] = "/v1/budget"


@request
class HistoryRequest(Request["list[PastRelease]", Never]):
    """List your releases, newest first; those of everybody for the data owner."""

    http_method: ClassVar[str] = "GET"
    http_path: ClassVar[str] = "/v1/history"

    _: KW_ONLY
    before: int | None = param("Only releases before the one with this number.", default=None, ge=0, le=2**62)
    limit: int = param("Largest number of releases.", default=100)


@request
class CatalogRequest(Request["CatalogFacts", Never]):
    """Return what is public about the data."""

    http_method: ClassVar[str] = "GET"
    http_path: ClassVar[str] = "/v1/catalog"


@request
class CardRequest(Request["Card", Never]):
    """Return the transparency card: what was spent on what, for everybody."""

    http_method: ClassVar[str] = "GET"
    http_path: ClassVar[str] = "/v1/transparency"
