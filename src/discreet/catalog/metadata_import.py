"""A first catalog from metadata written for other tools: SmartNoise SQL's YAML, or CSVW's JSON with CSVW-EO terms.

CSVW is https://www.w3.org/TR/tabular-metadata/. CSVW-EO (https://github.com/dscc-admin-ch/csvw-eo; once CSVW-SAFE and
CSVW-DP) adds who the person is, how many rows of one person there are, and which group keys are public.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from discreet.catalog.catalog_draft import ColumnDraft, TableDraft, write_draft
from discreet.catalog.declarations import EACH_ROW, Type, Value
from discreet.catalog.toml_reader import parse_catalog
from discreet.errors import BadCatalog

_TYPES = {
    Type.INTEGER: (
        r"int|integer|byte|short|long|unsigned(Byte|Short|Int|Long)|"
        r"(p|nonP)ositiveInteger|(n|nonN)egativeInteger"
    ),
    Type.REAL: r"float|double|decimal|number",
    Type.DATE: r"date",
    Type.TIMESTAMP: r"datetime|dateTime(Stamp)?",
    Type.BOOLEAN: r"boolean",
    Type.TEXT: (
        r"string|normalizedString|token|language|anyURI|any|xml|html|json|time|"
        r"(dayTimeD|yearMonthD|d)uration|g[A-Z]\w+"
    ),
}
_PREFIX = re.compile(r"^(csvw|csvw-eo|csvw-safe|dp):(\w+\.)?")
_COUNTS = {"rows", "rows_exact", "cardinality", "maxLength", "publicLength", "nullableProportion", "maxNumPartitions"}
_SETTINGS = {"sample_max_ids", "clamp_counts", "clamp_columns", "use_dpsu", "censor_dims"}
_SETTINGS |= {"sensitivity", "missing_value"}  # of columns
_TABLE_KEYS = {"rows", "rows_exact", "row_privacy", "max_ids"} | _SETTINGS - {"sensitivity", "missing_value"}
_COLUMN_KEYS = {"name", "type", "lower", "upper", "private_id", "nullable", "cardinality"} | _SETTINGS - _TABLE_KEYS


def import_catalog(path: str | Path) -> str:
    """Return the text of a discreet.toml from a metadata file.

    Missing values and the budget are left to the data owner.
    """
    file = Path(path)
    if not file.is_file() or file.suffix not in (".yaml", ".yml", ".json"):
        raise _wrong(
            "The file",
            "is neither SmartNoise YAML nor CSVW JSON",
            "Use a file whose name ends in .yaml, .yml or .json.",
        )
    is_csvw = file.suffix == ".json"
    tables = _csvw(_document(file), file) if is_csvw else _smartnoise(_document(file))
    if not tables or len({table.name.lower() for table in tables}) < len(tables):
        raise _wrong("The file", "has no tables, or two with the same name", "Describe each table once.")
    origin = f"Made from {'CSVW' if is_csvw else 'SmartNoise SQL'} metadata."
    try:  # let the reader judge what was imported, table by table, as if the owner had filled in the rest
        for table in tables:
            owned = replace(table, person=table.person or _default_person(table))
            parse_catalog(write_draft([owned], origin=origin, source=None).replace("# epsilon", "epsilon", 1))
    except BadCatalog as error:  # its line number refers to the generated text
        raise BadCatalog(re.sub(r"^Line \d+: ", "", error.problem), next_step=error.next_step) from None
    return write_draft(tables, origin=origin, source=str(file.parent) if is_csvw else None)


def _default_person(table: TableDraft) -> str:
    """Return a column that could be the person's id."""
    names = [name for name, column in table.columns.items() if column.type in (Type.INTEGER, Type.TEXT)]
    return next(iter(names or table.columns), "")


def _document(file: Path) -> Any:
    import yaml  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        text = file.read_text("utf-8-sig")
        return json.loads(text) if file.suffix == ".json" else yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:  # their own words quote the file
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else getattr(error, "lineno", None)
        raise _wrong(f"Line {line}" if line else "The file", "has a syntax error", "Mend it.") from None


