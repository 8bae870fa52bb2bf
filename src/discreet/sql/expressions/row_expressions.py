"""Translate SQL expressions over rows to expressions of the algebra.

Every name is resolved, and every function is looked up in the registry. A table maps the parser's node classes to SQL
spellings; anything without a record in the registry is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sqlglot import exp

from discreet.algebra.expressions import Expression, Literal, call
from discreet.algebra.value_properties import LARGEST_INTEGER
from discreet.catalog import Type
from discreet.errors import NotAllowed, TooLarge
from discreet.sql.expressions.date_expressions import DAYS
from discreet.sql.expressions.type_matching import (
    CASTS_KNOWN,
    apply,
    as_type,
    cast,
    condition,
    is_null,
    to_common_type,
    type_mismatch,
    unsupported,
)
from discreet.sql.reader.error_location import refusal_at
from discreet.sql.reader.reader_model import Context, Environment, Names
from discreet.sql.reader.scope import Scope

Rule: TypeAlias = Callable[[Any, Environment], Expression]
CASTS = {
    exp.DataType.Type.INT: Type.INTEGER, exp.DataType.Type.BIGINT: Type.INTEGER, exp.DataType.Type.DOUBLE: Type.REAL,
    exp.DataType.Type.FLOAT: Type.REAL, exp.DataType.Type.VARCHAR: Type.TEXT, exp.DataType.Type.TEXT: Type.TEXT,
    exp.DataType.Type.DATE: Type.DATE, exp.DataType.Type.BOOLEAN: Type.BOOLEAN,
    exp.DataType.Type.TIMESTAMP: Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ: Type.TIMESTAMP,
}  # fmt: skip
WORDS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Mul: ("*", ("this", "expression")), exp.Div: ("/", ("this", "expression")),
    exp.IntDiv: ("//", ("this", "expression")), exp.Mod: ("%", ("this", "expression")),
    exp.EQ: ("=", ("this", "expression")), exp.NEQ: ("<>", ("this", "expression")),
    exp.LT: ("<", ("this", "expression")), exp.LTE: ("<=", ("this", "expression")),
    exp.GT: (">", ("this", "expression")), exp.GTE: (">=", ("this", "expression")),
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", ("this", "expression")),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", ("this", "expression")),
    exp.Between: ("BETWEEN", ("this", "low", "high")), exp.Nullif: ("NULLIF", ("this", "expression")),
    exp.Coalesce: ("COALESCE", ("this", "expressions")), exp.Least: ("LEAST", ("this", "expressions")),
    exp.Greatest: ("GREATEST", ("this", "expressions")),
    exp.Abs: ("ABS", ("this",)), exp.Sign: ("SIGN", ("this",)), exp.Sqrt: ("SQRT", ("this",)), exp.Exp: ("EXP", ("this",)),
    exp.Ln: ("LN", ("this",)), exp.Pow: ("POW", ("this", "expression")), exp.Floor: ("FLOOR", ("this", "decimals")),
    exp.Ceil: ("CEIL", ("this", "decimals")), exp.Round: ("ROUND", ("this", "decimals")), exp.Trunc: ("TRUNC", ("this", "decimals")),
    exp.WidthBucket: ("WIDTH_BUCKET", ("this", "min_value", "max_value", "num_buckets")),
    exp.Lower: ("LOWER", ("this",)), exp.Upper: ("UPPER", ("this",)), exp.Length: ("LENGTH", ("this",)),
    exp.Substring: ("SUBSTRING", ("this", "start", "length")), exp.Left: ("LEFT", ("this", "expression")),
    exp.Right: ("RIGHT", ("this", "expression")), exp.StartsWith: ("STARTS_WITH", ("this", "expression")),
    exp.EndsWith: ("ENDS_WITH", ("this", "expression")), exp.Contains: ("CONTAINS", ("this", "expression")),
    exp.StrPosition: ("STRPOS", ("this", "substr")), exp.Replace: ("REPLACE", ("this", "expression", "replacement")),
    exp.SplitPart: ("SPLIT_PART", ("this", "delimiter", "part_index")),
}  # fmt: skip
"""The SQL spelling of each node class, and the names of its arguments in the node."""
_HARMLESS = {"safe", "typed", "ignore_nulls", "coalesce"}
"""Node arguments that the parser's DuckDB dialect sets on its own. They can be ignored."""
_DEEPEST = 150


def expression(node: exp.Expr, scope: Scope, context: Context, names: Names) -> Expression:
    """Translate an expression over the relation of a scope, or refuse it."""
    if _depth(node) > _DEEPEST:
        raise TooLarge("This expression is nested too deeply.", next_step="Use fewer levels of nesting.")
    return reading(node, Environment(scope, context, names, reading))


