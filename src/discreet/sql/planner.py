"""Text to plan: every rule that decides whether a question is private, and at what price."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import sqlglot
from sqlglot import exp

from discreet.catalog import Catalog, Type
from discreet.errors import NeedsDelta, NotAllowed, TooLarge, UnparsableQuery
from discreet.exact import Number, power_of_two_below, read_delta, read_epsilon
from discreet.mechanisms import Laplace, PartitionSelection
from discreet.sql.expressions import bounds, check
from discreet.sql.plan import Key, KeyValue, Kind, Measure, Output, Plan, Post
from discreet.sql.relations import PublicFacts, Read, read_relation

_LONGEST = 20_000
_MOST_GROUPS = 10**6
_NUMBER = re.compile(r"(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,2})?")
_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "kind", "hint"}
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Neg: "neg",
    exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "=", exp.NEQ: "<>",
    exp.And: "and", exp.Or: "or", exp.Not: "not",
}  # fmt: skip


def plan_query(sql: str, catalog: Catalog, facts: PublicFacts, *, epsilon: Number, delta: Number | None = None) -> Plan:
    """The plan of a question, or a refusal by name. Reads the catalog and public tables, nothing else."""
    total = read_epsilon(epsilon)
    select = _parsed(sql)
    read = read_relation(select, catalog, facts)
    builder = _Builder(read, facts)
    builder.read_keys(select)
    outputs = tuple(builder.output(node) for node in select.expressions)
    having = builder.lift(select.args["having"].this) if select.args.get("having") else None
    order = tuple(
        builder.ordered(node, outputs)
        for node in (select.args["order"].expressions if select.args.get("order") else ())
    )
    if not builder.measures:
        raise NotAllowed("A question must count, sum or average something.", next_step="Add COUNT(*).")
    selects = any(key.domain is None for key in builder.keys)
    if selects and delta is None:
        raise NeedsDelta(
            "The values of a group key are not declared, so which groups exist is private.",
            next_step="Ask the owner to declare the values, or give a delta, which this question then costs.",
        )
    share = total / (len(builder.measures) + selects)
    plan = Plan(
        relation=read.relation,
        keys=tuple(builder.keys),
        measures=tuple(replace(m, mechanism=replace(m.mechanism, epsilon=share)) for m in builder.measures),
        outputs=outputs,
        having=having,
        order=order,
        limit=_limit(select),
    )
    rows = read.relation.rows_per_person
    if selects:
        plan = replace(plan, selection=PartitionSelection(epsilon=share / rows, delta=read_delta(delta) / rows))
    groups = plan.groups
    if groups is not None and groups > _MOST_GROUPS:
        raise TooLarge("There would be more than a million groups.", next_step="Group by fewer columns.")
    size = 2 if groups is None else groups  # any number but one: the count of selected groups is not known yet
    return replace(plan, measures=tuple(replace(m, mechanism=replace(m.mechanism, size=size)) for m in plan.measures))


def _parsed(sql: str) -> exp.Select:
    if len(sql) > _LONGEST:
        raise TooLarge("The question is too long.", next_step=f"Keep it below {_LONGEST:,} characters.")
    try:
        statements = sqlglot.parse(sql, read="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise UnparsableQuery(
            "This is not SQL that can be read.", next_step="Check quotes, commas and brackets."
        ) from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise UnparsableQuery("A question is one SELECT statement.", next_step="Ask one thing at a time.")
    select = statements[0]
    for literal in select.find_all(exp.Literal):
        if not literal.is_string and not _NUMBER.fullmatch(literal.name):
            raise TooLarge(
                "A number in the question is too long or too large.", next_step="Write it with fewer digits."
            )
    for clause, value in select.args.items():
        if value and clause not in _CLAUSES:
            raise NotAllowed(f"{clause.strip('_').upper()} is not allowed here.", next_step="Leave it out.")
    return select


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    if not isinstance(limit.expression, exp.Literal) or not limit.expression.is_int:
        raise NotAllowed("LIMIT takes a number.", next_step="Write LIMIT 10.")
    return int(limit.expression.name)


@dataclass(slots=True)
class _Builder:
    """Collects keys and measures while the outputs are lifted out of the statement."""

    read: Read
    facts: PublicFacts
    keys: list[Key] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    # Keys

    def read_keys(self, select: exp.Select) -> None:
        group = select.args.get("group")
        if group is None:
            return
        if any(value for name, value in group.args.items() if name != "expressions"):
            raise NotAllowed("Only plain GROUP BY is allowed here.", next_step="Name the columns to group by.")
        for node in group.expressions:
            self.keys.append(self._key(self._named(node, select.expressions)))

    def _named(self, node: exp.Expr, projections: Sequence[exp.Expr]) -> exp.Expr:
        """GROUP BY 1 and GROUP BY alias mean what SELECT says."""
        if isinstance(node, exp.Literal) and node.is_int and 1 <= int(node.name) <= len(projections):
            return projections[int(node.name) - 1].unalias()
        for projection in projections:
            if isinstance(projection, exp.Alias) and isinstance(node, exp.Column) and projection.alias == node.name:
                return projection.this
        return node

    def _key(self, node: exp.Expr) -> Key:
        checked = check(node, self.read.scope)
        return Key(node.alias_or_name or "key", checked.sql("duckdb"), self._domain(checked))

    def _domain(self, checked: exp.Expr) -> tuple[KeyValue, ...] | None:
        if not isinstance(checked, exp.Column):
            return None
        found = self.read.scope.find(checked.name, checked.text("table"))
        if found.is_public:
            values = self.facts.distinct_values(found.table.name, found.column.name)
        elif found.column.values is not None:
            values = tuple(v.isoformat() if hasattr(v, "isoformat") else v for v in found.column.values)
        elif found.column.type is Type.BOOLEAN:
            values = (False, True)
        else:
            return None
        return (*values, None) if found.column.nullable else values

    # Outputs

    def output(self, node: exp.Expr) -> Output:
        """A column of the answer, by its alias, its key or its text; a name that is taken gets a number."""
        inner = node.unalias()
        name = node.alias or (inner.name if isinstance(inner, exp.Column) else inner.sql("duckdb").lower())
        self.names.append(name)
        again = self.names.count(name)
        return Output(name if again == 1 else f"{name}_{again}", self.lift(inner))

    def ordered(self, node: exp.Expr, outputs: Sequence[Output]) -> tuple[Post, bool]:
        """ORDER BY an output's name or number, or an expression of its own; True means falling."""
        inner, falling = node.this, bool(node.args.get("desc"))
        if isinstance(inner, exp.Literal) and inner.is_int and 1 <= int(inner.name) <= len(outputs):
            return outputs[int(inner.name) - 1].post, falling
        for output in outputs:
            if isinstance(inner, exp.Column) and not inner.table and inner.name == output.name:
                return output.post, falling
        return self.lift(inner), falling

    def lift(self, node: exp.Expr) -> Post:
        """Keys and aggregates become references; what stands above them is computed after the noise."""
        if isinstance(node, exp.Paren):
            return self.lift(node.this)
        if isinstance(node, exp.AggFunc):
            return self._aggregate(node)
        if isinstance(node, exp.Literal):
            return Post(
                "literal",
                value=node.name if node.is_string else int(node.name) if node.name.isdecimal() else float(node.name),
            )
        operator = _OPERATORS.get(type(node))
        if operator is not None and node.find(exp.AggFunc) is not None:
            operands = [node.this] if operator in ("neg", "not") else [node.this, node.args["expression"]]
            lifted = tuple(self.lift(operand) for operand in operands)
            if operator not in ("and", "or", "not") and any(
                post.op == "key" or isinstance(post.value, str) for post in lifted
            ):
                raise NotAllowed(
                    "After the noise, numbers are computed and compared with numbers only.",
                    next_step="Compare columns and text in WHERE.",
                )
            return Post(operator, lifted)
        text = check(node, self.read.scope).sql("duckdb")
        for index, key in enumerate(self.keys):
            if key.sql == text:
                return Post("key", index=index)
        raise NotAllowed(
            "A column stands outside of an aggregate and is no group key.",
            next_step="Put it into GROUP BY, or count, sum or average it.",
        )

    def _aggregate(self, node: exp.AggFunc) -> Post:
        argument = node.this
        if isinstance(node, exp.Count):
            return Post("measure", index=self._count(argument))
        if isinstance(node, exp.Sum):
            return Post("measure", index=self._total(argument, centred=False))
        if isinstance(node, exp.Avg):
            return Post("average", index=self._total(argument, centred=True), other=self._count(argument))
        raise NotAllowed(
            f"{type(node).__name__.upper()} is not among the aggregates that can be answered.",
            next_step="Use COUNT, SUM or AVG.",
        )

    def _count(self, argument: exp.Expr) -> int:
        rows = self.read.relation.rows_per_person
        if isinstance(argument, exp.Star):
            return self._measured(Kind.ROWS, None, sensitivity=rows)
        if isinstance(argument, exp.Distinct):
            inner = argument.expressions[0] if len(argument.expressions) == 1 else None
            found = (
                self.read.scope.find(inner.name, inner.text("table") or None) if isinstance(inner, exp.Column) else None
            )
            if found is None or not found.is_owner:
                raise NotAllowed(
                    "Only people can be counted with DISTINCT.", next_step="Count the column that names the person."
                )
            return self._measured(
                Kind.PEOPLE, None, sensitivity=rows if self.keys else 1
            )  # one group holds a person once
        return self._measured(Kind.PRESENT, check(argument, self.read.scope).sql("duckdb"), sensitivity=rows)

    def _total(self, argument: exp.Expr, *, centred: bool) -> int:
        if isinstance(argument, exp.Distinct):
            raise NotAllowed("SUM and AVG of DISTINCT values mix people.", next_step="Leave DISTINCT out.")
        checked = check(argument, self.read.scope)
        lower, upper = bounds(checked, self.read.scope)
        step = self._step(checked, lower, upper)
        low, high = (math.floor(end / step + Fraction(1, 2)) for end in (lower, upper))
        centre = (low + high) // 2 if centred else 0
        largest = max(abs(low - centre), abs(high - centre), 1)
        rows = self.read.relation.rows_per_person
        if largest * rows * 2**40 >= 2**126:
            raise TooLarge("The sum could overflow.", next_step="Ask the owner for narrower bounds or a coarser grid.")
        return self._measured(
            Kind.TOTAL, checked.sql("duckdb"), sensitivity=largest * rows, step=step, low=low, high=high, centre=centre
        )

    def _step(self, checked: exp.Expr, lower: Fraction, upper: Fraction) -> Fraction:
        """A column's own grid; for an expression, the same rule applied to its bounds."""
        if isinstance(checked, exp.Column):
            return self.read.scope.find(checked.name, checked.text("table")).column.grid_step
        return power_of_two_below((upper - lower) / 2**20) if upper > lower else Fraction(1)

    def _measured(self, kind: Kind, sql: str | None, *, sensitivity: int, **grid: Fraction | int) -> int:
        """The measure's number; equal measures are measured, and paid for, once."""
        mechanism = Laplace(sensitivity=sensitivity, epsilon=1)
        measure = Measure(kind, sql, mechanism, **grid)  # type: ignore[arg-type]  # step, low, high, centre
        if measure not in self.measures:
            self.measures.append(measure)
        return self.measures.index(measure)
