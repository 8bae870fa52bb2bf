"""Read SQL expressions over noisy results: what may be computed after the noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from sqlglot import exp

from discreet.algebra.released_expressions import After, Apply, Constant, Over
from discreet.catalog import Type
from discreet.errors import NotAllowed, TooLarge
from discreet.sql.reader.error_location import refusal_at

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "//", exp.Mod: "%", exp.Neg: "neg",
}  # fmt: skip
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "=", exp.NEQ: "<>",
}  # fmt: skip
_LOGIC: dict[type[exp.Expr], str] = {exp.And: "and", exp.Or: "or", exp.Not: "not"}
_NUMERIC: dict[type[exp.Expr], str] = {
    exp.Abs: "abs", exp.Sqrt: "sqrt", exp.Floor: "floor", exp.Ceil: "ceil", exp.Round: "round", exp.Ln: "ln",
    exp.Exp: "exp", exp.Pow: "pow",
}  # fmt: skip
_ALIKE: dict[type[exp.Expr], str] = {
    exp.Least: "least", exp.Greatest: "greatest", exp.Coalesce: "coalesce", exp.Nullif: "nullif",
}  # fmt: skip
_CASTS = {
    exp.DataType.Type.INT: ("cast_int", Type.INTEGER), exp.DataType.Type.BIGINT: ("cast_int", Type.INTEGER),
    exp.DataType.Type.DOUBLE: ("cast_real", Type.REAL), exp.DataType.Type.FLOAT: ("cast_real", Type.REAL),
    exp.DataType.Type.DECIMAL: ("cast_real", Type.REAL), exp.DataType.Type.VARCHAR: ("cast_text", Type.TEXT),
    exp.DataType.Type.TEXT: ("cast_text", Type.TEXT),
}  # fmt: skip
FOLDS: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max", exp.Count: "count"}
_RANKS: dict[type[exp.Expr], str] = {exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank"}
_NUMBERS = {Type.INTEGER, Type.REAL}
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Computed:
    """An expression after the noise with its type. The type of NULL is None and is compatible with every type."""

    value: After
    type: Type | None


class ReleasedExpressionReader(ABC):
    """Reads expressions over noisy results. Subclasses resolve columns and aggregates."""

    def read(self, node: exp.Expr, depth: int = 0) -> Computed:
        """Read an expression, or refuse it."""
        if depth > _DEEPEST:
            raise TooLarge("This expression is nested too deeply.", next_step="Use fewer levels of nesting.")
        with refusal_at(node):
            if isinstance(node, exp.Paren):
                return self.read(node.this, depth + 1)
            if isinstance(node, exp.Star):
                raise NotAllowed(
                    "Individual rows are never returned.",
                    next_step="Use an aggregate such as COUNT(*), or `discreet dummy` to see made-up rows.",
                )
            if isinstance(node, exp.Literal | exp.Null | exp.Boolean):
                return _constant(node)
            if isinstance(node, exp.Window):
                return self._window(node, depth)
            known = self.leaf(node)
            return known if known is not None else self._applied(node, depth)

    @abstractmethod
    def leaf(self, node: exp.Expr) -> Computed | None:
        """Resolve an aggregate, key or column; return None for an operator."""

    def _applied(self, node: exp.Expr, depth: int) -> Computed:
        kind = type(node)
        if kind in _LOGIC:
            return self._typed(_LOGIC[kind], _operands(node), {Type.BOOLEAN}, depth, gives=Type.BOOLEAN)
        if kind in _OPERATORS or kind in _NUMERIC:
            op = _OPERATORS.get(kind) or _NUMERIC[kind]
            return self._typed(op, _operands(node), _NUMBERS, depth, gives=Type.REAL)
        if kind in _ALIKE:
            return self._same_types(_ALIKE[kind], _operands(node), depth)
        if isinstance(node, exp.Case | exp.If):
            return self._case(node, depth)
        if isinstance(node, exp.Cast | exp.TryCast):
            return self._cast(node, depth)
        if isinstance(node, exp.DPipe | exp.Concat):
            args = tuple(self.read(part, depth + 1).value for part in _operands(node))
            return Computed(Apply("concat", args), Type.TEXT)
        return self._condition(node, depth)

    def _condition(self, node: exp.Expr, depth: int) -> Computed:
        if type(node) in _COMPARISONS:
            return self._compared(_COMPARISONS[type(node)], [node.this, node.expression], depth)
        if isinstance(node, exp.Between):
            return self._compared("between", [node.this, node.args["low"], node.args["high"]], depth)
        if isinstance(node, exp.In) and node.expressions and not node.args.get("query"):
            return self._compared("in", [node.this, *node.expressions], depth)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return Computed(Apply("is_null", (self.read(node.this, depth + 1).value,)), Type.BOOLEAN)
        raise NotAllowed(
            "This expression cannot be computed from noisy results.",
            next_step="Use arithmetic, comparisons, CASE, CAST, ROUND, ABS, LEAST, GREATEST or COALESCE over aggregates.",
        )

    def _typed(self, op: str, nodes: list[exp.Expr], allowed: set[Type], depth: int, *, gives: Type) -> Computed:
        parts = [self.read(node, depth + 1) for node in nodes]
        if any(part.type is not None and part.type not in allowed for part in parts):
            raise _type_mismatch()
        return Computed(Apply(op, tuple(part.value for part in parts)), gives)

    def _same_types(self, op: str, nodes: list[exp.Expr], depth: int) -> Computed:
        parts = [self.read(node, depth + 1) for node in nodes]
        return Computed(Apply(op, tuple(part.value for part in parts)), _common([part.type for part in parts]))

    def _compared(self, op: str, nodes: list[exp.Expr], depth: int) -> Computed:
        return Computed(self._same_types(op, nodes, depth).value, Type.BOOLEAN)

    def _case(self, node: exp.Expr, depth: int) -> Computed:
        branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
        conditions = [branch.this for branch in branches]
        if isinstance(node, exp.Case) and node.this is not None:
            conditions = [exp.EQ(this=node.this.copy(), expression=condition.copy()) for condition in conditions]
        read = [self.read(condition, depth + 1) for condition in conditions]
        if any(condition.type not in (Type.BOOLEAN, None) for condition in read):
            raise _type_mismatch()
        last = node.args.get("default" if isinstance(node, exp.Case) else "false")
        results = [self.read(branch.args["true"], depth + 1) for branch in branches]
        results.append(_constant(exp.Null()) if last is None else self.read(last, depth + 1))
        pairs = [part.value for pair in zip(read, results[:-1], strict=True) for part in pair]
        return Computed(Apply("case", (*pairs, results[-1].value)), _common([result.type for result in results]))

    def _cast(self, node: exp.Expr, depth: int) -> Computed:
        known = _CASTS.get(node.args["to"].this)
        if known is None:
            raise NotAllowed(
                "CAST to this type is not supported.", next_step="Cast to INTEGER, DOUBLE or VARCHAR instead."
            )
        return Computed(Apply(known[0], (self.read(node.this, depth + 1).value,)), known[1])

    def _window(self, node: exp.Window, depth: int) -> Computed:
        if node.args.get("spec") or node.args.get("alias") or node.args.get("first"):
            raise NotAllowed(
                "Over noisy results, window frames and named windows are not supported.", next_step="Remove the frame."
            )
        function = node.this
        partition = tuple(self.read(part, depth + 1).value for part in node.args.get("partition_by") or ())
        ordered = node.args["order"].expressions if node.args.get("order") else []
        order = tuple((self.read(part.this, depth + 1).value, bool(part.args.get("desc"))) for part in ordered)
        if type(function) in _RANKS:
            return Computed(Over(_RANKS[type(function)], (), partition, order), Type.INTEGER)
        if type(function) not in FOLDS:
            raise NotAllowed(
                "This window function is not supported over noisy results.",
                next_step="Use SUM, AVG, MIN, MAX, COUNT, ROW_NUMBER or RANK.",
            )
        if isinstance(function, exp.Count) and isinstance(function.this, exp.Star):
            return Computed(Over("count", (), partition, order), Type.INTEGER)
        argument = self.read(function.this, depth + 1)
        if FOLDS[type(function)] in ("sum", "avg") and argument.type not in (*_NUMBERS, None):
            raise _type_mismatch()
        return Computed(Over(FOLDS[type(function)], (argument.value,), partition, order), argument.type)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an expression contains an aggregate or window function outside of subqueries."""
    if isinstance(node, exp.Subquery | exp.Exists) or (isinstance(node, exp.In) and node.args.get("query")):
        return False
    if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.Window | exp.Grouping):
        return True
    return any(has_aggregate(child) for child in node.iter_expressions())