def _smartnoise(document: Any) -> list[TableDraft]:
    databases = [held for name, held in _named(document, "The file").items() if name != "engine"]
    if len(databases) != 1:
        raise _wrong("The file", "must describe one database", "Nest database, schema, table and column.")
    return [
        _smartnoise_table(name, _named(facts, name))
        for schema, tables in _named(databases[0], "The database").items()
        for name, facts in _named(tables, f"Schema {schema}").items()
    ]


def _smartnoise_table(name: str, facts: Mapping[str, Any]) -> TableDraft:
    columns = {key: _named(about, f"{name}.{key}") for key, about in facts.items() if key not in _TABLE_KEYS}
    for column, about in columns.items():
        if not about.keys() <= _COLUMN_KEYS:
            raise _wrong(f"{name}.{column}", "has an unknown key", f"Use only: {', '.join(sorted(_COLUMN_KEYS))}.")
    table = _table(name, columns, max_rows=facts.get("max_ids"), given_keys={*facts}.union(*columns.values()))
    each_row = _flag(facts, "row_privacy", name) and not table.person  # a named person is protected in all rows
    return replace(table, person=EACH_ROW.column) if each_row else table


def _csvw(document: Any, file: Path) -> list[TableDraft]:
    group = _terms(document, "The file")
    tables = group.get("tables", [document])
    if not isinstance(tables, list):
        raise _wrong("tables", "must be a list of tables", "Describe each table in it.")
    return [_csvw_table({"tableSchema": group.get("tableSchema")} | _terms(table, "tables"), file) for table in tables]


def _csvw_table(facts: Mapping[str, Any], file: Path) -> TableDraft:
    url = PurePosixPath(str(facts["url"])) if facts.get("url") else None
    name = url.stem if url else str(facts.get("name", file.stem.removesuffix("-metadata").removesuffix(".csv")))
    _named({name: None}, "tables")
    listed = _terms(facts["tableSchema"], f"{name}.tableSchema").get("columns")
    if not isinstance(listed, list):
        raise _wrong(f"{name}.tableSchema", "has no list of columns", "Write the columns into this file.")
    terms = [_terms(column, f"{name}.columns") for column in listed]
    named = _named({about["name"]: about for about in terms if isinstance(about.get("name"), str)}, f"{name}.columns")
    unit = facts.get("privacyUnit")
    if len(named) < len(terms) or unit not in (None, *named):
        raise _wrong(
            name,
            "has a column without a unique name, or a privacyUnit that is not a column",
            "Give each column a unique name.",
        )
    columns = {key: _csvw_column(about, f"{name}.{key}", is_unit=key == unit) for key, about in named.items()}
    is_elsewhere = url and ":" not in str(url) and str(url) not in (f"{name}.csv", f"{name}.parquet")
    path = str(file.parent / str(url)) if is_elsewhere else ""  # a URL on the web is not read
    return _table(name, columns, max_rows=facts.get("maxContributions"), given_keys={*facts}.union(*terms), path=path)


def _csvw_column(about: Mapping[str, Any], where: str, *, is_unit: bool) -> dict[str, Any]:
    """Translate a column to SmartNoise's terms, with its public keys."""
    given = about.get("datatype", "string")
    datatype = _terms({"base": given} if isinstance(given, str) else given, f"{where}.datatype")
    return {
        "type": re.sub(r"^(xsd:|.*#)", "", str(datatype.get("base", "string"))),
        "lower": datatype.get("minimum", about.get("minimum")),
        "upper": datatype.get("maximum", about.get("maximum")),
        "private_id": is_unit or _flag(about, "privacyId", where),
        "nullable": not _flag(about, "required", where) and about.get("required") is False,
        "keys": about.get("keyValues", about.get("publicKeys")),
        "keys_are_all": _flag(about, "exhaustiveKeys", where),
    }


