"""Read discreet.toml strictly: unknown keys, wrong types and missing values are errors with a line number."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.accounting import Filter, open_filter
from discreet.catalog.column_reader import KEYS as COLUMN_KEYS
from discreet.catalog.column_reader import read_column
from discreet.catalog.declarations import (
    BOTH_ENDS,
    EACH_ROW,
    ROWS_ABOUT,
    Catalog,
    Column,
    Network,
    PrivacyUnit,
    Reference,
    Regions,
    Table,
    Type,
)
from discreet.catalog.graph_tables import KEYS as GRAPH_KEYS
from discreet.catalog.graph_tables import check_edge_keys, named_edges, read_graph
from discreet.catalog.region_trees import KEYS, read_tree
from discreet.catalog.toml_lines import key_lines, line_of
from discreet.core.loss import Neighbours
from discreet.errors import BadCatalog, DiscreetError

VERSION = 1
_MEMORY = ":memory:"
_QUOTAS = (
    *("messages_a_day", "bytes_a_day", "numbers", "bytes_in_all"),
    *("messages_a_day_per_address", "slots_a_day_per_address"),
)
_TABLE_KEYS = {"public", "people", "privacy_unit", "max_rows", "rows_about", "bounding", "path", "columns"}
_BUDGET_KEYS = {"epsilon", "delta", "account", "renews"}


def load_catalog(path: str | Path) -> Catalog:
    """Load a catalog from a file. Paths in it are relative to the file."""
    file = Path(path)
    if not file.is_file():
        raise BadCatalog(
            "No catalog found at this path.", next_step="If the path is right, create a catalog with `discreet init`."
        )
    written = file.read_bytes()
    try:
        text = written.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = written[: error.start].count(b"\n") + 1
        raise BadCatalog(f"Line {line}: is not UTF-8.", next_step="Save the catalog as UTF-8.") from None
    declared = parse_catalog(text.replace("\r\n", "\n"), base=file.parent)
    return replace(declared, sha256=hashlib.sha256(written).hexdigest())


def parse_catalog(text: str, *, base: Path = Path()) -> Catalog:
    """Parse the text of a catalog."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadCatalog(
            f"The catalog is not valid TOML: {error}.", next_step="Correct the line that the message names."
        ) from None
    return _Reader(text, base).catalog(document)


def catalog_in(document: Mapping[str, Any]) -> Catalog:
    """Read a catalog from a dictionary with the same sections as the file."""
    return _Reader("", Path()).catalog(document)


def anchor_beside(ledger: str) -> str | None:
    """Return the default path of a ledger's anchor; None if the ledger is not a file."""
    return None if ledger == _MEMORY or "://" in ledger else f"{ledger}.anchor"


