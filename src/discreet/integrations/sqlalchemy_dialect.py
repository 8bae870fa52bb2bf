"""`discreet://` for SQLAlchemy, and for everything that speaks through it: pandas.read_sql, Superset and the like. Read-only.

    discreet://:KEY@host:8000/?epsilon=0.1
    discreet://:KEY@host:8000/clinic?epsilon=0.1    where the server has several datasets

The key may stay in the environment (DISCREET_KEY). An epsilon stands in the address, in a comment at the head of a statement or in the execution
option `epsilon`; there is no default. Machines other than this one are spoken to by https, unless `tls=false` is said.
"""

from __future__ import annotations

from ipaddress import ip_address
from types import ModuleType
from typing import Any
from urllib.parse import quote

from discreet.core.optional_imports import check_installed
from discreet.integrations import dbapi

check_installed("sqlalchemy")

from sqlalchemy import types  # noqa: E402  after its absence was told
from sqlalchemy.engine import URL, default  # noqa: E402
from sqlalchemy.exc import ArgumentError, NoSuchTableError  # noqa: E402

_TYPES = {
    "integer": types.BigInteger,
    "real": types.Float,
    "text": types.String,
    "date": types.Date,
    "timestamp": types.DateTime,
    "boolean": types.Boolean,
}
_NUMBERS = ("epsilon", "delta", "level")
_SWITCH = {"true": True, "false": False}


class DiscreetDialect(default.DefaultDialect):
    """Statements go to the server as they are written; tables and columns come from its catalog."""

    name = "discreet"
    driver = "http"
    default_paramstyle = "named"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_sane_rowcount = False
    max_identifier_length = 255

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The DB-API beneath."""
        return dbapi

    def create_connect_args(self, url: URL) -> tuple[list[str], dict[str, Any]]:
        """What `dbapi.connect` is called with.

        Args:
            url: The address.
        """
        unknown = sorted(set(url.query) - {*_NUMBERS, "tls"})
        tls = _SWITCH.get(str(url.query.get("tls", "false" if _is_here(url.host) else "true")).lower())
        if unknown or tls is None or url.host is None:
            raise ArgumentError("Write discreet://:KEY@host:port/?epsilon=0.1; it takes epsilon, delta, level and tls.")
        try:
            numbers = {name: float(str(url.query[name])) for name in _NUMBERS if name in url.query}
        except ValueError:
            raise ArgumentError(f"{', '.join(_NUMBERS)} are numbers.") from None
        port = "" if url.port is None else f":{url.port}"
        host = f"[{url.host}]" if ":" in url.host else url.host
        dataset = f"/d/{quote(url.database)}" if url.database else ""
        return [f"{'https' if tls else 'http'}://{host}{port}{dataset}"], {"key": url.password, **numbers}

    def do_execute(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        """Execute the statement, with the cost of the execution option `epsilon` if it is set.

        Args:
            cursor: Where the answer is fetched from.
            statement: One SELECT.
            parameters: Of the statement.
            context: What SQLAlchemy knows about this execution.
        """
        cursor.epsilon = None if context is None else context.execution_options.get("epsilon")
        cursor.execute(statement, parameters)

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Whether the server answers; free.

        Args:
            dbapi_connection: The connection.
        """
        dbapi_connection.catalog()
        return True

    def get_table_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        """The tables of the catalog.

        Args:
            connection: To the server.
            schema: There is none.
        """
        return [] if schema else list(_tables(connection))

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> bool:
        """Whether the catalog has it.

        Args:
            connection: To the server.
            table_name: Its name.
            schema: There is none.
        """
        return table_name in self.get_table_names(connection, schema)

    def get_columns(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """The declared columns of a table.

        Args:
            connection: To the server.
            table_name: Its name.
            schema: There is none.
        """
        self._check(connection, table_name, schema)
        return [
            {"name": column["name"], "type": _TYPES[column["type"]](), "nullable": column["nullable"], "default": None}
            for column in _tables(connection)[table_name]["columns"]
        ]

    def get_pk_constraint(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """None: people may have many rows.

        Args:
            connection: To the server.
            table_name: Of a table.
            schema: There is none.
        """
        self._check(connection, table_name, schema)
        return {"constrained_columns": [], "name": None}

    def _nothing(
        self, connection: Any, table_name: str | None = None, schema: str | None = None, **_: Any
    ) -> list[Any]:
        """What the catalog does not have.

        Args:
            connection: To the server.
            table_name: Of a table.
            schema: There is none.
        """
        if table_name is not None:
            self._check(connection, table_name, schema)
        return []

    get_foreign_keys = get_indexes = get_unique_constraints = get_check_constraints = _nothing
    get_view_names = get_schema_names = get_temp_table_names = get_temp_view_names = _nothing

    def _check(self, connection: Any, table_name: str, schema: str | None) -> None:
        if not self.has_table(connection, table_name, schema):
            raise NoSuchTableError(table_name)


def _tables(connection: Any) -> dict[str, Any]:
    catalog = connection.connection.dbapi_connection.catalog()
    return {table["name"]: table for table in catalog.tables}


def _is_here(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False
