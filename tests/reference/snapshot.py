"""The rules of the snapshot in plain Python: from raw rows and a catalog to canonical values, owners, ranks and numbers.

Written from the rules in docs/explanation/guarantees.md, independently of the engine that stores them. `read_snapshot` takes what an
engine has stored instead, so that the interpreter can start from the same rows and ranks.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

from discreet.algebra.grids import Grid
from discreet.catalog import Catalog, Column, Table, Type
from tests.reference import text_functions
from tests.reference.folds import steps_of
from tests.reference.number_functions import as_read, integer
from tests.reference.stored import Snapshot, StoredRow, all_in_order

RawRow = Sequence[Any]
Owned = tuple[Any, tuple[Any, ...]]
"""An owner and a canonical row."""


def snapshot_of(catalog: Catalog, frames: Mapping[str, Sequence[RawRow]], *, salt: str) -> Snapshot:
    """The snapshot of raw rows, given for each table in the order of the catalog's columns."""
    protected, public = {}, {}
    for name, table in catalog.tables.items():
        if table.is_public:
            rows = sorted((_canonical_row(table, raw) for raw in frames[name]), key=all_in_order)
            public[name] = tuple(_stored(place, row, {}) for place, row in enumerate(rows, start=1))
        else:
            protected[name] = _ranked(catalog, table, _owned(catalog, table, frames), salt=salt)
    everybody = [protected[name] for name, table in catalog.tables.items() if table.lists_people]
    snapshot = Snapshot(protected, public)
    return snapshot.only(everybody[0]) if everybody else snapshot


# Canonical values


def canonical(raw: Any, column: Column) -> Any:
    """A raw value as it is stored: cast, cut and clamped."""
    value = _cast(raw, column.type)
    if isinstance(value, str):
        return value[: column.max_length]
    return _clamped(value, column)


def _cast(raw: Any, kind: Type) -> Any:
    """A raw value in the declared type, or NULL where it does not fit."""
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return None
    match kind:
        case Type.INTEGER:
            return _to_integer(raw)
        case Type.REAL:
            return _to_real(raw)
        case Type.TEXT:
            return _to_text(raw)
        case Type.DATE:
            return _to_date(raw)
        case Type.TIMESTAMP:
            return _to_timestamp(raw)
    return _to_boolean(raw)


def _to_integer(raw: Any) -> int | None:
    if isinstance(raw, str):
        return text_functions.int_of_text(raw)
    if isinstance(raw, float):
        return None if math.isinf(raw) else integer(round(raw))
    return integer(int(raw)) if isinstance(raw, int) else None


def _to_real(raw: Any) -> float | None:
    if isinstance(raw, str):
        return text_functions.real_of_text(raw)
    return as_read(float(raw)) if isinstance(raw, int | float) else None


def _to_text(raw: Any) -> str | None:
    if isinstance(raw, str):
        return None if "\0" in raw else raw
    if isinstance(raw, bool):
        return text_functions.text_of_bool(raw)
    if isinstance(raw, int):
        return str(raw)
    return _to_date(raw).isoformat() if isinstance(raw, date) else None


def _to_date(raw: Any) -> date | None:
    if isinstance(raw, str):
        return text_functions.date_of_text(raw)
    if isinstance(raw, datetime):
        return raw.date()
    return raw if isinstance(raw, date) else None


def _to_timestamp(raw: Any) -> datetime | None:
    """In UTC where a zone is said."""
    if isinstance(raw, str):
        try:
            raw = datetime.fromisoformat(raw.strip())
        except ValueError:
            return None
    if isinstance(raw, datetime):
        return raw if raw.tzinfo is None else raw.astimezone(UTC).replace(tzinfo=None)
    return datetime(raw.year, raw.month, raw.day) if isinstance(raw, date) else None


def _to_boolean(raw: Any) -> bool | None:
    if isinstance(raw, str):
        return text_functions.bool_of_text(raw)
    return bool(raw) if isinstance(raw, int) else None


def _clamped(value: Any, column: Column) -> Any:
    if value is None or column.lower is None or column.upper is None:
        return value
    if isinstance(value, date):
        return min(max(value, column.lower), column.upper)
    if not isinstance(column.lower, Fraction) or isinstance(value, bool):
        return value
    if column.type is Type.INTEGER:
        return min(max(value, math.ceil(column.lower)), math.floor(column.upper))
    return min(max(value, float(column.lower)), float(column.upper)) + 0.0


def person_of(raw: Any, column: Column) -> Any:
    """Whom a row belongs to; what would be cut or rounded is nobody, because two people must never become one."""
    value = _cast(raw, column.type)
    if isinstance(value, str):
        return value if len(value) <= column.max_length else None
    if isinstance(raw, float) and value is not None and column.type is Type.INTEGER and raw != value:
        return None
    return value


