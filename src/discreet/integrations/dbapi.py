"""A read-only DB-API 2.0 (PEP 249) over the client, for tools that speak to databases: every noisy column is followed by its `_low` and `_high`.

There is no default epsilon: it is said when connecting, or in a comment at the head of a statement, `/* epsilon=0.5 */ SELECT …`, or in OPTIONS.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Self

import pyarrow as pa

from discreet.api.remote import RemoteCurator
from discreet.core.exact import Number
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadInput, DiscreetError, QueryRefused
from discreet.results.models import CatalogFacts

apilevel = "2.0"
threadsafety = 1
paramstyle = "named"
KEY_VARIABLE = "DISCREET_KEY"

Date = date
STRING, NUMBER, DATETIME, BINARY, ROWID = "text", "number", "date", "binary", "rowid"
_COMMENT = re.compile(r"\s*(?:/\*\s*epsilon\s*[=:]\s*([^\s*]+)\s*\*/|--[ \t]*epsilon\s*[=:]\s*(\S+)[ \t]*(?:\n|$))", re.IGNORECASE)  # fmt: skip


class Warning(Exception):  # noqa: A001  the name that PEP 249 gives it
    """Never raised: what should be known beside the numbers is in `Cursor.notes`."""


class Error(Exception):
    """What went wrong, with the `code` and the `next_step` of the Discreet error behind it."""

    code: str = "discreet-error"
    next_step: str = ""


class InterfaceError(Error):
    """The module was used in a way that it cannot be."""


class DatabaseError(Error):
    """The server refused or failed."""


class DataError(DatabaseError):
    """Never raised: bounded data have no such errors."""


class OperationalError(DatabaseError):
    """The server cannot answer now or for this key: no budget, no access, no connection."""


class IntegrityError(DatabaseError):
    """Never raised: nothing is written."""


class InternalError(DatabaseError):
    """Never raised."""


class ProgrammingError(DatabaseError):
    """The query cannot be answered as it stands."""


class NotSupportedError(DatabaseError):
    """Nothing is written here, and one statement is one query."""


def connect(
    url: str,
    *,
    key: str | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    level: Number = CONFIDENCE,
) -> Connection:
    """A connection to a server.

    Args:
        url: Its address, such as http://127.0.0.1:8000.
        key: Who asks; the environment's DISCREET_KEY if left out.
        epsilon: What each statement may cost that does not say so itself; without, every statement must.
        delta: Beside it, for groups whose values are not declared.
        level: In which share of all answers the bounded value lies between `_low` and `_high`.
    """
    held = key or os.environ.get(KEY_VARIABLE)
    if not held:
        raise InterfaceError(f"There is no key. Give key=, or set {KEY_VARIABLE} in the environment.")
    return Connection(RemoteCurator(url, key=held), epsilon=epsilon, delta=delta, level=level)


class Connection:
    """A connection for one key. There are no transactions: a charge is final."""

    def __init__(self, curator: RemoteCurator, *, epsilon: Number | None, delta: Number | None, level: Number) -> None:
        self.curator, self.epsilon, self.delta, self.level = curator, epsilon, delta, level

    def cursor(self) -> Cursor:
        """A new cursor."""
        return Cursor(self)

    def catalog(self) -> CatalogFacts:
        """What is public about the data."""
        with _Told():
            return self.curator.catalog()

    def commit(self) -> None:
        """Do nothing: there are no transactions."""

    def rollback(self) -> None:
        """Do nothing: a charge is final."""

    def close(self) -> None:
        """Close the connection."""
        self.curator.close()


class Cursor:
    """One answer at a time."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: list[tuple[Any, ...]] | None = None
        self.rowcount = -1
        self.notes: tuple[str, ...] = ()
        self.epsilon: Number | None = None
        """What the next statement may cost, where it does not say so itself."""
        self._rows: Iterator[tuple[Any, ...]] | None = None

    def execute(self, operation: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> Self:
        """Ask one query.

        Args:
            operation: One SELECT; `/* epsilon=0.5 */` before it says what it may cost.
            parameters: A mapping for :name, or a sequence for ?.
        """
        sql, price = priced(operation)
        if price is None:
            price = self.epsilon if self.epsilon is not None else self.connection.epsilon
        with _Told():
            answer = self.connection.curator.ask(
                sql, epsilon=price, delta=self.connection.delta, parameters=parameters or ()
            )
            table = answer.to_arrow(level=self.connection.level)
        self.description = [(field.name, _type_code(field.type), *[None] * 5) for field in table.schema]
        self.rowcount, self.notes = table.num_rows, answer.notes
        self._rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return self

    def executemany(self, operation: str, parameters: Sequence[Any]) -> None:  # noqa: ARG002  PEP 249's signature
        """Refused: one statement is one query.

        Args:
            operation: One statement.
            parameters: Its parameters, many times.
        """
        raise NotSupportedError("Statements are read-only and run one at a time.")

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None."""
        return next(self._left(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows.

        Args:
            size: How many at most; `arraysize` if left out.
        """
        rows = self._left()
        return [row for _, row in zip(range(size or self.arraysize), rows, strict=False)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        return list(self._left())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._left()

    def _left(self) -> Iterator[tuple[Any, ...]]:
        if self._rows is None:
            raise InterfaceError("There is no result yet. Call execute first.")
        return self._rows

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Nothing.

        Args:
            sizes: Of parameters; not needed.
        """

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing.

        Args:
            size: Of large columns; not needed.
            column: Which of them.
        """

    def close(self) -> None:
        """Discard the result."""
        self._rows = None


def priced(statement: str) -> tuple[str, Number | None]:
    """A statement without the comment that says what it may cost, and what that says.

    Args:
        statement: As it was written.
    """
    comment = _COMMENT.match(statement)
    if comment is None:
        return statement, None
    try:
        return statement[comment.end() :], float(comment[1] or comment[2])
    except ValueError:
        raise ProgrammingError("The epsilon in the comment is not a number. Write /* epsilon=0.5 */.") from None


class _Told:
    """Errors of Discreet as the classes of PEP 249."""

    def __enter__(self) -> None:
        """Nothing yet."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, DiscreetError):
            kind = ProgrammingError if isinstance(error, BadInput | QueryRefused) else OperationalError
            told = kind(str(error))
            told.code, told.next_step = error.code, error.next_step
            raise told from error


def _type_code(kind: pa.DataType) -> str:
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return DATETIME
    return STRING if pa.types.is_string(kind) else NUMBER
