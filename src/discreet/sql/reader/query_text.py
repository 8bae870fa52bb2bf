"""Parse the text of a query: one SELECT of limited size, with parameters inserted and OPTIONS removed."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any, TypeAlias

import sqlglot
import sqlglot.dialects.duckdb  # otherwise loaded by the first query, which would wait for it
from sqlglot import exp
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]  # made at run time

from discreet.catalog.timestamps import in_utc, timestamp_text
from discreet.errors import BadInput, NotAllowed, TooLarge, UnknownName, UnparsableQuery
from discreet.sql.builder import quote
from discreet.sql.reader.error_location import clear_spans, span_of_error

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]
Query: TypeAlias = exp.Select | exp.SetOperation

_DIALECT = sqlglot.Dialect.get_or_raise("duckdb")
_LONGEST = 20_000
_PADDING = re.compile(r"--|/\*|\s{100}")
"""A possible comment, or a gap that is wider than any usual indentation."""
_NUMBER = re.compile(r"(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,2})?")
_WHOLE = {"max_groups_contributed", "max_rows_contributed", "max_rows_per_group"}
_KNOWN = ("epsilon", "delta", "privacy_unit_column", "mechanism", *sorted(_WHOLE))


@dataclass(frozen=True, slots=True)
class Options:
    """The OPTIONS of a query. They can only tighten what the catalog allows."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    mechanism: str | None = None
    privacy_unit_column: str | None = None
    max_rows_contributed: int | None = None
    max_groups_contributed: int | None = None
    max_rows_per_group: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A parsed query and its OPTIONS."""

    query: Query
    options: Options


def read_text(sql: str, parameters: Parameters = ()) -> Text:
    """Parse one SELECT, or refuse the text."""
    if len(sql) > _LONGEST:
        raise TooLarge("The query is too long.", next_step=f"Keep it below {_LONGEST:,} characters.")
    try:
        bare, options = _without_options(sql)
        numbered = _numbered(bare)
        tokens = _DIALECT.tokenize(numbered)
        _check_names(tokens)
        statements = _DIALECT.parser().parse(tokens, numbered)
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        refusal = UnparsableQuery("This text is not valid SQL.", next_step="Check quotes, commas and parentheses.")
        refusal.span = span_of_error(error, sql) if "?" not in sql else None
        raise refusal from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Select | exp.SetOperation):
        raise UnparsableQuery(
            "A query must be exactly one SELECT statement.",
            next_step="Send one SELECT at a time, without parentheses around it.",
        )
    query = _with_parameters(statements[0], parameters)
    if "?" in sql:
        clear_spans(query)
    for literal in query.find_all(exp.Literal):
        if not literal.is_string and not _NUMBER.fullmatch(literal.name):
            raise TooLarge("A number in the query is too long or too large.", next_step="Write it with fewer digits.")
    return Text(query, options)


def wording(sql: str) -> str:
    """Return the text of a query without comments and wide gaps, for display and for the ledger."""
    if _PADDING.search(sql) is None:
        return sql
    try:
        tokens = _DIALECT.tokenize(sql)
    except sqlglot.errors.SqlglotError:
        return sql  # it will be refused anyway
    words = [sql[tokens[0].start : tokens[0].end + 1]] if tokens else []
    for token, following in itertools.pairwise(tokens):
        gap = sql[token.end + 1 : following.start]
        padding = _PADDING.search(gap) is not None
        words += [("\n" if "\n" in gap else " ") if padding else gap, sql[following.start : following.end + 1]]
    return "".join(words)


def written(name: str) -> str:
    """Return a name as SQL, in quotes only if they are necessary."""
    try:
        tokens = _DIALECT.tokenize(name)
    except sqlglot.errors.SqlglotError:
        return quote(name)
    is_plain = [token.token_type for token in tokens] == [TokenType.VAR] and tokens[0].text == name
    return name if is_plain else quote(name)


def _check_names(tokens: list[Token]) -> None:
    """Refuse quoted function names: the parser would read "or"(a, b) as an OR."""
    for token, following in itertools.pairwise(tokens):
        if token.token_type is TokenType.IDENTIFIER and following.token_type is TokenType.L_PAREN:
            raise NotAllowed(
                "A function name cannot be in quotes.", next_step="Write the function name without quotes."
            )


def _without_options(sql: str) -> tuple[str, Options]:
    """Take SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (name = value, …), the GoogleSQL syntax, out of a text."""
    if "DIFFERENTIAL_PRIVACY" not in sql.upper():
        return sql, Options()
    tokens = _DIALECT.tokenize(sql)
    starts = [
        index
        for index in range(len(tokens) - 2)
        if tokens[index].token_type is TokenType.SELECT
        and tokens[index + 1].token_type is TokenType.WITH
        and tokens[index + 2].text.upper() == "DIFFERENTIAL_PRIVACY"
    ]
    if not starts:
        return sql, Options()
    if len(starts) > 1:
        raise NotAllowed(
            "WITH DIFFERENTIAL_PRIVACY may appear only once, in the outermost SELECT.",
            next_step="Remove the other one.",
        )
    first = starts[0] + 1
    last, found = first + 1, Options()
    if last + 1 < len(tokens) and tokens[last + 1].text.upper() == "OPTIONS":
        last, found = _options(tokens, last + 2)
    start, end = tokens[first].start, tokens[last].end + 1
    blank = "".join(
        "\n" if character == "\n" else " " for character in sql[start:end]
    )  # all other positions stay the same
    return sql[:start] + blank + sql[end:], found


def _options(tokens: list[Token], at: int) -> tuple[int, Options]:
    close = next((i for i in range(at, len(tokens)) if tokens[i].token_type is TokenType.R_PAREN), None)
    if close is None or tokens[at].token_type is not TokenType.L_PAREN:
        raise UnparsableQuery(
            "OPTIONS must be a list of names and values in parentheses.",
            next_step="Write for example OPTIONS(epsilon = 0.5).",
        )
    found: dict[str, Any] = {}
    inside = tokens[at + 1 : close]
    while inside:
        name = inside[0].text.lower()
        if (
            len(inside) < 3
            or inside[1].token_type is not TokenType.EQ
            or (len(inside) > 3 and inside[3].token_type is not TokenType.COMMA)
        ):
            raise UnparsableQuery(
                "OPTIONS must be a list of names and values in parentheses.",
                next_step="Write for example OPTIONS(epsilon = 0.5).",
            )
        if name not in _KNOWN or name in found:
            raise UnknownName("OPTIONS has an unknown or repeated name.", next_step=f"Use {', '.join(_KNOWN)}.")
        found[name] = _option(name, inside[2].text)
        inside = inside[4:]
    return close, Options(**found)


def _option(name: str, text: str) -> Any:
    if name in ("mechanism", "privacy_unit_column"):
        return text.lower() if name == "mechanism" else text
    if not _NUMBER.fullmatch(text) or (name in _WHOLE and (not text.isdecimal() or int(text) < 1)):
        raise BadInput(
            f"The value of {name} in OPTIONS is not valid.",
            next_step="Use a positive number, and a whole number for contribution bounds.",
        )
    return int(text) if name in _WHOLE else Fraction(text)


def _numbered(sql: str) -> str:
    """Replace each ? by $_1, $_2, … in the order of the text, because the parsed tree does not keep this order.

    A :name directly after SELECT becomes $name, which means the same: the parser expects a name before a colon.
    """
    if "?" not in sql and ":" not in sql:
        return sql
    tokens = _DIALECT.tokenize(sql)
    for token, following in itertools.pairwise(tokens):
        if token.token_type is TokenType.SELECT and following.token_type is TokenType.COLON:
            sql = f"{sql[: following.start]}${sql[following.start + 1 :]}"
    holes = [token for token in tokens if token.token_type is TokenType.PLACEHOLDER]
    for number in range(len(holes), 0, -1):
        at = holes[number - 1].start
        sql = f"{sql[:at]}$_{number}{sql[at + 1 :]}"
    return sql


def _with_parameters(query: Query, parameters: Parameters) -> Query:
    """Insert values for ? and :name as literals. They become part of the query and of its canonical form."""
    given = (
        dict(parameters)
        if isinstance(parameters, Mapping)
        else {f"_{number}": value for number, value in enumerate(parameters, start=1)}
    )
    holes = list(query.find_all(exp.Placeholder))
    if {hole.name for hole in holes} != set(given):
        raise UnknownName(
            "The parameters in the query do not match the values that were passed.",
            next_step="Pass one value for each ?, or one for each :name.",
        )
    for hole in holes:
        hole.replace(_literal(given[hole.name]))
    return query


def _literal(value: Any) -> exp.Expr:
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, datetime):
        moment = in_utc(value)
        return exp.null() if moment is None else exp.cast(exp.Literal.string(timestamp_text(moment)), "timestamp")
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "date")
    if isinstance(value, int | float) and math.isfinite(value):
        number = exp.Literal.number(repr(abs(value)))
        return exp.Neg(this=number) if value < 0 else number
    raise BadInput(
        "A parameter must be a text, number, boolean, date, timestamp or None.", next_step="Convert the value first."
    )