def _canonical_row(table: Table, raw: RawRow) -> tuple[Any, ...]:
    own = table.unit.column if table.unit is not None and not table.unit.path else None
    return tuple(
        person_of(value, column) if name == own else canonical(value, column)
        for value, (name, column) in zip(raw, table.columns.items(), strict=True)
    )


# Owners


def _owned(catalog: Catalog, table: Table, frames: Mapping[str, Sequence[RawRow]]) -> list[Owned]:
    """Each row once for each person it belongs to; over a path, everybody whom its key leads to."""
    assert table.unit is not None
    rows, names = [_canonical_row(table, raw) for raw in frames[table.name]], list(table.columns)
    if not table.unit.path:
        at = names.index(table.unit.column)
        return [(row[at], row) for row in rows if row[at] is not None]
    step = table.unit.path[0]
    next_table = catalog.tables[step.table]
    key_at, people = list(next_table.columns).index(step.key), {}
    for owner, row in _owned(catalog, next_table, frames):
        if row[key_at] is not None:
            people.setdefault(row[key_at], {})[owner] = None
    at = names.index(step.column)
    return [(owner, row) for row in rows for owner in people.get(row[at], ())]


# Ranks and numbers


def field_text(value: Any, column: Column) -> str:
    """One field of the text that a row's rank is hashed from."""
    if value is None:
        return "\\N"
    if column.is_bounded_number:
        return str(steps_of(value, Grid(column.grid_step, *column.steps)))
    if isinstance(value, float):
        return str(math.floor(value * 1024.0)) if abs(value) < 2.0**50 else "x"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return text_functions.text_of_timestamp(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def row_hash(row: Sequence[Any], table: Table, *, salt: str) -> str:
    """The salted md5 of a row's own content, as text."""
    fields = (field_text(value, column) for value, column in zip(row, table.columns.values(), strict=True))
    return hashlib.md5("|".join((salt, *fields)).encode()).hexdigest()


def _ranked(catalog: Catalog, table: Table, owned: list[Owned], *, salt: str) -> dict[Any, tuple[StoredRow, ...]]:
    """The rows of each person by hash, ties by the row itself; the first max_rows, or a thousand to choose from."""
    referred = {
        step.key
        for other in catalog.tables.values()
        if other.unit is not None
        for step in other.unit.path
        if step.table == table.name
    }
    places = [at for at, name in enumerate(table.columns) if name in referred]
    by_person: dict[Any, list[tuple[Any, ...]]] = {}
    for owner, row in owned:
        by_person.setdefault(owner, []).append(row)
    ranked = {}
    for owner, rows in by_person.items():
        rows.sort(key=lambda row: (row_hash(row, table, salt=salt), all_in_order(row)))
        kept = rows[: table.max_rows if table.is_bounded_once else max(table.max_rows, 1000)]
        ranked[owner] = tuple(
            _stored(rank, row, {at: sum(before[at] == row[at] for before in kept[:rank]) for at in places if row[at] is not None})
            for rank, row in enumerate(kept, start=1)
        )  # fmt: skip
    return ranked


def _stored(rank: int, row: tuple[Any, ...], nth: Mapping[int, int]) -> StoredRow:
    return StoredRow(rank, row, tuple(nth.get(at) for at in range(len(row))))


# What an engine has stored


def read_snapshot(engine: Any, catalog: Catalog) -> Snapshot:
    """The rows, ranks and numbers of an engine's own snapshot; the interpreter then shares its data but none of its code."""
    protected, public = {}, {}
    for name, table in catalog.tables.items():
        relation = engine._snapshot.connection.table(f'data."{name}"')
        stored = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
        by_owner: dict[Any, list[StoredRow]] = {}
        for row in sorted(stored, key=lambda row: row["r"]):
            places = range(1, len(table.columns) + 1)
            values, nth = tuple(row[f"c{at}"] for at in places), tuple(row.get(f"u{at}") for at in places)
            by_owner.setdefault(row.get("o"), []).append(StoredRow(row["r"], values, nth))
        if table.is_public:
            public[name] = tuple(by_owner.get(None, ()))
        else:
            protected[name] = {owner: tuple(rows) for owner, rows in by_owner.items()}
    return Snapshot(protected, public)


def stored_steps(engine: Any, table: Table) -> list[tuple[Any, Any, Column]]:
    """Pairs of a stored value and its stored steps, with the column, for every bounded number of a protected table."""
    relation = engine._snapshot.connection.table(f'data."{table.name}"')
    stored = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    bounded = [(at, column) for at, column in enumerate(table.columns.values(), start=1) if column.is_bounded_number]
    return [(row[f"c{at}"], row[f"s{at}"], column) for row in stored for at, column in bounded]
