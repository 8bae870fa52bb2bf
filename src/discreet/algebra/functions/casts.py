"""Casts from and to text.

A text outside of the grammar here is NULL on every engine. Casts of reals to text are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime

from discreet.algebra.functions.record_rules import Rule, counted, day, ends_of, image, is_nullable, moment, real, text
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.algebra.value_properties import AS_READ, UNBOUNDED, Value, ValueProperties
from discreet.catalog import Type
from discreet.catalog.timestamps import timestamp_text

_LONGEST_WHOLE = 20
_LARGEST, _LEAST = 2.0**AS_READ.large, 2.0**-AS_READ.fine

# Grammars: valid in every dialect of regular expressions, and without braces, which are arguments in templates.

_WHOLE = "[+-]?[0-9]" + "[0-9]?" * 17
_REAL = "[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9][0-9]?[0-9]?)?"
YEAR = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9][0-9]|[1-9][0-9][0-9][0-9])"
_DATE = f"{YEAR}-[0-9][0-9]-[0-9][0-9]"
_TIMESTAMP = f"{_DATE}(?:[ T](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{'[0-9]?' * 5})?)?)?"
_TRUE, _FALSE = "1|[Tt]|[Tt][Rr][Uu][Ee]|[Yy]|[Yy][Ee][Ss]", "0|[Ff]|[Ff][Aa][Ll][Ss][Ee]|[Nn]|[Nn][Oo]"


def _fitting(grammar: str) -> str:
    """SQL for the part of a text that matches, without surrounding spaces; empty if it does not match."""
    return f"regexp_extract({{0}}, '^ *({grammar}) *$', 1)"


# Values, as the engine has them


def _match(grammar: str, value: str) -> str | None:
    fitting = re.fullmatch(f" *({grammar}) *", value)
    return None if fitting is None else fitting.group(1)


def _whole_of(value: str) -> int | None:
    fitting = _match(_WHOLE, value)
    return None if fitting is None else int(fitting)


def _real_of(value: str) -> float | None:
    fitting = _match(_REAL, value)
    number = None if fitting is None else float(fitting)
    if number is None or abs(number) > _LARGEST:
        return None
    return number if abs(number) >= _LEAST else 0.0


def _date_of(value: str) -> date | None:
    fitting = _match(_DATE, value)
    try:
        return None if fitting is None else date.fromisoformat(fitting)
    except ValueError:
        return None


def _timestamp_of(value: str) -> datetime | None:
    fitting = _match(_TIMESTAMP, value)
    try:
        return None if fitting is None else datetime.fromisoformat(fitting)
    except ValueError:
        return None


def _truth_of(value: str) -> bool | None:
    if _match(_TRUE, value) is not None:
        return True
    return None if _match(_FALSE, value) is None else False


def _told(value: bool) -> str:
    return "true" if value else "false"


# Properties


def _as_text(longest: int, value: Callable[..., str]) -> Rule:
    def rule(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
        return text(longest, nullable=is_nullable(args), values=image(args, value))

    return rule


def _from_text(value: Callable[[str], Value | None]) -> Rule:
    """Return bounds if the texts are listed."""

    def rule(args: Sequence[ValueProperties], kind: Type) -> ValueProperties:
        values = image(args, value)
        bounds = UNBOUNDED if values is None or kind is Type.BOOLEAN else ends_of(values)
        if kind is Type.INTEGER:
            return counted(bounds, nullable=True, values=values)
        if kind is Type.REAL:
            return real(bounds, AS_READ, nullable=True, values=values)
        if kind is Type.TIMESTAMP:
            return moment(bounds, nullable=True, values=values)
        return (
            day(bounds, nullable=True, values=values)
            if kind is Type.DATE
            else ValueProperties(type=kind, values=values)
        )

    return rule


# Records


def _to(name: str, kind: Type, *, longest: int, value: Callable[..., str], says: str) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=("CAST",),
        signature=Signature(says="CAST(x AS VARCHAR)", takes=(kind,), gives=Type.TEXT),
        nulls=Nulls.IF_ANY,
        properties=_as_text(longest, value),
        accepts=None,
        effort=Effort(500),
        engines={"duckdb": "CAST({0} AS VARCHAR)"},
        says=says,
    )


def _of(
    name: str, kind: Type, *, word: str, value: Callable[[str], Value | None], template: str, says: str
) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=("CAST",),
        signature=Signature(says=f"CAST(x AS {word})", takes=(Type.TEXT,), gives=kind),
        nulls=Nulls.MAYBE,
        properties=_from_text(value),
        accepts=None,
        effort=Effort(1500, 30),
        engines={"duckdb": template},
        says=f"{says}; NULL for other texts",
    )


_READ_REAL = f"TRY_CAST({_fitting(_REAL)} AS DOUBLE)"
RECORDS = (
    _to("text_of_int", Type.INTEGER, longest=_LONGEST_WHOLE, value=str, says="an integer in decimal digits"),
    _to("text_of_date", Type.DATE, longest=10, value=date.isoformat, says="a date as YYYY-MM-DD"),
    _to("text_of_timestamp", Type.TIMESTAMP, longest=26, value=timestamp_text, says="a timestamp as YYYY-MM-DD HH:MM:SS, with a fraction of a second if there is one"),
    _to("text_of_bool", Type.BOOLEAN, longest=5, value=_told, says="'true' or 'false'"),
    _of(
        "int_of_text", Type.INTEGER, word="INTEGER", value=_whole_of, template=f"TRY_CAST({_fitting(_WHOLE)} AS BIGINT)",
        says="an integer of at most 18 digits, optionally with a sign and surrounding spaces",
    ),
    _of(
        "real_of_text", Type.REAL, word="DOUBLE", value=_real_of,
        template=(
            f"(CASE WHEN (abs({_READ_REAL}) < CAST('{_LEAST!r}' AS DOUBLE)) THEN CAST(0 AS DOUBLE) "
            f"WHEN (abs({_READ_REAL}) <= CAST('{_LARGEST!r}' AS DOUBLE)) THEN {_READ_REAL} END)"
        ),
        says="a decimal number, optionally with an exponent; NULL beyond 2 ** 100, 0 below 2 ** -100",
    ),
    _of(
        "date_of_text", Type.DATE, word="DATE", value=_date_of, template=f"TRY_CAST({_fitting(_DATE)} AS DATE)",
        says="a date that exists, as YYYY-MM-DD",
    ),
    _of(
        "timestamp_of_text", Type.TIMESTAMP, word="TIMESTAMP", value=_timestamp_of, template=f"TRY_CAST({_fitting(_TIMESTAMP)} AS TIMESTAMP)",
        says="a timestamp that exists, as YYYY-MM-DD or YYYY-MM-DD HH:MM, optionally with seconds and up to six decimals, without time zone",
    ),
    _of(
        "bool_of_text", Type.BOOLEAN, word="BOOLEAN", value=_truth_of,
        template=(
            f"(CASE WHEN regexp_full_match({{0}}, ' *(?:{_TRUE}) *') THEN true "
            f"WHEN regexp_full_match({{0}}, ' *(?:{_FALSE}) *') THEN false END)"
        ),
        says="t, true, y, yes, 1 or f, false, n, no, 0, in upper or lower case",
    ),
)  # fmt: skip
register(*RECORDS)