def predicate(node: exp.Expr, scope: Scope, context: Context, names: Names) -> Expression:
    """Translate a condition over the relation of a scope, or refuse it."""
    return condition(expression(node, scope, context, names))


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of a condition that are connected by AND, in order."""
    parts, waiting = [], [node]
    while waiting:
        inner = waiting.pop().unnest()
        if isinstance(inner, exp.And):
            waiting += [inner.right, inner.left]
        else:
            parts.append(inner)
    return parts


def _depth(node: exp.Expr) -> int:
    """Return the depth of an expression. A chain of ANDs, or of ORs, is one level."""
    deepest, waiting = 0, [(node, 1)]
    while waiting:
        inner, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(child, level if _continues(child, inner) else level + 1) for child in inner.iter_expressions()]
    return deepest


def _continues(child: exp.Expr, node: exp.Expr) -> bool:
    return isinstance(child, exp.Connector) and type(child) is type(node)


def reading(node: exp.Expr, env: Environment) -> Expression:
    """Translate a node: an aggregate or key that has a column, a subquery, a window function, or a function call."""
    with refusal_at(node):
        special = env.scope.replacement(node, env)
        if special is None:
            special = env.context.special(node, env)
        if special is not None:
            return special
        rule = _RULES.get(type(node)) or DAYS.get(type(node))
        if rule is not None:
            return rule(node, env)
        if type(node) in WORDS:
            word, arguments = WORDS[type(node)]
            only(node, *arguments)
            return apply(word, *_arguments(node, arguments, env))
        raise unsupported(spoken(node))


def _arguments(node: exp.Expr, arguments: tuple[str, ...], env: Environment) -> list[Expression]:
    given: list[exp.Expr] = []
    for name in arguments:
        value = node.args.get(name)
        given += value if isinstance(value, list) else [] if value is None else [value]
    return [env.read(part) for part in given]


def only(node: exp.Expr, *arguments: str) -> None:
    """Refuse a node that has more arguments than those that are read."""
    if any(value for name, value in node.args.items() if name not in arguments and name not in _HARMLESS):
        raise NotAllowed(
            f"This use of {spoken(node)} is not supported.",
            next_step="See the SQL reference in the documentation for the supported forms.",
        )


def spoken(node: exp.Expr) -> str:
    """Return the name of a node for a refusal."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return type(node).sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()


# Names and constants


def _column(node: exp.Column, env: Environment) -> Expression:
    if not isinstance(node.this, exp.Identifier):
        raise unsupported("*")
    alias = env.scope.aliases.get(node.name.lower()) if not node.table else None
    if alias is None or env.scope.locate(node) is not None:
        return env.scope.resolve(node)
    env.scope.aliases = {name: other for name, other in env.scope.aliases.items() if other is not alias}
    try:
        return env.read(alias)
    finally:
        env.scope.aliases[node.name.lower()] = alias


def _literal(node: exp.Literal, _: Environment) -> Expression:
    if node.is_string:
        return Literal(Type.TEXT, node.name)
    if not node.name.isdecimal():
        return Literal(Type.REAL, float(node.name))
    value = int(node.name)
    if value > LARGEST_INTEGER:
        raise TooLarge(
            "A whole number in the query exceeds 64 bits.", next_step="Write it as a decimal number, for example 1e20."
        )
    return Literal(Type.INTEGER, value)


def _negative(node: exp.Neg, env: Environment) -> Expression:
    only(node, "this")
    inner = env.read(node.this)
    if isinstance(inner, Literal) and isinstance(inner.value, int | float) and not isinstance(inner.value, bool):
        return Literal(inner.type, -inner.value or type(inner.value)(0))
    return apply("-", inner)


# Logic


def _connected(node: exp.Connector, env: Environment) -> Expression:
    """Translate a chain of ANDs, or of ORs, to one call."""
    parts: list[exp.Expr] = []
    waiting: list[exp.Expr] = [node]
    while waiting:
        inner = waiting.pop().unnest()
        if type(inner) is type(node):
            waiting += [inner.right, inner.left]
        else:
            parts.append(inner)
    return apply("AND" if isinstance(node, exp.And) else "OR", *(condition(env.read(part)) for part in parts))


def _not(node: exp.Not, env: Environment) -> Expression:
    inner = node.this.unnest()
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        return apply("IS NOT NULL", env.read(inner.this))
    return apply("NOT", condition(env.read(node.this)))


