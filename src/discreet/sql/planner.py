"""Text to plan: every rule that decides whether a question is private, and at what price."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.catalog import Catalog, default_delta
from discreet.errors import BadInput, NeedsDelta, NotAllowed, TooLarge, UnknownName
from discreet.exact import Number, read_delta, read_epsilon
from discreet.sql.aggregates import Lifter
from discreet.sql.bounding import bounded
from discreet.sql.flatten import flattened
from discreet.sql.joins import PublicFacts
from discreet.sql.plan import Output, Plan, Post
from discreet.sql.pricing import priced
from discreet.sql.relations import Reader, named_in_select
from discreet.sql.text import Options, Parameters, read_text

_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_", "kind", "hint"}
_MOST_SETS = 64


def plan_query(
    sql: str,
    catalog: Catalog,
    facts: PublicFacts,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    mechanism: str | None = None,
    parameters: Parameters = (),
) -> Plan:
    """The plan of a question, or a refusal by name. Reads the catalog and public tables, nothing else."""
    text = read_text(sql, parameters)
    options = text.options
    total = read_epsilon(_one(epsilon, options.epsilon, "epsilon"))
    reader = Reader(catalog, facts)
    select, names = flattened(text.query, reader)
    for clause, value in select.args.items():
        if value and clause not in _CLAUSES:
            raise NotAllowed(f"{clause.strip('_').upper()} is not allowed here.", next_step="Leave it out.")
    scope = reader.scope(select, names)
    if scope.is_public:
        raise NotAllowed(
            "The question reads public tables only, which need no protection.",
            next_step="Read a protected table, or look at the public file itself.",
        )
    where = reader.where(select, scope, names)
    lifter = Lifter(scope, facts, reader.special(names))
    sets = _sets(select, lifter)
    outputs = _outputs(select, lifter)
    having = lifter.lift(select.args["having"].this) if select.args.get("having") else None
    order = tuple(_ordered(node, outputs, lifter) for node in _listed(select.args.get("order")))
    if not lifter.measures:
        raise NotAllowed("A question must count, sum or average something.", next_step="Add COUNT(*).")
    _check_unit(options, scope.unit)
    plan = Plan(
        relation=bounded(scope, where, lifter.keys, options, catalog),
        keys=tuple(lifter.keys),
        measures=tuple(lifter.measures),
        sets=(),
        outputs=outputs,
        having=having,
        order=order,
        limit=_limit(select),
        notes=tuple(lifter.notes),
    )
    return priced(
        plan,
        sets,
        epsilon=total,
        delta=_delta(plan, sets, _one(delta, options.delta, "delta"), catalog),
        mechanism=_one(mechanism, options.mechanism, "mechanism") or "laplace",
        neighbours=catalog.neighbours,
    )


def _one(given: Any, option: Any, name: str) -> Any:
    """What was said once, or twice the same."""
    if given is not None and option is not None and given != option:
        raise BadInput(f"{name} is said twice, differently.", next_step="Say it in OPTIONS or beside the question.")
    return option if given is None else given


def _delta(plan: Plan, sets: Sequence[tuple[int, ...]], given: Number | None, catalog: Catalog) -> Fraction | None:
    """What private selection may cost: as said, or a hundredth of what the account sets aside for it."""
    if all(plan.keys[index].domain is not None for keys in sets for index in keys):
        return None
    usual = default_delta(catalog)
    if given is None and usual is None:
        raise NeedsDelta(
            "The values of a group key are not declared, so which groups exist is private, and this account has no delta.",
            next_step="Ask the owner to declare the values, or for a budget with a delta.",
        )
    return usual if given is None else read_delta(given)


def _check_unit(options: Options, unit: str) -> None:
    if options.privacy_unit_column is not None and options.privacy_unit_column.lower() != unit.lower():
        raise UnknownName(
            "privacy_unit_column is not the catalog's.", next_step="Leave it out: the catalog says who a person is."
        )


def _listed(clause: exp.Expr | None) -> list[exp.Expr]:
    return clause.expressions if clause is not None else []


# Grouping


def _sets(select: exp.Select, lifter: Lifter) -> list[tuple[int, ...]]:
    """Which keys are grouped by together: once for a plain GROUP BY, several times for ROLLUP, CUBE and GROUPING SETS."""
    group = select.args.get("group")
    if group is None:
        return [()]
    if any(value for name, value in group.args.items() if name != "expressions"):
        raise NotAllowed("GROUP BY takes columns and expressions.", next_step="Name the columns to group by.")
    choices: list[list[tuple[int, ...]]] = []
    for node in group.expressions:
        choices.append(_choices(node, select, lifter))
        if len(choices[-1]) * len(choices) > _MOST_SETS:
            raise TooLarge("There are too many groupings.", next_step=f"Ask for at most {_MOST_SETS} at once.")
    made = [tuple(dict.fromkeys(index for part in parts for index in part)) for parts in itertools.product(*choices)]
    if len(made) > _MOST_SETS:
        raise TooLarge("There are too many groupings.", next_step=f"Ask for at most {_MOST_SETS} at once.")
    return list(dict.fromkeys(tuple(sorted(keys)) for keys in made))


def _choices(node: exp.Expr, select: exp.Select, lifter: Lifter) -> list[tuple[int, ...]]:
    if isinstance(node, exp.Rollup | exp.Cube):
        parts = [_together(part, select, lifter) for part in node.expressions]
        if isinstance(node, exp.Rollup):
            return [tuple(itertools.chain(*parts[:end])) for end in range(len(parts), -1, -1)]
        if len(parts) > 6:
            raise TooLarge("There are too many groupings.", next_step=f"Ask for at most {_MOST_SETS} at once.")
        masks = itertools.product((True, False), repeat=len(parts))
        return [tuple(itertools.chain(*itertools.compress(parts, mask))) for mask in masks]
    if isinstance(node, exp.GroupingSets):
        return [_together(part, select, lifter) for part in node.expressions]
    return [(lifter.key(named_in_select(node, select)),)]


def _together(node: exp.Expr, select: exp.Select, lifter: Lifter) -> tuple[int, ...]:
    """(a, b) within ROLLUP or GROUPING SETS."""
    parts = node.expressions if isinstance(node, exp.Tuple) else [node.unnest()]
    return tuple(lifter.key(named_in_select(part, select)) for part in parts)


# Outputs


def _outputs(select: exp.Select, lifter: Lifter) -> tuple[Output, ...]:
    """The columns of the answer, each by its alias, its key or its text; a name that is taken gets a number."""
    made: list[Output] = []
    names: list[str] = []
    for node in select.expressions:
        inner = node.unalias()
        name = node.alias or (inner.name if isinstance(inner, exp.Column) else inner.sql("duckdb").lower())
        names.append(name)
        again = names.count(name)
        made.append(Output(name if again == 1 else f"{name}_{again}", lifter.lift(inner)))
    return tuple(made)


def _ordered(node: exp.Expr, outputs: Sequence[Output], lifter: Lifter) -> tuple[Post, bool]:
    """ORDER BY an output's name or number, or an expression of its own; True means falling."""
    inner, falling = node.this, bool(node.args.get("desc"))
    if isinstance(inner, exp.Literal) and inner.is_int and 1 <= int(inner.name) <= len(outputs):
        return outputs[int(inner.name) - 1].post, falling
    for output in outputs:
        if isinstance(inner, exp.Column) and not inner.table and inner.name.lower() == output.name.lower():
            return output.post, falling
    return lifter.lift(inner), falling


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    more = any(value for name, value in limit.args.items() if name not in ("this", "expression"))
    if more or not isinstance(limit.expression, exp.Literal) or not limit.expression.is_int:
        raise NotAllowed("LIMIT takes a number.", next_step="Write LIMIT 10.")
    return int(limit.expression.name)
