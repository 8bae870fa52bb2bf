"""Suggest the person's id column from column names and from repeated values in a sample. The data owner decides."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.catalog.declarations import EACH_ROW, Type

_ID_WORDS = frozenset({"id", "uuid", "guid", "key", "nr", "no", "num", "number"})
_PEOPLE = frozenset({
    "account", "adult", "applicant", "borrower", "buyer", "caller", "candidate", "child", "citizen", "client",
    "consumer", "customer", "cust", "donor", "driver", "employee", "guest", "holder", "household", "human",
    "individual", "member", "owner", "panelist", "parent", "participant", "passenger", "patient", "person",
    "player", "pupil", "resident", "respondent", "rider", "staff", "student", "subject", "subscriber",
    "teacher", "tenant", "traveller", "traveler", "user", "visitor", "voter", "worker", "email", "mail", "ssn",
})  # fmt: skip
_SINGLE_WORDS = frozenset({
    "person", "patient", "user", "customer", "client", "member", "employee", "student", "respondent",
    "participant", "household", "voter", "email",
})  # fmt: skip
"""Column names that identify people without an `id` suffix; plurals such as `children` are counts."""
_THINGS = frozenset({
    "product", "item", "order", "store", "shop", "city", "country", "category", "department", "school",
    "hospital", "ward", "event", "session", "device", "transaction", "invoice", "payment", "visit", "trip",
    "question", "survey", "course", "class", "branch", "region", "station", "movie", "film", "book", "song",
    "vehicle", "flight", "article", "page", "post", "room", "site",
})  # fmt: skip
_ROW_NUMBERS = frozenset({"row", "index", "idx", "line", "record", "nr", "no", "number", "num", "id", "unnamed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenColumn:
    """A column of a sample: its type, number of cells, number of cells of another type, and values."""

    name: str
    type: Type
    note: str = ""
    cells: int = 0
    misfits: int = 0
    values: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def repeats(self) -> bool:
        """Whether a value is repeated in the sample."""
        return len(self.values) < self.cells


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTable:
    """A table of a sample. `path` is its file, if it does not follow from the name."""

    name: str
    columns: Mapping[str, SeenColumn]
    path: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """A suggested privacy unit: an id column, a column that refers to `table.key`, or each row; with the reason."""

    column: str
    why: str
    refers_to: tuple[str, str] | None = None

    @property
    def is_row(self) -> bool:
        return self.refers_to is None and self.column == EACH_ROW.column


def suggested_people(tables: Sequence[SeenTable]) -> dict[str, Person]:
    """Suggest a privacy unit per table: an id column of it or of a table it refers to, else each row."""
    people = {table.name: person for table in tables if (person := _named_here(table, tables)) is not None}
    remaining = [table for table in tables if table.name not in people]
    while step := {
        table.name: person for table in remaining if (person := _named_elsewhere(table, tables, people)) is not None
    }:
        people |= step
        remaining = [table for table in remaining if table.name not in people]
    return {table.name: people.get(table.name) or _each_row(table) for table in tables}


def looks_like_row_number(table: SeenTable, column: str) -> bool:
    """Whether a column seems to number rows: by its name, and because no value repeats in the sample."""
    seen = table.columns[column]
    has_row_number_name = _is_own_key(table, column) or bool(_ROW_NUMBERS & set(_words(column)))
    return seen.cells > 1 and not seen.repeats and has_row_number_name and not _is_personal(table, column)


def _named_here(table: SeenTable, tables: Sequence[SeenTable]) -> Person | None:
    """Return an id column by its name; or an id with repeated values that is not the key of another table."""
    personal = [name for name in table.columns if _is_personal(table, name)]
    if personal:
        best = max(personal, key=lambda name: (_is_id(name), _is_found_elsewhere(table, name, tables)))
        return Person(best, "its name suggests a person")
    foreign = [
        name for name in table.columns if _is_id(name) and not _is_own_key(table, name) and _stem(name) not in _THINGS
    ]
    shared = [name for name in foreign if _home(name, table, tables) is None and table.columns[name].repeats]
    if shared:
        return Person(shared[0], "its values repeat in the sample")
    own = [name for name in table.columns if _is_id(name) and _is_own_key(table, name)]
    repeated = [name for name in own if table.columns[name].repeats]
    return Person(repeated[0], "its values repeat in the sample") if repeated else None


def _named_elsewhere(table: SeenTable, tables: Sequence[SeenTable], people: Mapping[str, Person]) -> Person | None:
    """Return a column that refers to a table with a known person."""
    for name in table.columns:
        home = _home(name, table, tables) if _is_id(name) else None
        if home is not None and home[0] in people:
            other, key = home
            return Person(name, f"it refers to {other}.{key}", (other, key))
    return None


def _each_row(table: SeenTable) -> Person:
    own = [name for name in table.columns if _is_id(name)]
    why = f"{own[0]} looks like a row number, not like a person's id" if own else "no column looks like a person's id"
    return Person(EACH_ROW.column, why)


def _home(column: str, table: SeenTable, tables: Sequence[SeenTable]) -> tuple[str, str] | None:
    """Return the table and key that an id refers to."""
    stem = _stem(column)
    for other in tables:
        if other.name != table.name and stem and stem == _singular(_words(other.name)):
            key = next((name for name in other.columns if _is_id(name) and _is_own_key(other, name)), None)
            if key is not None:
                return other.name, key
    return None


def _is_found_elsewhere(table: SeenTable, column: str, tables: Sequence[SeenTable]) -> bool:
    values = table.columns[column].values
    return any(
        len(values & seen.values) * 2 > len(values)
        for other in tables
        if other.name != table.name
        for seen in other.columns.values()
    )


def _is_personal(table: SeenTable, column: str) -> bool:
    """Whether a column is a person's id: patient_id, plain id in a table of patients, or a column called person."""
    words = _words(column)
    if table.columns[column].type not in (Type.INTEGER, Type.TEXT):
        return False
    if _is_id(column):
        return _stem(column) in _PEOPLE or (words[-1] in _ID_WORDS and not words[:-1] and _is_of_people(table))
    return len(words) == 1 and words[0] in _SINGLE_WORDS


def _is_of_people(table: SeenTable) -> bool:
    return _singular(_words(table.name)) in _PEOPLE


def _is_own_key(table: SeenTable, column: str) -> bool:
    return _stem(column) in ("", _singular(_words(table.name)))


def _is_id(column: str) -> bool:
    words = _words(column)
    return bool(words) and (words[-1] in _ID_WORDS or (words[-1].endswith("id") and words[-1][:-2] in _PEOPLE))


def _stem(column: str) -> str:
    """Return what an id identifies: customer for customer_id and customerID; empty for id alone."""
    words = _words(column)
    if words and words[-1] not in _ID_WORDS:
        return words[-1].removesuffix("id")
    return _singular(words[:-1])


def _singular(words: Sequence[str]) -> str:
    if not words:
        return ""
    last = words[-1]
    if last in ("people", "persons"):
        return "person"
    for plural, one in (("children", "child"), ("ies", "y"), ("sses", "ss"), ("ss", "ss"), ("s", "")):
        if last.endswith(plural):
            return last.removesuffix(plural) + one
    return last


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())