class _Reader:
    def __init__(self, text: str, base: Path) -> None:
        self._lines = key_lines(text)
        self._base = base

    def wrong(self, key: str, problem: str, next_step: str) -> BadCatalog:
        line = line_of(self._lines, key)
        return BadCatalog(f"{f'Line {line}: ' if line else ''}{key}: {problem}.", next_step=next_step)

    def section(
        self, parent: Mapping[str, Any], key: str, *, allowed: set[str], path: str, needed: bool = False
    ) -> dict[str, Any]:
        """Return a section, and check that all its keys are known."""
        table = parent.get(key, {})
        if needed and key not in parent:
            raise self.wrong(path, "is missing", f"Add a [{path}] section.")
        if not isinstance(table, dict):
            raise self.wrong(path, "must be a section", f"Write it as [{path}].")
        for name in table:
            if allowed and name not in allowed:
                raise self.wrong(f"{path}.{name}", "is an unknown key", f"Use one of: {', '.join(sorted(allowed))}.")
        return table

    def catalog(self, document: Mapping[str, Any]) -> Catalog:
        top = {
            "version",
            "source",
            "ledger",
            "budget",
            "tables",
            "trees",
            "graphs",
            "neighbours",
            "limits",
            "engine",
            "collector",
        }
        for name in document:
            if name not in top:
                raise self.wrong(name, "is an unknown section", f"Use one of: {', '.join(sorted(top))}.")
        if document.get("version", VERSION) != VERSION:
            raise self.wrong(
                "version", f"must be {VERSION}", "Use the Discreet version that this catalog was written for."
            )
        source = self.section(document, "source", allowed={"path", "snapshot"}, path="source", needed=True)
        ledger = self.section(document, "ledger", allowed={"path", "anchor"}, path="ledger")
        cap, analysts = self.budget(document)
        limits = self.section(document, "limits", allowed={"rows_per_person"}, path="limits")
        engine = self.section(document, "engine", allowed={"memory", "seconds"}, path="engine")
        collector = self.section(document, "collector", allowed={"path", *_QUOTAS}, path="collector")
        tables = self.section(document, "tables", allowed=set(), path="tables", needed=True)
        if len({name.lower() for name in tables}) < len(tables):
            raise self.wrong("tables", "has names that differ only in case", "Rename one of them.")
        graphs = self.section(document, "graphs", allowed=set(), path="graphs")
        of_edges = named_edges(graphs, tables, self.wrong)
        edges = {name: self.edges(name, tables[name]) for name in of_edges}
        read = {name: self.table(name, declared) for name, declared in tables.items() if name not in of_edges}
        resolved = {name: self.with_path_to_person(read, table) for name, table in read.items()}
        self.check_people(resolved)
        self.check_list(resolved)
        neighbours = self.neighbours(document)
        trees = self.section(document, "trees", allowed=set(), path="trees")
        return Catalog(
            source=self.path_of(source, "source.path", default="."),
            snapshot=self.snapshot(source, ledger),
            ledger=self.path_of(ledger, "ledger.path", default="ledger.sqlite"),
            anchor=self.anchor(ledger),
            reports=self.reports(collector, ledger),
            collector={
                name: self.whole(collector, f"collector.{name}", default=None) for name in _QUOTAS if name in collector
            },
            cap=cap,
            analysts=analysts,
            tables=resolved,
            neighbours=neighbours,
            trees={name: self.tree(name, trees, resolved, neighbours) for name in trees},
            graphs={name: self.graph(name, graphs, resolved, edges, neighbours) for name in graphs},
            rows_per_person=self.whole(limits, "limits.rows_per_person", default=None),
            memory=self.memory(engine),
            seconds=self.whole(engine, "engine.seconds", default=60),
        )

    def tree(self, name: str, trees: Mapping[str, Any], tables: Mapping[str, Table], neighbours: Neighbours) -> Regions:
        return read_tree(
            name, self.section(trees, name, allowed=KEYS, path=f"trees.{name}"), tables, neighbours, self.wrong
        )

    def graph(
        self,
        name: str,
        graphs: Mapping[str, Any],
        tables: Mapping[str, Table],
        edges: Mapping[str, Table],
        neighbours: Neighbours,
    ) -> Network:
        path = f"graphs.{name}"
        section = self.section(graphs, name, allowed=GRAPH_KEYS, path=path)
        budget = self.section(section, "budget", allowed=_BUDGET_KEYS, path=f"{path}.budget")
        cap = self.cap(budget, f"{path}.budget", delta=0.0) if "budget" in section else None
        return read_graph(name, section, tables=tables, edges=edges, neighbours=neighbours, cap=cap, wrong=self.wrong)

    def whole(self, section: Mapping[str, Any], key: str, *, default: int | None) -> Any:
        given = section.get(key.rpartition(".")[2], default)
        if given is not None and (type(given) is not int or given < 1):
            raise self.wrong(key, "must be a whole number of at least 1", "Write it without quotes.")
        return given

    def memory(self, section: Mapping[str, Any]) -> str:
        given = section.get("memory", "4GB")
        if not isinstance(given, str) or not re.fullmatch(r"[1-9]\d{0,5} ?[MG]B", given):
            raise self.wrong("engine.memory", "must be an amount such as 4GB", 'Write "500MB" or "4GB".')
        return given

    def neighbours(self, document: Mapping[str, Any]) -> Neighbours:
        try:
            return Neighbours(document.get("neighbours", "add-remove"))
        except DiscreetError:
            raise self.wrong(
                "neighbours", "is not a neighbour relation", 'Write "add-remove" or "replace-one".'
            ) from None

    def path_of(self, section: Mapping[str, Any], key: str, *, default: str | None) -> Any:
        """Return a path relative to the catalog's folder, or a URL unchanged."""
        given = section.get(key.rpartition(".")[2], default)
        if given is None or given == _MEMORY or (isinstance(given, str) and "://" in given):
            return given
        if not isinstance(given, str) or not given:
            raise self.wrong(key, "must be a path or a URL in quotes", 'Write it as "folder/file".')
        return str(self._base / given)

    def anchor(self, ledger: Mapping[str, Any]) -> Any:
        """Return the path of the anchor: as given, or beside the ledger (if it is a file) or the catalog."""
        if ledger.get("anchor") is False:
            return None
        ledger_path = self.path_of(ledger, "ledger.path", default="ledger.sqlite")
        if "anchor" in ledger or "://" in ledger_path:
            return self.path_of(ledger, "ledger.anchor", default="ledger.anchor")
        return anchor_beside(ledger_path)

    def snapshot(self, source: Mapping[str, Any], ledger: Mapping[str, Any]) -> Any:
        """Return the path of the snapshot: as given, or beside the ledger; in memory if the ledger is not a file."""
        ledger_path = self.path_of(ledger, "ledger.path", default="ledger.sqlite")
        if "snapshot" in source or "://" in ledger_path or ledger_path.endswith(_MEMORY):
            return self.path_of(source, "source.snapshot", default=_MEMORY)
        return f"{ledger_path}.snapshot"

    def reports(self, collector: Mapping[str, Any], ledger: Mapping[str, Any]) -> Any:
        """Return the path of the report store: as given, or beside the ledger (if it is a file) or the catalog."""
        ledger_path = self.path_of(ledger, "ledger.path", default="ledger.sqlite")
        beside = (
            ledger_path
            if ledger_path.endswith(_MEMORY)
            else "reports.sqlite"
            if "://" in ledger_path
            else f"{ledger_path}.reports"
        )
        given = self.path_of(collector, "collector.path", default=beside)
        if given == ledger_path and not given.endswith(_MEMORY):
            raise self.wrong(
                "collector.path",
                "is the same file or database as the ledger",
                "Use another one: anyone can send reports to it and fill it.",
            )
        return given

    def budget(self, document: Mapping[str, Any]) -> tuple[Filter, dict[str, Filter]]:
        section = self.section(document, "budget", allowed=_BUDGET_KEYS | {"analysts"}, path="budget", needed=True)
        cap = self.cap(section, "budget", delta=0.0)
        analysts = self.section(section, "analysts", allowed=set(), path="budget.analysts")
        caps = {}
        for name in analysts:
            own = self.section(analysts, name, allowed=_BUDGET_KEYS, path=f"budget.analysts.{name}")
            caps[name] = self.cap(own, f"budget.analysts.{name}", delta=cap.cap.delta)
        return cap, caps

    def cap(self, section: Mapping[str, Any], path: str, *, delta: float) -> Filter:
        if "epsilon" not in section:
            raise self.wrong(
                path, "has no epsilon", "Add the largest total epsilon that you accept, such as epsilon = 5.0."
            )
        try:
            return open_filter(
                section["epsilon"],
                section.get("delta", delta),
                kind=section.get("account"),
                renews=section.get("renews"),
            )
        except DiscreetError as error:
            raise self.wrong(path, error.problem.rstrip("."), error.next_step) from None

    def people(self, path: str, section: Mapping[str, Any], unit: PrivacyUnit | None) -> bool:
        """Read whether a table lists each person exactly once."""
        lists = section.get("people", False)
        if lists not in (True, False):
            raise self.wrong(f"{path}.people", "must be true or false", "Remove it if people may have several rows.")
        whole = unit is not None and not unit.path and section.get("max_rows", 1) == 1 and "bounding" not in section
        if lists and not whole:
            raise self.wrong(
                f"{path}.people",
                "needs one row per person, with the person's id in the table itself",
                "Remove max_rows and bounding.",
            )
        return bool(lists)

    def edges(self, name: str, declared: Any) -> Table:
        """Read a table of edges. Its rows belong to two people, and SQL cannot read it."""
        path = f"tables.{name}"
        section = self.section({name: declared}, name, allowed=_TABLE_KEYS, path=path)
        check_edge_keys(path, section, self.wrong)
        return Table(
            name=name,
            columns=self.columns(path, section),
            unit=BOTH_ENDS,
            rows_about=self.whole(section, f"{path}.rows_about", default=ROWS_ABOUT),
            path=self.path_of(section, f"{path}.path", default=None),
        )

    def columns(self, path: str, section: Mapping[str, Any]) -> dict[str, Column]:
        columns = self.section(section, "columns", allowed=set(), path=f"{path}.columns")
        if len({column.lower() for column in columns}) < len(columns):
            raise self.wrong(f"{path}.columns", "has names that differ only in case", "Rename one of them.")
        return {name: self.column(f"{path}.columns.{name}", name, columns) for name in columns}

    def column(self, path: str, name: str, columns: Mapping[str, Any]) -> Column:
        section = self.section(columns, name, allowed=COLUMN_KEYS, path=path)
        return read_column(path, name, section, self.wrong)

    def table(self, name: str, declared: Any) -> Table:
        path = f"tables.{name}"
        section = self.section({name: declared}, name, allowed=_TABLE_KEYS, path=path)
        columns = self.columns(path, section)
        public = section.get("public", False)
        if public not in (True, False):
            raise self.wrong(f"{path}.public", "must be true or false", "Remove it for protected tables.")
        if public == ("privacy_unit" in section):
            raise self.wrong(
                path,
                "must be either public or have a privacy_unit",
                'Write public = true, or privacy_unit = "the column with the id of the person".',
            )
        max_rows = section.get("max_rows", 1)
        if type(max_rows) is not int or max_rows < 1 or (public and "max_rows" in section):
            raise self.wrong(
                f"{path}.max_rows",
                "must be a whole number of at least 1",
                "Set it to the number of rows of one person that may count.",
            )
        bounding = section.get("bounding", "snapshot")
        if bounding not in ("snapshot", "per-query") or (public and "bounding" in section):
            raise self.wrong(f"{path}.bounding", "is not known", 'Write "snapshot" or "per-query".')
        if public and "rows_about" in section:
            raise self.wrong(
                f"{path}.rows_about", "is only for protected tables", "Remove it: public rows are counted exactly."
            )
        unit = None if public else self.unit(f"{path}.privacy_unit", section["privacy_unit"], columns)
        if unit == EACH_ROW and {"max_rows", "bounding"} & section.keys():
            raise self.wrong(
                path, "has exactly one row per person", "Remove max_rows and bounding if each row is a person."
            )
        table = Table(
            name=name,
            is_bounded_once=bounding == "snapshot",
            lists_people=self.people(path, section, unit),
            columns=columns,
            unit=unit,
            max_rows=max_rows,
            rows_about=self.whole(section, f"{path}.rows_about", default=ROWS_ABOUT),
            path=self.path_of(section, f"{path}.path", default=None),
        )
        if table.own_column is not None and table.own_column not in table.columns:
            raise self.wrong(
                f"{path}.privacy_unit",
                "does not name a declared column",
                f'Declare columns.{table.own_column}, or write privacy_unit = "row" if each row is a person.',
            )
        return table

    def unit(self, path: str, given: Any, columns: Mapping[str, Any]) -> PrivacyUnit:
        """Read a privacy unit: a column, a reference to another table, or "row" if no column has that name."""
        if given == EACH_ROW.column and not any(column.lower() == given for column in columns):
            return EACH_ROW
        if isinstance(given, str) and given:
            return PrivacyUnit(given)
        if isinstance(given, dict) and set(given) == {"column", "references"}:
            table, dot, key = str(given["references"]).partition(".")
            if isinstance(given["column"], str) and dot and table and key:
                return PrivacyUnit("", (Reference(given["column"], table, key),))
        raise self.wrong(
            path,
            "must name a column, or a column and what it references",
            'Write "patient_id", or { column = "visit_id", references = "visits.visit_id" }, or "row" if each row is a person.',
        )

    def with_path_to_person(self, tables: Mapping[str, Table], table: Table) -> Table:
        """Follow references to the table with the person's id."""
        if table.unit is None or not table.unit.path:
            return table
        key = f"tables.{table.name}.privacy_unit"
        steps, seen = list(table.unit.path), {table.name}
        while True:
            step = steps[-1]
            following = tables.get(step.table)
            if following is None or step.key not in following.columns or following.unit is None:
                raise self.wrong(
                    key, "does not lead to a declared column of a protected table", "Reference table.column."
                )
            if following.unit.is_row:
                raise self.wrong(
                    key, "leads to a table without a person's id", "Give that table an id column as its privacy_unit."
                )
            if step.table in seen:
                raise self.wrong(key, "leads in a circle", "Let the path end at a table with the person's id.")
            seen.add(step.table)
            if not following.unit.path:
                unit = PrivacyUnit(following.unit.column, tuple(steps))
                return replace(table, unit=unit)
            steps.extend(following.unit.path)

    def check_people(self, tables: Mapping[str, Table]) -> None:
        """Check that person ids in all tables, and keys that lead to them, have one type that compares exactly."""
        kinds = set()
        for table in tables.values():
            for step in () if table.unit is None else table.unit.path:
                if tables[step.table].columns[step.key].type not in (Type.INTEGER, Type.TEXT):
                    raise self.wrong(
                        f"tables.{table.name}.privacy_unit",
                        "leads to the person by a key whose type does not compare exactly",
                        "Declare keys as integer or text.",
                    )
            if table.unit is not None and not table.unit.path and not table.unit.is_row:
                kinds.add(table.columns[table.unit.column].type)
                if len(kinds) > 1 or not kinds <= {Type.INTEGER, Type.TEXT}:
                    raise self.wrong(
                        f"tables.{table.name}.privacy_unit",
                        "uses another type of person id than other tables, or one that does not compare exactly",
                        "Use integers in every table, or text in every table.",
                    )

    def check_list(self, tables: Mapping[str, Table]) -> None:
        """Check that only one table lists all people, by ids that other tables use too."""
        lists = [table for table in tables.values() if table.lists_people]
        if len(lists) > 1:
            raise self.wrong(
                "tables",
                "has two tables with people = true",
                "Keep it only for the table that lists every person once.",
            )
        others = [table for table in tables.values() if not table.is_public and table not in lists]
        if lists and others and any(table.has_row_people for table in (*lists, *others)):
            raise self.wrong(
                f"tables.{lists[0].name}.people",
                "lists people that another table cannot refer to",
                'Remove people = true, or let no table have privacy_unit = "row".',
            )
