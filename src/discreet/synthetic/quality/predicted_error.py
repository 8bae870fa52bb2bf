"""Predicted error of synthetic data, before the charge: from public values and a declared or assumed row count.

A dry run on made-up rows takes the measurements that do not depend on the data. This gives their noise, and the noise
of the tables that the method will choose. Which tables it chooses, and how well the others follow from them, depends on
the data, so it is not predicted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from discreet.core.exact import read_count
from discreet.core.number_format import CONFIDENCE
from discreet.measurement.domain import Columns, Domain
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.synthetic.methods.candidates import is_drowned
from discreet.synthetic.methods.method import Method
from discreet.synthetic.models.synthetic_model import noise_in_a_cell
from discreet.synthetic.quality.dry_run import DryRun, Noise

MOST_ROWS = 2**40
MOST_ERROR = 2.0
"""Largest L1 distance of two tables of shares."""
NOT_PROMISED = (
    "A table that is not measured follows from those that are. How near it comes depends on the data, and nothing is promised before it is paid "
    "for: once it is made, `bounds` says how far off every table can be."
)


@dataclass(frozen=True, slots=True)
class PredictedColumn:
    """Prediction for a column. Both errors are None if the method does not measure the column by itself."""

    column: str
    within: float | None
    """Error of one count in rows, not exceeded in 95 % of all releases."""
    error: float | None
    """Expected L1 error of all counts, as a share of the assumed rows. The largest possible error is 2."""


@dataclass(frozen=True, slots=True)
class PredictedTables:
    """Prediction for the tables of `width` columns that are measured or may be.

    Errors are None if none is measurable.
    """

    width: int
    tables: int
    measurable: int
    """Number of tables whose noise does not exceed their content, if no codes are merged."""
    is_chosen: bool
    """Whether the method measures only tables that it chooses by the data."""
    within: float | None
    """Error of one count of a measured table, as for a column."""
    least_error: float | None
    typical_error: float | None
    most_error: float | None
    """Expected L1 error, as for a column: least, median and largest over the measurable tables, if they are measured.
    """


@dataclass(frozen=True, slots=True)
class Predicted:
    """Predicted error of synthetic data. It does not depend on any protected row."""

    rows_about: int
    """Assumed number of rows."""
    columns: tuple[PredictedColumn, ...]
    tables: tuple[PredictedTables, ...]
    otherwise: str
    """Statement about all other tables."""


def predicted(
    method: Method, domain: Domain, marginals: Mapping[Columns, int], budget: AdaptiveBudget, rows: int
) -> Predicted:
    """Return the predicted error of synthetic data."""
    about = read_count(rows, name="rows_about", most=MOST_ROWS)
    dry_run = DryRun(domain, budget, about)
    chosen = method.measure_before_choices(dry_run, marginals)
    measured = dry_run.tables
    columns = tuple(_column(name, measured.get((name,), []), domain.column(name).size, about) for name in domain.names)
    noises: dict[Columns, Noise | None] = dict.fromkeys(marginals)
    noises |= dict.fromkeys(method.weights(domain, marginals), chosen)
    noises |= {table: noise for table, (noise, *_) in measured.items()}
    cells = {table: domain.cells(table) for table in noises if len(table) > 1}
    tables = tuple(
        _tables(width, [(cells[table], noises[table]) for table in cells if len(table) == width], about, chosen)
        for width in sorted(set(map(len, cells)))
    )
    return Predicted(about, columns, tables, NOT_PROMISED)


def _column(name: str, noises: Sequence[Noise], size: int, rows: int) -> PredictedColumn:
    """Return a column's prediction. Repeated measurements are combined with inverse-variance weights."""
    if not noises:
        return PredictedColumn(name, None, None)
    first = noises[0]
    narrower = 1 / math.sqrt(sum((first.sigma / noise.sigma) ** 2 for noise in noises))
    within = narrower * first.error(CONFIDENCE)
    return PredictedColumn(name, within, _error(size, narrower * noise_in_a_cell(first), rows))


def _tables(width: int, tables: Sequence[tuple[int, Noise | None]], rows: int, chosen: Noise | None) -> PredictedTables:
    """Return the prediction for tables of one width, each given by its cells and noise."""
    heard = [
        (cells, noise)
        for cells, noise in tables
        if noise is not None and not is_drowned(cells, noise_in_a_cell(noise), rows)
    ]
    errors = [_error(cells, noise_in_a_cell(noise), rows) for cells, noise in heard]
    return PredictedTables(
        width=width,
        tables=len(tables),
        measurable=len(heard),
        is_chosen=chosen is not None,
        within=float(max((noise for _, noise in heard), key=lambda noise: noise.sigma).error(CONFIDENCE))
        if heard
        else None,
        least_error=min(errors, default=None),
        typical_error=median(errors) if errors else None,
        most_error=max(errors, default=None),
    )


def _error(cells: int, noise: float, rows: int) -> float:
    return min(cells * noise / rows, MOST_ERROR)
