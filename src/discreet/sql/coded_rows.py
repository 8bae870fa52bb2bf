"""Protected rows as codes: a table, or a SELECT of rows, in which every column has a finite public domain.

Declared values are used as they are. Numbers and dates with many values become bins of equal width between their
bounds. The person's id column is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import TypeAlias

from discreet.algebra.expressions import Expression, Literal, call
from discreet.algebra.query import Key, Measure, MeasureKind, Query
from discreet.algebra.value_properties import Value
from discreet.catalog import Catalog, Type
from discreet.core.exact import read_count
from discreet.errors import BadInput, NeedsValues, NotAllowed, UnknownName
from discreet.sql.reader.contribution_options import contribution_bounds_of, with_row_bound
from discreet.sql.reader.error_location import unknown_table
from discreet.sql.reader.public_lookup import PublicLookup
from discreet.sql.reader.queries import read_rows_query
from discreet.sql.reader.query_text import Parameters
from discreet.sql.reader.reader_model import Rows
from discreet.sql.releases.group_keys import public_values

MOST_VALUES = 256
"""Maximum number of values of a column without bins, unless all are declared. A code then needs one byte."""
BINS = 32
"""Default number of bins of a number or date."""
_NUMBERS = (Type.INTEGER, Type.REAL, Type.DATE)


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """Meaning of the codes 0, 1, … of a column: `values` (None is NULL), or the `ends` of bins.

    With bins, `has_null` means that the last code is NULL.
    """

    name: str
    values: tuple[Value | None, ...] = ()
    ends: tuple[Fraction | date, ...] = ()
    has_null: bool = False
    is_ordered: bool = False
    is_whole: bool = False
    """Whether bins contain only integers."""


@dataclass(frozen=True, slots=True)
class CodedSource:
    """Protected rows with coded columns.

    `query` has a key per column and the contribution bounds; `columns` describe codes.
    """

    query: Query
    columns: tuple[CodedColumn, ...]
    notes: tuple[str, ...]

    def with_first(self, name: str) -> CodedSource:
        """Return the source with one column moved to the front."""
        order = sorted(range(len(self.columns)), key=lambda at: self.columns[at].name.lower() != name.lower())
        query = replace(self.query, keys=tuple(self.query.keys[at] for at in order))
        return replace(self, query=query, columns=tuple(self.columns[at] for at in order))


FoundValues: TypeAlias = Mapping[str, tuple[Value | None, ...] | None]
"""Values of undeclared columns, as an answer lists them.

