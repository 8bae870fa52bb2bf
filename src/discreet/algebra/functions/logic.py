"""Three-valued logic, and choices between values of one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import takewhile

from discreet.algebra.expressions import Expression
from discreet.algebra.functions.intervals import hull, largest, overlap, smallest
from discreet.algebra.functions.record_rules import (
    Domain,
    Rule,
    counted,
    image,
    is_null,
    is_nullable,
    longest_of,
    magnitudes_of,
    text,
    truth,
    union,
)
from discreet.algebra.registry import Effort, Function, Nulls, Signature, Template, register
from discreet.algebra.value_properties import Bounds, Magnitudes, ValueProperties
from discreet.catalog import Type

# Properties


def _one_of(parts: Sequence[ValueProperties], kind: Type) -> ValueProperties:
    """Return properties that hold for all results of a choice. The constant NULL has no bounds."""
    given = [part for part in parts if not is_null(part)] or list(parts)
    low, high = hull([part.bounds for part in given])
    reaches = [magnitudes_of(part) for part in given]
    return ValueProperties(
        type=kind,
        low=low,
        high=high,
        values=union(parts),
        nullable=is_nullable(parts),
        longest=text(max(map(longest_of, given)), nullable=True).longest if kind is Type.TEXT else None,
        magnitudes=Magnitudes(max(r.large for r in reaches), max(r.fine for r in reaches))
        if kind is Type.REAL
        else None,
        person=all(part.person for part in given),
    )


def _case(args: Sequence[ValueProperties], kind: Type) -> ValueProperties:
    return _one_of([*args[1:-1:2], args[-1]], kind)


def _coalesce(args: Sequence[ValueProperties], kind: Type) -> ValueProperties:
    """Ignore the arguments after one that is never NULL."""
    parts = args[: len(list(takewhile(lambda arg: arg.nullable, args))) + 1]
    chosen = _one_of(parts, kind)
    return replace(chosen, values=_without_null(chosen, parts), nullable=all(part.nullable for part in parts))


def _without_null(chosen: ValueProperties, parts: Sequence[ValueProperties]) -> Domain:
    """Keep NULL as a group only if it is a group of every argument, for functions that skip NULLs."""
    if chosen.values is None or all(None in (part.values or ()) for part in parts):
        return chosen.values
    return tuple(value for value in chosen.values if value is not None)


def _nullif(args: Sequence[ValueProperties], kind: Type) -> ValueProperties:
    """Remove the compared constant from the values."""
    chosen, other = _one_of(args[:1], kind), args[1].values
    removed = other if other is not None and len(other) == 1 and other != (None,) else ()
    values = None if args[0].values is None else tuple(value for value in args[0].values if value not in removed)
    return replace(chosen, values=values, nullable=True)


def _extreme(side: int) -> Rule:
    """Return the bounds of LEAST (0) or GREATEST (1): an argument that is never NULL bounds the result."""

    def rule(args: Sequence[ValueProperties], kind: Type) -> ValueProperties:
        chosen = _one_of(args, kind)
        sure = [arg for arg in args if not arg.nullable]
        limit: Bounds = (
            (None, smallest([arg.high for arg in sure])) if side == 0 else (largest([arg.low for arg in sure]), None)
        )
        low, high = overlap(chosen.bounds, limit)
        listed = _without_null(chosen, args) if all(arg.values is not None for arg in args) else None
        values = None if listed is None else tuple(value for value in listed if _is_within(value, low, high))
        return replace(chosen, low=low, high=high, values=values, nullable=not sure, person=False)

    return rule


def _is_within(value: object, low: Fraction | None, high: Fraction | None) -> bool:
    if not isinstance(value, int | float):
        return True
    return (low is None or low <= value) and (high is None or value <= high)


def _bit(args: Sequence[ValueProperties], _: Type) -> ValueProperties:
    bounds = (Fraction(0), Fraction(1))
    return counted(bounds, nullable=is_nullable(args), values=None if args[0].values is None else image(args, int))


# Templates


def _joined(word: str) -> Template:
    def template(sql: Sequence[str], _: Sequence[Expression]) -> str:
        return f"({f' {word} '.join(sql)})"

    return template


def _listed(name: str) -> Template:
    def template(sql: Sequence[str], _: Sequence[Expression]) -> str:
        return f"{name}({', '.join(sql)})"

    return template


def _case_sql(sql: Sequence[str], _: Sequence[Expression]) -> str:
    branches = " ".join(f"WHEN {sql[at]} THEN {sql[at + 1]}" for at in range(0, len(sql) - 1, 2))
    return f"(CASE {branches} ELSE {sql[-1]} END)"


# Records

_B = Type.BOOLEAN
_ORDERED = frozenset(Type) - {Type.BOOLEAN}


def _logical(name: str, word: str, says: str) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=(word,),
        signature=Signature(says=f"a {word} b", takes=(_B, _B), repeats=1, gives=_B),
        nulls=Nulls.RULE,
        properties=truth,
        accepts=None,
        effort=Effort(100),
        engines={"duckdb": _joined(word)},
        says=says,
    )


def _of_one(name: str, word: str, *, usage: str, nulls: Nulls, template: str, says: str) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=(word,),
        signature=Signature(says=usage, takes=(_B,), gives=_B),
        nulls=nulls,
        properties=truth,
        accepts=None,
        effort=Effort(200),
        engines={"duckdb": template},
        says=says,
    )


def _choice(name: str, word: str, *, properties: Rule, among: frozenset[Type], says: str) -> Function:
    return Function(
        name=name,
        version=1,
        spelled=(word,),
        signature=Signature(says=f"{word}(a, b, …)", takes=(None,), repeats=1, gives=None, among=among),
        nulls=Nulls.RULE,
        properties=properties,
        accepts=None,
        effort=Effort(300, 30),
        engines={"duckdb": _in_pairs(word)},
        says=says,
    )


def _in_pairs(word: str) -> Template:
    """Combine two arguments at a time: DuckDB 2.0 fails if a column is repeated among three or more."""

    def template(texts: Sequence[str], _: Sequence[Expression]) -> str:
        return reduce(lambda first, second: f"{word}({first}, {second})", texts)

    return template


RECORDS = (
    _logical("and", "AND", "true if all are true; NULL if undecided"),
    _logical("or", "OR", "true if any is true; NULL if undecided"),
    _of_one("not", "NOT", usage="NOT a", nulls=Nulls.IF_ANY, template="(NOT {0})", says="the opposite"),
    _of_one(
        "is_true",
        "IS TRUE",
        usage="a IS TRUE",
        nulls=Nulls.NEVER,
        template="({0} IS TRUE)",
        says="whether the value is true; false for NULL",
    ),
    _of_one(
        "is_false",
        "IS FALSE",
        usage="a IS FALSE",
        nulls=Nulls.NEVER,
        template="({0} IS FALSE)",
        says="whether the value is false; false for NULL",
    ),
    Function(
        name="case",
        version=1,
        spelled=("CASE", "IF", "IFF"),
        signature=Signature(
            says="CASE WHEN a THEN x … ELSE y END", takes=(_B, None), repeats=2, last=(None,), gives=None
        ),
        nulls=Nulls.RULE,
        properties=_case,
        accepts=None,
        effort=Effort(300, 12),
        engines={"duckdb": _case_sql},
        says="the value of the first condition that is true; without ELSE, NULL",
    ),
    _choice(
        "coalesce", "COALESCE", properties=_coalesce, among=frozenset(Type), says="the first value that is not NULL"
    ),
    Function(
        name="nullif",
        version=1,
        spelled=("NULLIF",),
        signature=Signature(says="NULLIF(a, b)", takes=(None, None), gives=None),
        nulls=Nulls.RULE,
        properties=_nullif,
        accepts=None,
        effort=Effort(300, 12),
        engines={"duckdb": "(CASE WHEN ({0} = {1}) THEN NULL ELSE {0} END)"},
        says="NULL if both are equal, else the first",
    ),
    _choice("least", "LEAST", properties=_extreme(0), among=_ORDERED, says="the least value; NULLs are skipped"),
    _choice(
        "greatest", "GREATEST", properties=_extreme(1), among=_ORDERED, says="the greatest value; NULLs are skipped"
    ),
    Function(
        name="to_int",
        version=1,
        spelled=("CAST",),
        signature=Signature(says="CAST(a AS INTEGER)", takes=(_B,), gives=Type.INTEGER),
        nulls=Nulls.IF_ANY,
        properties=_bit,
        accepts=None,
        effort=Effort(150),
        engines={"duckdb": "CAST({0} AS BIGINT)"},
        says="1 for true, 0 for false",
    ),
)
register(*RECORDS)