def _operands(node: exp.Expr) -> list[exp.Expr]:
    parts = [node.this, node.args.get("expression"), *node.args.get("expressions", ()), node.args.get("decimals")]
    return [part for part in parts if isinstance(part, exp.Expr)]


def _constant(node: exp.Expr) -> Computed:
    if isinstance(node, exp.Null):
        return Computed(Constant(None), None)
    if isinstance(node, exp.Boolean):
        return Computed(Constant(bool(node.this)), Type.BOOLEAN)
    if node.is_string:
        return Computed(Constant(node.name), Type.TEXT)
    if node.name.isdecimal():
        return Computed(Constant(int(node.name)), Type.INTEGER)
    return Computed(Constant(float(node.name)), Type.REAL)


def _common(types: list[Type | None]) -> Type | None:
    known = {kind for kind in types if kind is not None}
    if len(known) == 2 and Type.TEXT in known and known & {Type.DATE, Type.TIMESTAMP}:
        return next(iter(known - {Type.TEXT}))  # noisy dates are compared as ISO text
    if len(known) > 1 and not known <= _NUMBERS:
        raise _type_mismatch()
    return Type.REAL if len(known) > 1 else next(iter(known), None)


def _type_mismatch() -> NotAllowed:
    return NotAllowed(
        "Noisy results can be combined and compared only with values of the same type.",
        next_step="Compare numbers with numbers here. Conditions on columns belong into WHERE.",
    )