None means that they are not found yet: two values of the column's type are used instead, so that all other errors can
be reported before the values are measured.
"""
_STAND_INS: Mapping[Type, tuple[Value, ...]] = {
    Type.BOOLEAN: (False, True),
    Type.INTEGER: (0, 1),
    Type.REAL: (0.0, 1.0),
    Type.TEXT: ("a", "b"),
    Type.DATE: (date(2000, 1, 1), date(2000, 1, 2)),
    Type.TIMESTAMP: (datetime(2000, 1, 1), datetime(2000, 1, 2)),  # noqa: DTZ001  timestamps have no zone here
}


def plan_rows(
    source: str,
    catalog: Catalog,
    lookup: PublicLookup,
    *,
    bins: Mapping[str, int] | None = None,
    found: FoundValues | None = None,
    required: str | None = None,
    parameters: Parameters = (),
    today: date | None = None,
) -> CodedSource:
    """Read a table name or a SELECT of rows, and code its columns. Accesses no protected rows.

    Refused if a column has no public domain. `bins` maps columns to numbers of bins (default 32). `found` has released
    values of undeclared columns. Rows in which the `required` column is NULL are not counted. `parameters` are the
    values of ? and :name; `today` is CURRENT_DATE.
    """
    table = _table_in(source, catalog)
    text = source if table is None else f"SELECT * FROM {table}"
    rows, options, notes = read_rows_query(text, catalog, lookup, parameters=parameters, today=today)
    if rows.relation.is_public:
        raise NotAllowed("These rows are public and need no protection.", next_step="Read the public file directly.")
    parts = [
        _present(*part) if part[0].name == required else part
        for part in _parts_of(rows, lookup, bins or {}, found or {})
    ]
    limits = contribution_bounds_of(rows.relation, options, catalog, has_keys=False)
    query = Query(
        rows=with_row_bound(rows.relation, limits),
        keys=tuple(key for _, key in parts),
        measures=(Measure(kind=MeasureKind.ROWS),),
        limits=limits,
    )
    return CodedSource(query, tuple(column for column, _ in parts), notes)


def _parts_of(
    rows: Rows, lookup: PublicLookup, bins: Mapping[str, int], found: FoundValues
) -> list[tuple[CodedColumn, Key]]:
    """Return the coded column and key of each column except the person's id."""
    columns = {name: at for at, name in enumerate(rows.names) if not _is_person(rows, at)}
    bins_by_name = _read_bins(bins, columns)
    known = {name.lower(): values for name, values in found.items()}
    if not known.keys() <= {name.lower() for name in columns}:
        raise UnknownName(
            "The source has no column of this name whose values could be found.",
            next_step="Name columns of the source other than the person's id.",
        )
    coded = {
        name: _found(name, rows, at, known[name.lower()])
        if name.lower() in known
        else _coded(name, rows, at, lookup, bins_by_name.get(name.lower()))
        for name, at in columns.items()
    }
    missing = [name for name, part in coded.items() if part is None]
    if missing or not coded:
        raise _without_domain(missing)
    return [part for part in coded.values() if part is not None]


def _present(column: CodedColumn, key: Key) -> tuple[CodedColumn, Key]:
    """Remove the code for NULL."""
    values = tuple(value for value in column.values if value is not None)
    listed = tuple(value for value in key.values or () if value is not None)
    return replace(column, values=values, has_null=False), Key(key.expression, listed)


def values_query(source: str, column: str, catalog: Catalog) -> str:
    """Return SQL that lists the values of a column by private group selection."""
    name, table = _quoted(column), _table_in(source, catalog)
    return f"SELECT {name} AS value, COUNT(*) AS n FROM {table or f'({source})'} AS people GROUP BY {name}"


def columns_query(source: str, columns: Sequence[str], catalog: Catalog) -> str:
    """Return SQL for some columns of a source."""
    listed = ", ".join(f"{_quoted(name)} AS {_quoted(name)}" for name in columns)
    return f"SELECT {listed} FROM {_table_in(source, catalog) or f'({source})'} AS people"


def _table_in(source: str, catalog: Catalog) -> str | None:
    """Return the quoted name of a table, or None for a SELECT. A single word that is not a table is refused."""
    name = source.strip()
    table = next((_quoted(known) for known in catalog.tables if known.lower() == name.lower()), None)
    if table is None and name.isidentifier():
        raise unknown_table(name, catalog.tables, catalog)
    return table


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _found(name: str, rows: Rows, at: int, values: tuple[Value | None, ...] | None) -> tuple[CodedColumn, Key] | None:
    """Return a column coded by the values found for it. Rows with other values are not counted."""
    field = rows.relation.field(at)
    kind = field.properties.type
    held = _STAND_INS[kind] if values is None else tuple(_of_type(kind, value) for value in values)
    return (CodedColumn(name, held, is_ordered=kind in _NUMBERS), Key(field, held)) if held else None


def _of_type(kind: Type, value: Value | None) -> Value | None:
    """Convert dates and timestamps, which are text in answers, to their column type."""
    if kind is Type.TIMESTAMP and isinstance(value, str):
        return datetime.fromisoformat(value)
    return date.fromisoformat(value) if kind is Type.DATE and isinstance(value, str) else value


def _is_person(rows: Rows, at: int) -> bool:
    return at in rows.people or rows.relation.columns[at].properties.person


