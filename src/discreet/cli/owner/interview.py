"""The questions of `discreet init`. The owner decides: by prompts in a terminal, by flags elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.catalog import EACH_ROW, Type
from discreet.catalog.catalog_draft import BudgetDraft, ColumnDraft, Setting, TableDraft
from discreet.catalog.person_columns import Person, SeenColumn, SeenTable, looks_like_row_number, suggested_people
from discreet.core.exact import finite
from discreet.errors import BadInput, DiscreetError

PUBLIC = "public"
DELTA = 1e-6
_MANY = 12
"""Of a table with more columns than this, bounds and values are left to be written into the file."""
_FEW_VALUES = 20
_ROWS_OF_A_PERSON = "10"
"""Suggested limit if a person has several rows. Without prompts the default of catalogs, 1, applies."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What was said on the command line: `TABLE=…` or `TABLE.COLUMN=…`; without the table for every table that has such a column."""

    person: Sequence[str] = ()
    max_rows: Sequence[str] = ()
    types: Sequence[str] = ()
    bounds: Sequence[str] = ()
    values: Sequence[str] = ()
    analysts: Sequence[str] = ()
    epsilon: float | None = None
    delta: float = DELTA


class Interview:
    """The owner's answers about the profiled tables. `asks` says whether to prompt in a terminal."""

    def __init__(self, tables: Sequence[SeenTable], flags: Flags, *, asks: bool) -> None:
        self._flags, self._asks = flags, asks
        self._console = Console(highlight=False)
        self._tables = [self._typed(table) for table in tables]
        self._check(flags)

    def drafts(self) -> list[TableDraft]:
        """A draft of each table: shown, asked about, decided."""
        suggested = suggested_people(self._tables)
        people: dict[str, Person | None] = {}
        for table in self._tables:
            self._show(table)
            people[table.name] = self._person(table, suggested[table.name])
        for table in self._tables:
            people[table.name] = self._reached(table, people)
        drafts = [self._table(table, people[table.name]) for table in self._tables]
        return _with_ids_of_one_type(drafts)

    def budget(self) -> BudgetDraft:
        """How much may be learned about one person, and who may ask."""
        epsilon = self._flags.epsilon
        if epsilon is None and not self._asks:
            raise BadInput(
                "The budget (epsilon) is missing. There is no default.",
                next_step="Give --epsilon, such as --epsilon 2. Smaller is more private.",
            )
        if epsilon is None:
            self._say("\nTotal budget: how much epsilon may all queries together spend?")
            self._say("0.1 is very private, 1 is common, above 10 protects little. There is no default.")
            epsilon = self._until(lambda: _positive(typer.prompt("epsilon")))
        names = list(self._flags.analysts)
        if not names and self._asks:
            names = _listed(_prompt("Analysts besides you? Names, separated by commas; Enter for none yet"))
        analysts = {}
        for said in names:
            name, _, cap = said.partition("=")
            analysts[name] = _positive(cap) if cap else epsilon
        return BudgetDraft(epsilon=epsilon, delta=self._flags.delta, analysts=analysts)

    # Flags

    def _flag(self, given: Sequence[str], table: str, column: str = "") -> str | None:
        """What a flag says of a table, or of a column; the one that names the table counts before one that does not."""
        names = [f"{table}.{column}", column] if column else [table]
        for name in names:
            for said in given:
                if said.startswith(f"{name}="):
                    return said.removeprefix(f"{name}=")
        return None

    def _check(self, flags: Flags) -> None:
        """Refuse a flag that speaks of nothing that is there, so that a misspelt one is not left out in silence."""
        columns = {(table.name, column) for table in self._tables for column in table.columns}
        for flag, given in {"--type": flags.types, "--bounds": flags.bounds, "--values": flags.values}.items():
            for said in given:
                if all(self._flag([said], *place) is None for place in columns):
                    raise BadInput(f"{flag} {said}: there is no such column.", next_step=f"Write {flag} TABLE.COLUMN=…")
        named = {*(column for _, column in columns), EACH_ROW.column, PUBLIC}
        for flag, given in {"--person": flags.person, "--max-rows": flags.max_rows}.items():
            for said in given:
                if "=" not in said and flag == "--person" and said not in named:
                    raise BadInput(f"{flag} {said}: there is no such column.", next_step=f"Write {flag} TABLE=COLUMN.")
                if "=" in said and all(self._flag([said], table.name) is None for table in self._tables):
                    raise BadInput(f"{flag} {said}: there is no such table.", next_step=f"Write {flag} TABLE=…")

    def _typed(self, table: SeenTable) -> SeenTable:
        """The table with the types that the owner names."""
        columns = {}
        for name, column in table.columns.items():
            said = self._flag(self._flags.types, table.name, name)
            columns[name] = column if said is None else replace(column, type=_type(said), misfits=0, note="")
        return replace(table, columns=columns)

    # Whom rows belong to

    def _show(self, table: SeenTable) -> None:
        looked = max((column.cells for column in table.columns.values()), default=0)
        self._say(f"\n{table.name}" + (f", by its first {looked:,} rows" if looked else ", by column names only"))
        grid = Table.grid(padding=(0, 2))
        for column in table.columns.values():
            misfits = (
                f"{column.misfits:,} cells are not of type {column.type.value}, and become NULL"
                if column.misfits
                else ""
            )
            grid.add_row("", Text(column.name), column.type.value, "; ".join(filter(None, (misfits, column.note))))
        self._console.print(grid)

    def _person(self, table: SeenTable, suggested: Person) -> Person | None:
        """Whom rows belong to, None if they are public."""
        said = self._flag(self._flags.person, table.name) or next(
            (name for name in self._flags.person if name in (*table.columns, EACH_ROW.column, PUBLIC)), None
        )
        if said is None and self._asks:
            person = self._asked_person(table, suggested)
        elif said is None:
            person = suggested
        else:
            person = _said_person(table, said, suggested)
        self._say(f"  {_in_words(table, person)}")
        return person

    def _asked_person(self, table: SeenTable, suggested: Person) -> Person | None:
        columns = [name for name, column in table.columns.items() if column.type in (Type.INTEGER, Type.TEXT)]
        names = [name for name in (*columns, EACH_ROW.column, PUBLIC) if name != suggested.column]
        shown = ", ".join(names[:_MANY]) + (", …" if len(names) > _MANY else "")
        self._say(f"Who is one person in {table.name}? A column, row (each row is a person), or public.")
        self._say(f"  suggested: {suggested.column}, because {suggested.why}")
        self._say(f"  others: {shown}")
        said = self._until(
            lambda: _known(typer.prompt("person", default=suggested.column), [*table.columns, EACH_ROW.column, PUBLIC])
        )
        if said in table.columns and said != suggested.column and looks_like_row_number(table, said):
            self._say(f"  {said} differs in every row that was read: it numbers rows, and protects no person")
            self._say("  who has several of them.")
            if not typer.confirm("Is each of these values one person nevertheless?", default=False):
                return self._asked_person(table, suggested)
        return _said_person(table, said, suggested)

    def _reached(self, table: SeenTable, people: Mapping[str, Person | None]) -> Person | None:
        """Whom rows belong to; each row is a person where the table that they refer to names nobody, as was decided."""
        person = people[table.name]
        step, seen = person, {table.name}
        while step is not None and step.refers_to is not None and step.refers_to[0] not in seen:
            seen.add(step.refers_to[0])
            step = people[step.refers_to[0]]
            if step is None or step.is_row:
                self._say(
                    f"  {table.name}: each row is a person, since {' and '.join(sorted(seen - {table.name}))} names nobody"
                )
                return Person(EACH_ROW.column, "the table it refers to does not name a person")
        return person

    # What is public about columns

    def _table(self, table: SeenTable, person: Person | None) -> TableDraft:
        columns = {name: column for name, column in table.columns.items() if _can_be_asked_about(name)}
        left_out = [name for name in table.columns if name not in columns]
        asks = self._asks and person is not None and len(columns) <= _MANY
        max_rows = None if person is None or person.is_row else self._max_rows(table, person)
        if asks:
            self._say(f"\n{table.name}: what is public knowledge about these columns? Enter skips.")
        return TableDraft(
            name=table.name,
            person="" if person is None else person.column,
            refers_to=None if person is None else person.refers_to,
            is_public=person is None,
            max_rows=max_rows,
            path=table.path,
            notes=tuple(f"skipped, since its name has a $ or an unprintable character: {name!r}" for name in left_out),
            columns={name: self._column(table, column, person, asks=asks) for name, column in columns.items()},
        )

    def _max_rows(self, table: SeenTable, person: Person) -> int | None:
        plain = next((said for said in self._flags.max_rows if "=" not in said), None)
        said = self._flag(self._flags.max_rows, table.name) or plain
        if said is not None:
            return _whole(said)
        if not table.columns[person.column].repeats:
            return None
        if not self._asks:
            self._say(f"  {table.name}: 1 row of each {person.column} counts, others are dropped; to change this:")
            self._say(f"  --max-rows {table.name}=N, or max_rows in the catalog (discreet check shows what is dropped)")
            return None
        self._say(f"\nAt most how many rows of one {person.column} may count in {table.name}? Noise grows with it.")
        return self._until(lambda: _whole(typer.prompt("rows", default=_ROWS_OF_A_PERSON)))

    def _column(self, table: SeenTable, column: SeenColumn, person: Person | None, *, asks: bool) -> ColumnDraft:
        settings: dict[str, Setting] = {}
        bounds = self._flag(self._flags.bounds, table.name, column.name)
        values = self._flag(self._flags.values, table.name, column.name)
        if bounds is not None:
            settings |= _bounds(bounds, column.type)
        if values is not None:
            settings |= _values(values, column.type)
        is_id = looks_like_row_number(table, column.name) or (person is not None and column.name == person.column)
        if asks and not settings and not is_id:
            settings |= self._prompt_settings(column)
        hint = "other cells become NULL" if column.misfits else column.note
        return ColumnDraft(type=column.type, facts=settings, hint=hint)

    def _prompt_settings(self, column: SeenColumn) -> Mapping[str, Setting]:
        match column.type:
            case Type.INTEGER | Type.REAL | Type.DATE | Type.TIMESTAMP:
                such_as = "2020-01-01 2025-12-31" if column.type in (Type.DATE, Type.TIMESTAMP) else "0 100"
                return self._until(
                    lambda: _bounds(_prompt(f"  {column.name}: from, to (such as {such_as})"), column.type)
                )
            case Type.TEXT if column.repeats and len(column.values) <= _FEW_VALUES:
                return self._until(
                    lambda: _values(_prompt(f"  {column.name}: its values, separated by commas"), column.type)
                )
        return {}

    # Talking

    def _say(self, text: str) -> None:
        """On a terminal lines break between words."""
        self._console.print(Text(text), soft_wrap=not self._asks)

    def _until(self, ask: Callable[[], _T]) -> _T:
        """The first answer that can be used."""
        while True:
            try:
                return ask()
            except DiscreetError as error:
                self._say(f"  {error.problem} {error.next_step}")


