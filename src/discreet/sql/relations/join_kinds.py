"""Combine two sides: as a join, or as a mark on the rows of one side. Protected rows match only within a person."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.algebra.expressions import Expression, Field, call, shift_fields
from discreet.algebra.relations import Join, JoinKind
from discreet.sql.reader.reader_model import Context
from discreet.sql.reader.scope import OUTER, Scope, all_of
from discreet.sql.relations.join_conditions import Pair, Parts, refuse_further, side_by_side, with_field, without_owners


def joined(left: Scope, right: Scope, how: JoinKind, parts: Parts, context: Context, *, keeps_left: bool) -> Join:
    """Join two sides. With `keeps_left`, conditions on the left side restrict the pairs, not the left rows."""
    rest = list(parts.rest)
    if how is JoinKind.FULL:
        rest += parts.inner
    else:
        right.keep(parts.inner)
    if keeps_left:
        rest += [shift_fields(condition, OUTER) for condition in parts.outer]
    else:
        left.keep(parts.outer)
    keys = [_key(left, right, pair) for pair in _needed(left, right, parts.keys)]
    pairs = tuple((left.rebase(ours), right.rebase(theirs)) for ours, theirs in keys)
    on = side_by_side(rest, left.relation, right.relation)
    return Join(left.relation, right.relation, how, pairs, on, _fan_out(left, right, pairs, context))


def _needed(left: Scope, right: Scope, pairs: Sequence[Pair]) -> list[Pair]:
    distinct = list(dict.fromkeys(pairs))
    return distinct if left.is_public or right.is_public else without_owners(distinct)


def _key(left: Scope, right: Scope, pair: Pair) -> Pair:
    """Turn the public side of a key into a column."""
    ours, theirs = pair
    return with_field(left, ours) if left.is_public else ours, with_field(right, theirs) if right.is_public else theirs


def _fan_out(left: Scope, right: Scope, pairs: Sequence[Pair], context: Context) -> int:
    if not left.is_public and not right.is_public:
        return 1
    public, side = (right, 1) if right.is_public else (left, 0)
    return multiplicity(public, [pair[side] for pair in pairs], context)


def multiplicity(public: Scope, keys: Sequence[Expression], context: Context) -> int:
    """Return how many rows of a public relation one row can match: those with equal key columns."""
    positions = tuple(sorted({key.at for key in keys if isinstance(key, Field)}))
    return max(1, context.lookup.largest_multiplicity(public.relation, positions))


def marked(outer: Scope, inner: Scope, parts: Parts, context: Context) -> Expression:
    """Return a column of the outer side: whether the inner side has a matching row. True or false, never NULL."""
    refuse_further(parts)
    inner.keep(parts.inner)
    pairs = without_owners(parts.keys) if not inner.is_public else list(parts.keys)
    keys = [(ours, with_field(inner, theirs) if inner.is_public else inner.rebase(theirs)) for ours, theirs in pairs]
    on = side_by_side(parts.rest, outer.relation, inner.relation)
    many = on is not None and inner.is_public and not outer.is_public
    fan_out = multiplicity(inner, [theirs for _, theirs in keys], context) if many else 1
    mark: Expression = outer.mark(inner, keys, on, fan_out=fan_out)
    return all_of([*(call("is_true", condition) for condition in parts.outer), mark])