def _table(name: str, columns: Mapping[str, Any], *, max_rows: Any, given_keys: set[str], path: str = "") -> TableDraft:
    people = [column for column, about in columns.items() if _flag(about, "private_id", f"{name}.{column}")]
    if not columns or len(people) > 1 or type(max_rows) not in (int, type(None)):
        raise _wrong(
            name,
            "has no columns, several person ids, or a number of rows per person that is not an integer",
            "Give each at most once.",
        )
    left_out = {
        "how many there are is private": given_keys & _COUNTS,
        "settings of the other tool": given_keys & _SETTINGS,
    }
    notes = tuple(f"Left out ({why}): {', '.join(sorted(keys))}." for why, keys in left_out.items() if keys)
    drafts = {column: _column(about, f"{name}.{column}") for column, about in columns.items()}
    return TableDraft(name=name, person="".join(people), columns=drafts, max_rows=max_rows, path=path, notes=notes)


def _column(about: Mapping[str, Any], where: str) -> ColumnDraft:
    kind = next((kind for kind, names in _TYPES.items() if re.fullmatch(names, str(about.get("type")))), None)
    if kind is None:
        raise _wrong(where, "has no valid type", "Use one such as int, float, string, boolean or datetime.")
    if about.get("private_id"):
        return ColumnDraft(type=kind)  # bounds on ids could make one person of two
    given_bounds = {end: about[end] for end in ("lower", "upper") if about.get(end) is not None}
    facts: dict[str, Any] = {end: _value(kind, given, where) for end, given in given_bounds.items()}
    hint, keys = "", about.get("keys")
    if len(facts) == 1:
        hint, facts = f"only {next(iter(facts))} was given: add lower and upper for SUM and AVG", {}
    if keys is not None and about.get("keys_are_all"):
        facts["values"] = [_value(kind, key, where) for key in (keys if isinstance(keys, list) else [None])]
    elif keys is not None:
        hint = "add values = [ … ] to group by it without delta; the given public keys are incomplete"
    facts |= {"nullable": True} if _flag(about, "nullable", where) else {}
    return ColumnDraft(type=kind, facts=facts, hint=hint)


def _value(kind: Type, given: Any, where: str) -> Value:
    """Read a bound or key, possibly in quotes. The catalog reader checks that it matches the column."""
    try:
        if isinstance(given, str) and kind is not Type.TEXT:
            given = datetime.fromisoformat(given) if kind in (Type.DATE, Type.TIMESTAMP) else json.loads(given)
    except (ValueError, RecursionError):
        given = None
    given = given.date() if isinstance(given, datetime) and kind is not Type.TIMESTAMP else given
    is_number = isinstance(given, int | float) and -1e300 < given < 1e300
    if not is_number and not (isinstance(given, str | date) and str(given).isprintable()):
        raise _wrong(where, "has an invalid bound or key", "Write numbers, ISO dates, or text on one line.")
    return given


def _terms(value: Any, where: str) -> dict[str, Any]:
    """Return a section of CSVW without term prefixes. Bounds have several names in CSVW."""
    plain = {_PREFIX.sub("", key): held for key, held in _named(value, where).items()}
    return {re.sub(r"^(min|max)(In|Ex)clusive$", r"\1imum", key): held for key, held in plain.items()}


def _named(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, "must hold named entries", "Nest the file as its format requires.")
    if not all(isinstance(name, str) and name.isprintable() for name in value):
        raise _wrong(where, "has a name that is not text on one line", "Put names in quotes: YAML reads no as false.")
    return value


def _flag(facts: Mapping[str, Any], key: str, where: str) -> bool:
    if not isinstance(facts.get(key), bool | None):
        raise _wrong(f"{where}.{key}", "must be true or false", "Write it without quotes.")
    return facts.get(key) is True


def _wrong(where: str, problem: str, next_step: str) -> BadCatalog:
    return BadCatalog(f"{where}: {problem}.", next_step=next_step)
