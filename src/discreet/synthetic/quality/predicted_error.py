"""How exact synthetic data will be, before it is paid for: from what is public alone, and a number of rows that is declared or assumed.

A method takes those measurements that it takes whatever the data are, on a rehearsal: rows of nobody, as many as are assumed. Their noise is then known, and
so is that of the tables it will choose. Which ones it chooses, and how well the others follow from them, is a matter of the data: of that nothing is said.
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
from discreet.synthetic.quality.dry_run import Noise, Rehearsal

MOST_ROWS = 2**40
MOST_ERROR = 2.0
"""Of two tables of shares, all cells added up."""
NOT_PROMISED = (
    "A table that is not measured follows from those that are. How near it comes depends on the data, and nothing is promised before it is paid "
    "for: once it is made, `bounds` says how far off every table can be."
)


@dataclass(frozen=True, slots=True)
class PredictedColumn:
    """A column alone. Both are None where its counts are not measured for themselves."""

    column: str
    within: float | None
    """How far off one count will be, in rows: no further in 95 % of all releases."""
    error: float | None
    """What to expect of all counts together: differences added up, as a share of the rows that are assumed. 2 is as wrong as can be."""


@dataclass(frozen=True, slots=True)
class PredictedTables:
    """Tables over so many columns: of those that will be measured, or may be. What is said of errors is None where none of them can be."""

    width: int
    tables: int
    measurable: int
    """How many of them noise would not drown, if nothing is merged."""
    is_chosen: bool
    """Whether only those are measured that the method chooses, by what it sees."""
    within: float | None
    """As of a column, of one count of a measured table."""
    least_error: float | None
    typical_error: float | None
    most_error: float | None
    """As of a column: of the table that will be nearest, of the middle one, and of the one furthest off; of those that are measurable, if they are measured."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """How exact synthetic data will be; nothing of it depends on a protected row."""

    rows_about: int
    """How many rows there are taken to be."""
    columns: tuple[PredictedColumn, ...]
    tables: tuple[PredictedTables, ...]
    otherwise: str
    """What is said of all other tables."""


def predicted(
    method: Method, domain: Domain, marginals: Mapping[Columns, int], budget: AdaptiveBudget, rows: int
) -> Predicted:
    """How exact synthetic data will be, as far as that is known."""
    about = read_count(rows, name="rows_about", most=MOST_ROWS)
    rehearsal = Rehearsal(domain, budget, about)
    chosen = method.rehearse(rehearsal, marginals)
    measured = rehearsal.tables
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
    """A column that is measured twice is as near as both together."""
    if not noises:
        return PredictedColumn(name, None, None)
    first = noises[0]
    narrower = 1 / math.sqrt(sum((first.sigma / noise.sigma) ** 2 for noise in noises))
    within = narrower * first.error(CONFIDENCE)
    return PredictedColumn(name, within, _error(size, narrower * noise_in_a_cell(first), rows))


def _tables(width: int, tables: Sequence[tuple[int, Noise | None]], rows: int, chosen: Noise | None) -> PredictedTables:
    """Tables of so many columns, each with its cells and noise."""
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