def _prompt(text: str) -> str:
    return str(typer.prompt(text, default="", show_default=False))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _known(text: str, names: Sequence[str]) -> str:
    if text not in names:
        raise BadInput(f"There is no column {text}.", next_step="Give the name of a column, row, or public.")
    return text


def _said_person(table: SeenTable, said: str, suggested: Person) -> Person | None:
    """What the owner says; a column that was suggested as a step towards the person stays one."""
    if said == suggested.column:
        return suggested
    if said in table.columns:
        return Person(said, "the owner says so")
    if said not in (EACH_ROW.column, PUBLIC):
        raise BadInput(f"{table.name} has no column {said}.", next_step="Give --person TABLE=COLUMN, row or public.")
    return Person(EACH_ROW.column, "the owner says so") if said == EACH_ROW.column else None


def _in_words(table: SeenTable, person: Person | None) -> str:
    if person is None:
        return "public: anyone may see every row"
    if person.is_row:
        return f"each row is a person ({person.why}); a person with several rows is protected in each row separately"
    towards = f", by way of {'.'.join(person.refers_to)}" if person.refers_to else ""
    doubt = "; but it looks like a row number" if looks_like_row_number(table, person.column) else ""
    return f"one person = all rows of one {person.column}{towards} ({person.why}{doubt})"


