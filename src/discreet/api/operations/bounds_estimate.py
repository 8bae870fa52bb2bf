"""Bounds for a column that has none, found privately: a noisy histogram over powers of two, then its ends.

Guarantee: that of the query asked, one COUNT a group; what follows looks at noisy counts only.
Citation: Wilson et al. 2020 (arXiv:1909.01917), section 5.1.1, "approximate bounds".
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.catalog import Catalog, Column, Type
from discreet.core.exact import exact
from discreet.errors import BadInput, UnknownName
from discreet.results.answer import Answer
from discreet.sql import Table
from discreet.sql.builder import quote
from discreet.sql.reader.error_location import unknown_table

_LOWEST, _HIGHEST = -10, 40
_EDGES = [Fraction(2) ** power for power in range(_LOWEST, _HIGHEST + 1)]
_SURE = Fraction(999, 1000)
"""How often no empty bin is taken for a full one."""


def bins_query(table: str, column: str) -> Table:
    """How many values lie between neighbouring powers of two, on either side of zero."""
    quoted = quote(column)
    above = [f"WHEN {quoted} >= {_number(edge)} THEN {i + 1}" for i, edge in reversed(list(enumerate(_EDGES)))]
    below = [f"WHEN {quoted} <= -{_number(edge)} THEN {-i - 1}" for i, edge in reversed(list(enumerate(_EDGES)))]
    bins = f"CASE {' '.join([*above, *below])} WHEN {quoted} IS NOT NULL THEN 0 END"
    return Table(quote(table)).group_by(bins).count("n")


def _number(edge: Fraction) -> str:
    return str(edge.numerator) if edge.denominator == 1 else repr(float(edge))


def to_be_bounded(catalog: Catalog, table: str, column: str) -> Column:
    """The column, if it is one that bounds can be estimated for; refused otherwise, before anything is spent."""
    owned = catalog.tables.get(table)
    described = None if owned is None else owned.columns.get(column)
    if table in catalog.edge_tables:
        raise unknown_table(table, (), catalog)
    if owned is None or described is None:
        raise UnknownName(
            "There is no such table or column.", next_step="Use the names of the catalog, in its own spelling."
        )
    if owned.is_public or column == owned.own_column or described.type not in (Type.INTEGER, Type.REAL):
        raise BadInput(
            "Bounds are estimated for numbers of a protected table that do not name the person.",
            next_step="Choose a column of type integer or real.",
        )
    if described.lower is not None:
        raise BadInput(
            "The column has bounds already.",
            next_step="Take lower and upper out of the catalog first, if they are wrong.",
        )
    return described


def ends_of(answer: Answer, kind: Type) -> tuple[Fraction, Fraction] | None:
    """Bounds around every bin whose noisy count is above what noise alone would reach; None if there is no such bin."""
    mechanism = answer.plan.grouping_sets[0][0].mechanisms[0][0]
    noise = exact(mechanism.error(1 - (1 - _SURE) / (2 * len(_EDGES) + 2)))
    rows = [tuple(row.values()) for row in answer.rows]
    full = [bin_ for bin_, count in rows if bin_ is not None and count > noise]
    if not full:
        return None
    low, high = _edges(min(full))[0], _edges(max(full))[1]
    if min(full) == 0 < max(full):
        low = Fraction(0)  # what lies between 0 and the first edge below it is next to nothing
    if min(full) < 0 == max(full):
        high = Fraction(0)
    if kind is Type.INTEGER:
        low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
    return low, max(high, low + 1) if kind is Type.INTEGER else high


def _edges(number: int) -> tuple[Fraction, Fraction]:
    """Where a bin begins and ends; the outermost ones end at the last power of two."""
    if number == 0:
        return -_EDGES[0], _EDGES[0]
    near, far = _EDGES[abs(number) - 1], _EDGES[min(abs(number), len(_EDGES) - 1)]
    return (near, far) if number > 0 else (-far, -near)
