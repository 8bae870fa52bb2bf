"""Comparisons. They return true, false or NULL, as in standard SQL."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.algebra.expressions import Expression
from discreet.algebra.functions.record_rules import truth
from discreet.algebra.registry import Effort, Function, Nulls, Signature, register
from discreet.catalog import Type


def _operator(name: str, spelled: tuple[str, ...], says: str) -> Function:
    sign = spelled[0]
    return Function(
        name=name,
        version=1,
        spelled=spelled,
        signature=Signature(says=f"a {sign} b", takes=(None, None), gives=Type.BOOLEAN),
        nulls=Nulls.IF_ANY,
        properties=truth,
        accepts=None,
        effort=Effort(250, 12),
        engines={"duckdb": f"({{0}} {sign} {{1}})"},
        says=says,
    )


def _never_null(name: str, sign: str, operands: int, says: str) -> Function:
    template = f"({{0}} {sign})" if operands == 1 else f"({{0}} {sign} {{1}})"
    return Function(
        name=name,
        version=1,
        spelled=(sign,),
        signature=Signature(says=template.format("a", "b")[1:-1], takes=(None,) * operands, gives=Type.BOOLEAN),
        nulls=Nulls.NEVER,
        properties=truth,
        accepts=None,
        effort=Effort(250, 12),
        engines={"duckdb": template},
        says=says,
    )


def _in(sql: Sequence[str], _: Sequence[Expression]) -> str:
    return f"({sql[0]} IN ({', '.join(sql[1:])}))"


RECORDS = (
    _operator("eq", ("=", "=="), "whether two values are equal; texts are compared by code points"),
    _operator("ne", ("<>", "!="), "whether two values differ"),
    _operator("lt", ("<",), "less than; false is less than true, texts are ordered by code points"),
    _operator("le", ("<=",), "less than or equal"),
    _operator("gt", (">",), "greater than"),
    _operator("ge", (">=",), "greater than or equal"),
    _never_null("same", "IS NOT DISTINCT FROM", 2, "equal, where NULL equals NULL"),
    _never_null("differs", "IS DISTINCT FROM", 2, "different, where NULL equals NULL"),
    _never_null("is_null", "IS NULL", 1, "whether the value is NULL"),
    _never_null("not_null", "IS NOT NULL", 1, "whether the value is not NULL"),
    Function(
        name="between",
        version=1,
        spelled=("BETWEEN",),
        signature=Signature(says="x BETWEEN low AND high", takes=(None, None, None), gives=Type.BOOLEAN),
        nulls=Nulls.RULE,
        properties=truth,
        accepts=None,
        effort=Effort(250, 12),
        engines={"duckdb": "({0} BETWEEN {1} AND {2})"},
        says="between low and high, both included",
    ),
    Function(
        name="in",
        version=1,
        spelled=("IN",),
        signature=Signature(says="x IN (a, b, …)", takes=(None, None), repeats=1, gives=Type.BOOLEAN),
        nulls=Nulls.RULE,
        properties=truth,
        accepts=None,
        effort=Effort(250, 12),
        engines={"duckdb": _in},
        says="whether a value is one of several; NULL if it is not and one of them is NULL",
    ),
)
register(*RECORDS)