def _is(node: exp.Is, env: Environment) -> Expression:
    only(node, "this", "expression")
    inner = env.read(node.this)
    if isinstance(node.expression, exp.Null):
        return apply("IS NULL", inner)
    if not isinstance(node.expression, exp.Boolean) or (
        inner.properties.type is not Type.BOOLEAN and not is_null(inner)
    ):
        raise type_mismatch()
    return call("is_true" if node.expression.this else "is_false", condition(inner))


def _in(node: exp.In, env: Environment) -> Expression:
    only(node, "this", "expressions")
    if not node.expressions:
        raise unsupported("IN")
    return apply("IN", env.read(node.this), *(env.read(part) for part in node.expressions))


def _like(node: exp.Like | exp.ILike, env: Environment) -> Expression:
    only(node, "this", "expression", "negate")
    result = apply("LIKE" if isinstance(node, exp.Like) else "ILIKE", env.read(node.this), env.read(node.expression))
    return apply("NOT", result) if node.args.get("negate") else result


def _case(node: exp.Case | exp.If, env: Environment) -> Expression:
    only(node, "this", "ifs", "default", "true", "false")
    branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    operand = node.this if isinstance(node, exp.Case) else None
    tests = [
        exp.EQ(this=operand.copy(), expression=branch.this.copy()) if operand else branch.this for branch in branches
    ]
    last = node.args.get("default" if isinstance(node, exp.Case) else "false")
    values = [env.read(branch.args["true"]) for branch in branches]
    values = to_common_type([*values, env.read(last) if last is not None else Literal(Type.BOOLEAN, None)])
    conditions = [condition(env.read(test)) for test in tests]
    pairs = [part for pair in zip(conditions, values[:-1], strict=True) for part in pair]
    return call("case", *pairs, values[-1])


# Functions


def _cast(node: exp.Cast, env: Environment) -> Expression:
    only(node, "this", "to")
    to = node.args["to"]
    if to.this not in CASTS or to.expressions:
        raise NotAllowed("CAST to this type is not supported.", next_step=CASTS_KNOWN)
    value, kind = env.read(node.this), CASTS[to.this]
    is_written = isinstance(value, Literal) and not isinstance(node, exp.TryCast)
    if is_written and kind in (Type.DATE, Type.TIMESTAMP) and value.properties.type is Type.TEXT:
        return as_type(value, kind)  # a constant date that does not exist is an error, not NULL
    return cast(value, kind)


def _logarithm(node: exp.Log, env: Environment) -> Expression:
    """Read LOG(x), LOG10(x) and LOG2(x). The parser puts the base first."""
    only(node, "this", "expression")
    if node.expression is None or node.args.get("expression") is None:
        return apply("LOG", env.read(node.this))
    word = {"10": "LOG10", "2": "LOG2"}.get(node.this.name if isinstance(node.this, exp.Literal) else "")
    if word is None:
        raise NotAllowed(
            "LOG supports only the bases 10 and 2.", next_step="For another base, divide logarithms: LN(x) / LN(3)."
        )
    return apply(word, env.read(node.expression))


def _trim(node: exp.Trim, env: Environment) -> Expression:
    only(node, "this", "position")
    side = node.args.get("position")
    return apply({"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(side or "", "TRIM"), env.read(node.this))


def _concat(node: exp.Concat, env: Environment) -> Expression:
    only(node, "expressions")
    return apply("CONCAT", *(_text(env.read(part)) for part in node.expressions))


def _piped(node: exp.DPipe, env: Environment) -> Expression:
    only(node, "this", "expression")
    return apply("||", _text(env.read(node.this)), _text(env.read(node.expression)))


def _text(inner: Expression) -> Expression:
    """Convert integers, dates and timestamps to text."""
    return cast(inner, Type.TEXT) if inner.properties.type in (Type.INTEGER, Type.DATE, Type.TIMESTAMP) else inner


def _paren(node: exp.Paren, env: Environment) -> Expression:
    return env.read(node.this)


def _boolean(node: exp.Boolean, _: Environment) -> Expression:
    return Literal(Type.BOOLEAN, bool(node.this))


def _null(_: exp.Null, __: Environment) -> Expression:
    return Literal(Type.BOOLEAN, None)


_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Column: _column, exp.Literal: _literal, exp.Boolean: _boolean, exp.Null: _null, exp.Paren: _paren, exp.Neg: _negative,
    exp.And: _connected, exp.Or: _connected, exp.Not: _not, exp.Is: _is, exp.In: _in, exp.Like: _like, exp.ILike: _like,
    exp.Case: _case, exp.If: _case, exp.Cast: _cast, exp.TryCast: _cast, exp.Log: _logarithm, exp.Trim: _trim,
    exp.Concat: _concat, exp.DPipe: _piped,
}  # fmt: skip
