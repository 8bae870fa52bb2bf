"""Aggregates within one person's rows: exact, independent of the order of rows, with derived bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from discreet.algebra.aggregates import Aggregate, Fold
from discreet.algebra.expressions import Expression, Field, Literal, call
from discreet.algebra.grids import Grid, grid_for
from discreet.algebra.relations import PerPerson
from discreet.algebra.value_properties import ValueProperties
from discreet.catalog import Type
from discreet.errors import NotAllowed, UnknownName
from discreet.sql.expressions.row_expressions import only, spoken
from discreet.sql.expressions.type_matching import condition
from discreet.sql.reader.reader_model import Context, Environment
from discreet.sql.reader.scope import Scope, all_of

_FOLDS: dict[type[exp.Expr], Fold] = {
    exp.Sum: Fold.SUM, exp.Avg: Fold.AVERAGE, exp.Min: Fold.LEAST, exp.Max: Fold.LARGEST,
    exp.LogicalOr: Fold.ANY, exp.LogicalAnd: Fold.EVERY,
}  # fmt: skip
_KNOWN = "COUNT, SUM, AVG, MIN, MAX, BOOL_OR or BOOL_AND"


def aggregates_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the aggregates of an expression outside of subqueries. A window function counts only with its arguments."""
    if isinstance(node, exp.Subquery | exp.Exists | exp.Select):
        return
    if isinstance(node, exp.Window):
        inner = node.this.this if isinstance(node.this, exp.Filter | exp.IgnoreNulls) else node.this
        children = [*inner.iter_expressions(), *(child for child in node.iter_expressions() if child is not node.this)]
    elif isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
        yield node
        return
    else:
        children = [
            child
            for child in node.iter_expressions()
            if not (isinstance(node, exp.In) and child is node.args.get("query"))
        ]
    for child in children:
        yield from aggregates_in(child)


def aggregate(node: exp.Expr, env: Environment) -> Aggregate:
    """Read an aggregate over the rows of the scope."""
    where: Expression | None = None
    if isinstance(node, exp.Filter):
        where = condition(env.read(node.expression.this))
        node = node.this
    if isinstance(node, exp.Count):
        only(node, "this", "big_int")
        return _count(node.this, where, env)
    if isinstance(node, exp.CountIf):
        only(node, "this", "big_int")
        counted = condition(env.read(node.this))
        return Aggregate(Fold.ROWS, None, counted if where is None else all_of([where, counted]))
    fold = _FOLDS.get(type(node))
    if fold is None:
        raise NotAllowed(f"{spoken(node)} is not supported within the rows of one person.", next_step=f"Use {_KNOWN}.")
    only(node, "this")
    if isinstance(node.this, exp.Distinct):
        raise NotAllowed("DISTINCT is supported only in COUNT(DISTINCT …).", next_step="Remove DISTINCT.")
    return _folded(
        fold, env.read(node.this), where, env, name=node.this.name if isinstance(node.this, exp.Column) else None
    )


def _count(argument: exp.Expr, where: Expression | None, env: Environment) -> Aggregate:
    if isinstance(argument, exp.Star):
        only(argument)
        return Aggregate(Fold.ROWS, None, where)
    if isinstance(argument, exp.Distinct):
        parts = argument.expressions
        if len(parts) != 1 or isinstance(parts[0].unnest(), exp.Tuple):
            raise NotAllowed(
                "COUNT(DISTINCT …) takes one column here.", next_step="Write one COUNT(DISTINCT x) for each column."
            )
        return Aggregate(Fold.DISTINCT, env.read(parts[0]), where)
    value = env.read(argument)
    if isinstance(value, Literal) and value.value is not None:
        return Aggregate(Fold.ROWS, None, where)
    return Aggregate(Fold.PRESENT, value, where)


def _folded(
    fold: Fold, value: Expression, where: Expression | None, env: Environment, *, name: str | None
) -> Aggregate:
    steps: Grid | None = None
    if fold in (Fold.SUM, Fold.AVERAGE):
        if value.properties.type is Type.BOOLEAN:
            value = call("to_int", value)
        if value.properties.type is Type.REAL:
            steps = _steps(value, env.scope, env.context, name=name)
    return Aggregate(fold, value, where, steps)