def _read_bins(bins: Mapping[str, int], columns: Mapping[str, int]) -> dict[str, int]:
    if not isinstance(bins, Mapping):
        raise BadInput(
            "`bins` must map column names to numbers of bins.", next_step='Pass a mapping such as {"age": 16}.'
        )
    known = {name.lower() for name in columns}
    for name in bins:
        if not isinstance(name, str) or name.lower() not in known:
            raise UnknownName(
                "`bins` names a column that the source does not have.", next_step="Use column names of the source."
            )
    return {
        name.lower(): read_count(count, name="The number of bins", least=2, most=MOST_VALUES)
        for name, count in bins.items()
    }


def _coded(name: str, rows: Rows, at: int, lookup: PublicLookup, bins: int | None) -> tuple[CodedColumn, Key] | None:
    """Return the codes and the key of a column, or None if it has no public domain."""
    field = rows.relation.field(at)
    kind, known = field.properties.type, public_values(field, lookup)
    is_declared = field.properties.values is not None
    if known is not None and bins is None and (len(known) <= MOST_VALUES or (is_declared and kind not in _NUMBERS)):
        return CodedColumn(name, known, is_ordered=kind in _NUMBERS), Key(field, known)
    low, high = field.properties.low, field.properties.high
    if low is None or high is None or kind not in _NUMBERS or low == high:
        return None if known is None else (CodedColumn(name, known, is_ordered=kind in _NUMBERS), Key(field, known))
    declared = None if rows.table is None else rows.table.columns.get(name)
    has_null = None in known if known is not None else declared is not None and declared.nullable
    return _binned(name, field, low, high, bins or BINS, has_null=has_null)


def _binned(
    name: str, field: Expression, low: Fraction, high: Fraction, count: int, *, has_null: bool
) -> tuple[CodedColumn, Key]:
    """Return bins of equal width. The last one includes its upper end."""
    kind = field.properties.type
    value, ends = _as_real(field, low)
    if kind is not Type.REAL:
        high += 1  # the last integer or day is a full unit wide
        count = min(count, int(high - low))
    first, last = float(low - ends), float(high - ends)
    bucket = call(
        "width_bucket", value, Literal(Type.REAL, first), Literal(Type.REAL, last), Literal(Type.INTEGER, count)
    )
    inside = call("case", call("gt", bucket, Literal(Type.INTEGER, count)), Literal(Type.INTEGER, count), bucket)
    edges = tuple(low + (high - low) * step / count for step in range(count + 1))
    edges_shown: tuple[Fraction | date, ...] = edges
    if kind is Type.DATE:
        if high > date.max.toordinal():
            raise BadInput(
                f"The last bin of {name} would end after 9999-12-31.",
                next_step="Ask the data owner to declare an upper bound before 9999-12-31, or leave this column out of the SELECT.",
            )
        edges_shown = tuple(date.fromordinal(1) + timedelta(math.ceil(edge) - 1) for edge in edges)
    values: tuple[Value | None, ...] = (*range(1, count + 1), *([None] if has_null else []))
    is_whole = kind is Type.INTEGER
    column = CodedColumn(name, ends=edges_shown, has_null=has_null, is_ordered=True, is_whole=is_whole)
    return column, Key(inside, values)


def _as_real(field: Expression, low: Fraction) -> tuple[Expression, Fraction]:
    """Convert a number to a real, or a date to days since the lower bound. Return what was subtracted, too."""
    if field.properties.type is Type.DATE:
        first = Literal(Type.DATE, date.fromordinal(int(low)))
        return call("real", call("days_between", first, field)), low
    return (field if field.properties.type is Type.REAL else call("real", field)), Fraction(0)


def _without_domain(missing: list[str]) -> NeedsValues:
    if not missing:
        return NeedsValues(
            "The source has no column besides the person's id.", next_step="Select at least one other column."
        )
    named = ", ".join(missing)
    return NeedsValues(
        f"The possible values of these columns are not public: {named}.",
        next_step="Ask the owner to declare values or bounds for them, or select the other columns; of a timestamp CAST(t AS DATE). "
        "Synthetic data can also find them, for an epsilon of their own (discover).",
    )
