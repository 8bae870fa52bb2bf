"""GROUP BY across people: the public values of keys, and grouping sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from sqlglot import exp

from discreet.algebra.expressions import Expression
from discreet.algebra.query import MOST_GROUPS
from discreet.algebra.value_properties import Value, every_value
from discreet.errors import NotAllowed, TooLarge
from discreet.sql.reader.public_lookup import PublicLookup

MOST_SETS = 64


def public_values(key: Expression, lookup: PublicLookup) -> tuple[Value | None, ...] | None:
    """Return every value that a key can have, or None if that is not public and groups must be selected privately."""
    origin = key.properties.origin
    if origin is None:
        return every_value(key.properties)
    values = lookup.distinct_values(origin.relation, origin.expression, outer=origin.outer)
    if len(values) > MOST_GROUPS:
        raise TooLarge(
            "The query would have more than a million groups.",
            next_step="Group by fewer columns, or by coarser values.",
        )
    return values


def grouping_sets_of(select: exp.Select, number: Callable[[exp.Expr], int]) -> list[tuple[int, ...]]:
    """Return the grouping sets: one for a plain GROUP BY, several for ROLLUP, CUBE and GROUPING SETS.

    `number` returns the number of a key from its node.
    """
    group = select.args.get("group")
    if group is None:
        return [()]
    if any(value for name, value in group.args.items() if name not in ("expressions", "all")) or group.args.get("all"):
        raise NotAllowed(
            "This form of GROUP BY is not supported.", next_step="List the columns or expressions to group by."
        )
    choices: list[list[tuple[int, ...]]] = []
    for node in group.expressions:
        choices.append(_choices(node, number))
        if len(choices[-1]) * len(choices) > MOST_SETS:
            raise _too_many_sets()
    made = [
        tuple(dict.fromkeys(itertools.chain(*parts)))
        for parts in itertools.islice(itertools.product(*choices), MOST_SETS + 1)
    ]
    if len(made) > MOST_SETS:
        raise _too_many_sets()
    return list(dict.fromkeys(tuple(sorted(keys)) for keys in made))


def _choices(node: exp.Expr, number: Callable[[exp.Expr], int]) -> list[tuple[int, ...]]:
    if isinstance(node, exp.Rollup | exp.Cube):
        parts = [_composite_key(part, number) for part in node.expressions]
        if isinstance(node, exp.Rollup):
            return [tuple(itertools.chain(*parts[:end])) for end in range(len(parts), -1, -1)]
        if len(parts) > 6:
            raise _too_many_sets()
        masks = itertools.product((True, False), repeat=len(parts))
        return [tuple(itertools.chain(*itertools.compress(parts, mask))) for mask in masks]
    if isinstance(node, exp.GroupingSets):
        return [_composite_key(part, number) for part in node.expressions]
    return [(number(node),)]


def _composite_key(node: exp.Expr, number: Callable[[exp.Expr], int]) -> tuple[int, ...]:
    """Return the key numbers of (a, b) within ROLLUP or GROUPING SETS."""
    parts = node.expressions if isinstance(node, exp.Tuple) else [node.unnest()]
    return tuple(number(part) for part in parts)


def _too_many_sets() -> TooLarge:
    return TooLarge(
        "GROUP BY expands to too many grouping sets.", next_step=f"Use at most {MOST_SETS} grouping sets in one query."
    )
