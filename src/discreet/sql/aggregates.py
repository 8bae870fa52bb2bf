"""Aggregates across people become measures; what stands above them is computed after the noise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from discreet.errors import BadProbability, NotAllowed, TooLarge
from discreet.sql.domains import Domain, domain
from discreet.sql.expressions import Special, check, condition_text, safe_text
from discreet.sql.joins import PublicFacts
from discreet.sql.kinds import kind_of
from discreet.sql.plan import Key, Kind, Measure, Post
from discreet.sql.scope import Scope
from discreet.sql.steps import Steps, steps_of

EXTREME = Fraction(1, 100)
"""MIN and MAX are the quantiles this far from the ends."""
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Neg: "neg",
    exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "=", exp.NEQ: "<>",
    exp.And: "and", exp.Or: "or", exp.Not: "not",
}  # fmt: skip
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Abs: "abs", exp.Sqrt: "sqrt", exp.Floor: "floor", exp.Ceil: "ceil", exp.Round: "round",
    exp.Least: "least", exp.Greatest: "greatest", exp.Coalesce: "coalesce", exp.Nullif: "nullif",
}  # fmt: skip
_LOGIC = {"and", "or", "not"}
_SPREADS: dict[type[exp.Expr], str] = {
    exp.Variance: "var_samp", exp.VariancePop: "var_pop", exp.Stddev: "std_samp", exp.StddevSamp: "std_samp",
    exp.StddevPop: "std_pop",
}  # fmt: skip
_SQUARE_BITS = 20


@dataclass(slots=True)
class Lifter:
    """Collects keys and measures while outputs are lifted out of the statement."""

    scope: Scope
    facts: PublicFacts
    special: Special
    keys: list[Key] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    written: list[exp.Expr] = field(default_factory=list)
    """The keys as the question has them."""

    # Keys

    def key(self, node: exp.Expr) -> int:
        """The number of a group key; equal keys are one."""
        checked = check(node, self.scope, self.special)
        key = Key(node.alias_or_name or "key", self._key_text(checked), self._domain(checked))
        for index, known in enumerate(self.keys):
            if known.sql == key.sql:
                return index
        self.keys.append(key)
        self.written.append(node)
        return len(self.keys) - 1

    def _key_text(self, checked: exp.Expr) -> str:
        """A key as SQL. What is no number is NULL: NaN equals nothing outside of the engine, itself included."""
        text = safe_text(checked, self.scope)
        return f"CASE WHEN isfinite({text}) THEN {text} END" if kind_of(checked, self.scope) == "real" else text

    def _domain(self, checked: exp.Expr) -> Domain | None:
        columns = list(checked.find_all(exp.Column))
        sources = [self.scope.source(column) for column in columns]
        outer = any(source is not None and source.outer for source in sources)
        aliases = {column.text("table") for column in columns}
        if len(aliases) == 1 and sources[0] is not None and sources[0].rows.is_public:
            relation = f'{sources[0].rows.sql} AS "{aliases.pop()}"'
            found: Domain | None = self.facts.distinct_values(relation, self._key_text(checked))
        else:
            found = domain(checked, self.scope)
        return (*found, None) if found is not None and outer and None not in found else found

    # Outputs

    def lift(self, node: exp.Expr) -> Post:
        """Keys and aggregates become references; what stands above them is computed after the noise."""
        if isinstance(node, exp.Paren):
            return self.lift(node.this)
        if isinstance(node, exp.Grouping) and len(node.expressions) == 1:
            return Post("grouping", index=self._known_key(node.expressions[0]))
        if isinstance(node, exp.Filter | exp.AggFunc | exp.WithinGroup):
            return self._aggregate(node)
        if isinstance(node, exp.Literal):
            number = int(node.name) if node.name.isdecimal() else None if node.is_string else float(node.name)
            return Post("literal", value=node.name if node.is_string else number)
        if isinstance(node, exp.Null):
            return Post("literal")
        if isinstance(node, exp.Star):
            raise NotAllowed("Rows themselves are never shown.", next_step="Count, sum or average something.")
        if isinstance(node, exp.Boolean):
            return Post("literal", value=bool(node.this))
        if node.find(exp.AggFunc) is not None or node.find(exp.Column, exp.Subquery, exp.Exists) is None:
            return self._above(node)
        return Post("key", index=self._known_key(node))

    def _known_key(self, node: exp.Expr) -> int:
        if node in self.written:
            return self.written.index(node)
        text = self._key_text(check(node, self.scope, self.special))
        for index, key in enumerate(self.keys):
            if key.sql == text:
                return index
        raise NotAllowed(
            "A column stands outside of an aggregate and is no group key.",
            next_step="Put it into GROUP BY, or count, sum or average it.",
        )

    def _above(self, node: exp.Expr) -> Post:
        if isinstance(node, exp.Case) and node.this is None:
            parts = [part for branch in node.args["ifs"] for part in (branch.this, branch.args["true"])]
            last = node.args.get("default")
            return Post("case", tuple(self.lift(part) for part in (*parts, *([last] if last is not None else []))))
        if isinstance(node, exp.Between):
            ends = [
                exp.GTE(this=node.this.copy(), expression=node.args["low"].copy()),
                exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()),
            ]
            return Post("and", tuple(self.lift(end) for end in ends))
        op = _OPERATORS.get(type(node)) or _FUNCTIONS.get(type(node))
        if op is None:
            raise NotAllowed(
                "That cannot be computed from noisy numbers here.",
                next_step="Use arithmetic, comparisons, CASE, ROUND, ABS, LEAST, GREATEST or COALESCE over aggregates.",
            )
        operands = [
            node.this,
            node.args.get("expression"),
            *node.args.get("expressions", ()),
            node.args.get("decimals"),
        ]
        lifted = tuple(self.lift(operand) for operand in operands if operand is not None)
        if op not in _LOGIC and any(post.op == "key" or isinstance(post.value, str) for post in lifted):
            raise NotAllowed(
                "After the noise, numbers are computed and compared with numbers only.",
                next_step="Compare columns and text in WHERE.",
            )
        return Post(op, lifted)

    # Aggregates

    def _aggregate(self, node: exp.Expr) -> Post:
        where = None
        if isinstance(node, exp.Filter):
            where = condition_text(check(node.expression.this, self.scope, self.special), self.scope)
            node = node.this
        if isinstance(node, exp.WithinGroup):
            return self._within_group(node, where)
        if isinstance(node, exp.Count):
            return Post("measure", index=self._count(node.this, where))
        if isinstance(node, exp.Sum):
            return Post("measure", index=self._total(self._steps(node.this), where))
        if isinstance(node, exp.Avg):
            total, count = self._about_the_middle(node.this, where)
            return Post("average", index=total, others=(count,))
        if type(node) in _SPREADS:
            total, count = self._about_the_middle(node.this, where)
            squares = self._squares(self.measures[total])
            return Post("variance", index=total, others=(count, squares), value=_SPREADS[type(node)])
        if isinstance(node, exp.Min | exp.Max):
            low = isinstance(node, exp.Min)
            self._note(
                f"{node.key.upper()} is the {'1' if low else '99'} % quantile: the very {'least' if low else 'largest'} value is one person's"
            )
            return self._quantile(node.this, EXTREME if low else 1 - EXTREME, where)
        if isinstance(node, exp.Median):
            return self._quantile(node.this, Fraction(1, 2), where)
        if isinstance(node, exp.PercentileCont | exp.PercentileDisc | exp.Quantile):
            return self._quantile(node.this, _share(node.args.get("quantile") or node.args.get("expression")), where)
        raise NotAllowed(
            f"{type(node).__name__.upper()} is not among the aggregates that can be answered.",
            next_step="Use COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, QUANTILE_CONT, MIN or MAX.",
        )

    def _within_group(self, node: exp.WithinGroup, where: str | None) -> Post:
        inner, order = node.this, node.expression.expressions
        if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or len(order) != 1:
            raise NotAllowed(
                "Only PERCENTILE_CONT and PERCENTILE_DISC stand WITHIN GROUP.", next_step="Order by one column."
            )
        share = _share(inner.this)
        return self._quantile(order[0].this, 1 - share if order[0].args.get("desc") else share, where)

    def _count(self, argument: exp.Expr, where: str | None) -> int:
        if isinstance(argument, exp.Star):
            return self._measured(Measure(Kind.ROWS, where=where))
        if not isinstance(argument, exp.Distinct):
            text = safe_text(check(argument, self.scope, self.special), self.scope)
            return self._measured(Measure(Kind.PRESENT, text, where))
        if len(argument.expressions) != 1:
            raise NotAllowed("COUNT DISTINCT takes one thing.", next_step="Count one column.")
        inner = check(argument.expressions[0], self.scope, self.special)
        if self.scope.is_owner(inner):
            return self._measured(Measure(Kind.PEOPLE, where=where))
        return self._measured(Measure(Kind.DISTINCT, safe_text(inner, self.scope), where))

    def _steps(self, argument: exp.Expr) -> Steps:
        if isinstance(argument, exp.Distinct):
            raise NotAllowed("SUM and AVG of DISTINCT values mix people.", next_step="Leave DISTINCT out.")
        return steps_of(check(argument, self.scope, self.special), self.scope)

    def _total(self, steps: Steps, where: str | None, centre: int = 0) -> int:
        return self._measured(Measure(Kind.TOTAL, steps.sql, where, steps.step, steps.low, steps.high, centre))

    def _about_the_middle(self, argument: exp.Expr, where: str | None) -> tuple[int, int]:
        """The sum about the middle of the range, which is the most exact, and the number of values."""
        steps = self._steps(argument)
        present = Measure(Kind.PRESENT, safe_text(check(argument, self.scope, self.special), self.scope), where)
        return self._total(steps, where, (steps.low + steps.high) // 2), self._measured(present)

    def _squares(self, total: Measure) -> int:
        """Squares keep about as many bits as the column itself: the rest is divided away, and rounded."""
        if total.largest**2 >= 2**62:
            raise TooLarge("Squares could overflow.", next_step="Ask the owner for a coarser grid.")
        coarser = max(0, (total.largest**2).bit_length() - _SQUARE_BITS)
        return self._measured(replace(total, kind=Kind.SQUARES, coarser=coarser))

    def _quantile(self, argument: exp.Expr, q: Fraction, where: str | None) -> Post:
        steps = self._steps(argument)
        high = max(steps.high, steps.low + 1)  # a constant has one value, and candidates need two
        measure = Measure(Kind.QUANTILE, steps.sql, where, steps.step, steps.low, high, q=q)
        return Post("quantile", index=self._measured(measure))

    def _measured(self, measure: Measure) -> int:
        """The measure's number; equal measures are measured, and paid for, once."""
        if measure not in self.measures:
            self.measures.append(measure)
        return self.measures.index(measure)

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _share(node: exp.Expr | None) -> Fraction:
    if not isinstance(node, exp.Literal) or node.is_string or not 0 <= Fraction(node.name) <= 1:
        raise BadProbability("A quantile is a number from 0 to 1.", next_step="Write QUANTILE_CONT(x, 0.5).")
    return Fraction(node.name)
