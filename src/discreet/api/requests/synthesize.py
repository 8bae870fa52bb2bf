"""`synthesize`: synthetic rows of protected rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.api.requests.base import TableRunRequest, param, request
from discreet.api.requests.types import Marginals, Prices

if TYPE_CHECKING:
    from discreet.api.plans import SynthesisPlan
    from discreet.sql.builder import Table
    from discreet.synthetic.synthetic_release import SyntheticRelease


@request
class SynthesizeRequest(TableRunRequest["SyntheticRelease", "SynthesisPlan"]):
    """Fit a private model of a table and sample synthetic rows from it.

    The run is charged once, before it reads protected rows. If it is interrupted, the same call resumes it without a
    second charge.
    """

    http_path: ClassVar[str] = "/v1/synthesize"
    http_plan_path: ClassVar[str] = http_path
    http_example: ClassVar[Mapping[str, Any]] = {"source": "visits", "rho": 0.01, "workload": 2, "name": "visits-2026"}

    source: str | Table = param("Table name, or a SELECT that returns protected rows.", max_length=20_000, min_length=1)
    _: KW_ONLY
    workload: Marginals = param(
        "Marginals to preserve: all k-way marginals (an integer), or lists of column names.", default=3
    )
    method: str = param(
        "Synthesis method.", default="aim", choices=("aim", "mst", "mwem", "fixed", "independent", "smalldb")
    )
    discover: Prices | None = param(
        "Columns without declared values, each with the epsilon to find them privately; charged in addition to the run.",
        default=None,
        max_length=32,
    )
    rows_about: int | None = param(
        "For a plan or dry run: the number of rows to assume instead of the catalog's `rows_about`.",
        default=None,
        ge=1,
        le=2**40,
    )