def _steps(value: Expression, scope: Scope, context: Context, *, name: str | None) -> Grid:
    """Return the grid on which reals are summed. Public values use the bounds found in their table."""
    stored = scope.relation.columns[value.at].step if isinstance(value, Field) and value.at < scope.width else None
    return grid_for(bounded(value, scope, context), stored, name=name)


def bounded(value: Expression, scope: Scope, context: Context) -> ValueProperties:
    """Return the properties of a value. Undeclared bounds of public values are looked up in their table."""
    properties = value.properties
    if properties.type not in (Type.INTEGER, Type.REAL) or (properties.low is not None and properties.high is not None):
        return properties
    if scope.is_public:
        ends = context.lookup.ends(scope.relation, scope.rebase(value))
    elif properties.origin is not None:
        ends = context.lookup.ends(properties.origin.relation, properties.origin.expression)
    else:
        return properties
    low, high = ends or (Fraction(0), Fraction(0))
    return replace(properties, low=low, high=high)


@dataclass(eq=False, kw_only=True)
class Grouped(Scope):
    """The scope of a SELECT after GROUP BY: one row per person and keys, with the aggregates."""

    base: Scope
    keys: list[tuple[exp.Expr, Expression]]
    values: dict[int, int]
    """Position of each aggregate's column, by the id of its node."""

    def replacement(self, node: exp.Expr, env: Environment) -> Expression | None:
        if id(node) in self.values:
            return self.relation.field(self.values[id(node)])
        for at, (key, _) in enumerate(self.keys):
            if node == key:
                return self._key(at)
        if (
            isinstance(node, exp.Column)
            or node.find(exp.Column) is None
            or node.find(exp.AggFunc, exp.Window, exp.Select)
        ):
            return None
        try:
            return self._match(env.reading(node, replace(env, scope=self.base)))
        except UnknownName:  # it contains an alias of SELECT
            return None

    def locate(self, column: exp.Column) -> Expression | None:
        own = self.base.locate(column)
        if own is None:
            return None
        position = self._match(own)
        if position is None:
            raise NotAllowed(
                f"The column {column.name} is neither in GROUP BY nor inside an aggregate.",
                next_step="Add it to GROUP BY, or use MIN or MAX of it.",
            )
        return position

    def matching_positions(self, column: exp.Column) -> list[int]:
        return self.base.matching_positions(column)

    def columns(self, called: str = "") -> list[tuple[str, Expression]]:
        own = [(name, self._match(expression)) for name, expression in self.base.columns(called)]
        if any(position is None for _, position in own):
            raise NotAllowed("* includes columns that are not in GROUP BY.", next_step="List the columns by name.")
        return [(name, position) for name, position in own if position is not None]

    def _match(self, expression: Expression) -> Expression | None:
        if not self.is_public and self.base.is_person(expression):
            return self.relation.field(0)
        return next((self._key(at) for at, (_, key) in enumerate(self.keys) if key == expression), None)

    def _key(self, at: int) -> Field:
        return self.relation.field(at if self.is_public else at + 1)


def grouped(
    base: Scope, keys: Sequence[tuple[exp.Expr, Expression]], nodes: Sequence[exp.Expr], env: Environment
) -> Grouped:
    """Group by the person and the other keys."""
    others: list[tuple[exp.Expr, Expression]] = []
    for node, key in keys:
        if not (base.is_person(key) and not base.is_public) and all(key != known for _, known in others):
            others.append((node, key))
    aggregates: list[Aggregate] = []
    positions: list[int] = []
    for node in nodes:
        folded = aggregate(node, env)
        if folded not in aggregates:
            aggregates.append(folded)
        positions.append(aggregates.index(folded))
    relation = PerPerson(
        base.relation,
        tuple(base.rebase(key) for _, key in others),
        tuple(rebase_aggregate(base, part) for part in aggregates),
    )
    first = len(others) + (0 if base.is_public else 1)
    values = {id(node): first + position for node, position in zip(nodes, positions, strict=True)}
    return Grouped(relation, [], base.parent, base=base, keys=others, values=values, windows=base.windows)


def rebase_aggregate(scope: Scope, part: Aggregate) -> Aggregate:
    """Return the aggregate over the current relation."""
    value = None if part.value is None else scope.rebase(part.value)
    where = None if part.where is None else scope.rebase(part.where)
    return replace(part, value=value, where=where)