def _can_be_asked_about(name: str) -> bool:
    return "$" not in name and name.isprintable()


def _with_ids_of_one_type(drafts: Sequence[TableDraft]) -> list[TableDraft]:
    """Ids of people are integers in every table, or text in every table; what leads to them is of the type of what it refers to."""
    named = [draft for draft in drafts if draft.person in draft.columns]
    kinds = {draft.columns[draft.person].type for draft in named}
    if kinds <= {Type.INTEGER}:
        return list(drafts)
    return [
        replace(draft, columns={**draft.columns, draft.person: replace(draft.columns[draft.person], type=Type.TEXT)})
        if draft in named
        else draft
        for draft in drafts
    ]


def _type(text: str) -> Type:
    try:
        return Type(text)
    except ValueError:
        kinds = ", ".join(kind.value for kind in Type)
        raise BadInput(f"{text} is not a type.", next_step=f"Use one of: {kinds}.") from None


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if finite(value) is None or value <= 0:
        raise BadInput("Epsilon must be a number above 0.", next_step="Give one such as 2.")
    return value


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise BadInput("The number of rows must be a whole number of at least 1.", next_step="Give one such as 20.")
    return int(text)


def _bounds(text: str, kind: Type) -> Mapping[str, Setting]:
    """Two ends, with a space or a colon between; nothing where nothing is said."""
    ends = text.replace(":", " ").replace(",", " ").split()
    if not ends:
        return {}
    if len(ends) != 2:
        raise BadInput("Bounds must be two numbers.", next_step="Give the lowest and the largest value, such as 0 100.")
    low, high = (_value(end, kind) for end in ends)
    return {"lower": low, "upper": high}


def _values(text: str, kind: Type) -> Mapping[str, Setting]:
    values = [_value(part, kind) for part in _listed(text)]
    return {"values": values} if values else {}


def _value(text: str, kind: Type) -> int | float | str | date:
    try:
        match kind:
            case Type.INTEGER:
                return int(text)
            case Type.REAL:
                return float(text)
            case Type.DATE:
                return date.fromisoformat(text)
            case Type.TIMESTAMP:
                return datetime.fromisoformat(text) if ":" in text else date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text} is not a {kind.value}.", next_step="Write it as it is in the column.") from None
    return text
