"""FROM and JOIN: who owns the rows of a join, and how many of them one person can have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

from discreet.errors import JoinsPeople, NotAllowed, TooLarge, UnknownName
from discreet.sql.expressions import Special, check, condition_text, conjuncts
from discreet.sql.kinds import kind_of
from discreet.sql.scope import KeyValue, Rows, Scope, Source, quote

MOST_ROWS = 10**6
_WHOLE_NUMBERS = {"int", "small"}
_PEOPLE = JoinsPeople(
    "This join pairs rows of different people, so one person could change the answer without limit.",
    next_step="Join on the column that names the person, or count in one table and compare afterwards.",
)


class PublicFacts(Protocol):
    """What may be looked up in public relations while planning."""

    def largest_multiplicity(self, relation: str, columns: tuple[str, ...]) -> int:
        """How many rows share the most frequent combination of these columns; all rows, without columns."""

    def distinct_values(self, relation: str, expression: str) -> tuple[KeyValue, ...]:
        """All values of an expression but NULL, sorted."""


def start(scope: Scope, source: Source, alias: str) -> None:
    """The first relation of a FROM."""
    rows = source.rows
    scope.sources[alias] = source
    scope.sql = f"{rows.sql} AS {quote(alias)}"
    scope.per_person = rows.per_person
    if not rows.is_public:
        scope.owner_sql = f'{quote(alias)}."$owner"'
        scope.maybe_owners = {(alias, name) for name in rows.owners}
        scope.owners = [frozenset({name}) for name in sorted(scope.maybe_owners)]


@dataclass(frozen=True, slots=True)
class _Joined:
    """A relation that joins others: how, on which checked conditions, and what was there before it."""

    alias: str
    rows: Rows
    how: str
    parts: list[exp.Expr]
    before: dict[str, Source]

    @property
    def hidden_owner(self) -> str:
        return f'{quote(self.alias)}."$owner"'

    @property
    def meets_public(self) -> bool:
        return all(source.rows.is_public for source in self.before.values())


def join(scope: Scope, source: Source, alias: str, node: exp.Join, *, where: Sequence[exp.Expr], special: Special, facts: PublicFacts) -> None:  # fmt: skip
    """One more relation: its condition checked, owners and multiplicity derived anew."""
    how = _how(node)
    if any(source.called.lower() == other.called.lower() for other in scope.sources.values()):
        raise UnknownName("Two tables have the same name.", next_step="Give one of them an alias.")
    before = dict(scope.sources)
    scope.sources[alias] = source
    new = _Joined(alias, source.rows, how, _condition(scope, alias, node, before, special), before)
    said = [*new.parts, *(_equalities(where, scope, special) if how in ("CROSS", "INNER") else ())]
    link = None if source.rows.is_public or new.meets_public else _link(scope, new, said)
    condition = " AND ".join(filter(None, [condition_text(exp.and_(*new.parts), scope) if new.parts else "", link]))
    if how != "CROSS" and not condition:
        raise NotAllowed("A join needs ON or USING.", next_step="Say which columns must be equal.")
    scope.per_person = _per_person(scope, new, facts)
    if scope.per_person is not None and scope.per_person > MOST_ROWS:
        raise TooLarge(
            "One person could have too many rows in this join.", next_step="Join on a key with fewer repeats."
        )
    _new_owners(scope, new)
    word = "INNER" if how == "CROSS" and condition else how
    scope.sql += f" {word} JOIN {source.rows.sql} AS {quote(alias)}" + (f" ON {condition}" if condition else "")
    for name in scope.sources if how == "FULL" else [alias] if how == "LEFT" else []:
        scope.sources[name] = replace(scope.sources[name], outer=True)


def _how(node: exp.Join) -> str:
    side, kind = (node.side or "").upper(), (node.kind or "").upper()
    if node.args.get("method") or kind not in ("", "INNER", "OUTER", "CROSS") or side == "RIGHT":
        raise NotAllowed("Only inner, left, full and cross joins are known here.", next_step="Turn the join round.")
    return side or ("INNER" if node.args.get("on") or node.args.get("using") else "CROSS")


def _condition(scope: Scope, alias: str, node: exp.Join, before: dict[str, Source], special: Special) -> list[exp.Expr]:
    """The checked parts of ON or USING."""
    parts: list[exp.Expr] = []
    for name in node.args.get("using") or ():
        ours = Scope(scope.parent, before, merged=scope.merged).resolve(exp.column(name.name))
        theirs = Scope(None, {alias: scope.sources[alias]}).resolve(exp.column(name.name))
        parts.append(exp.EQ(this=ours, expression=theirs))
        full = (node.side or "").upper() == "FULL"
        scope.merged[name.name.lower()] = (
            exp.Coalesce(this=ours.copy(), expressions=[theirs.copy()]) if full else ours.copy()
        )
    on = node.args.get("on")
    if on is not None:
        parts += [check(part, scope, special) for part in conjuncts(on)]
    return parts


def _equalities(where: Sequence[exp.Expr], scope: Scope, special: Special) -> Iterator[exp.Expr]:
    """Equal columns in WHERE, as far as the tables read so far have them."""
    for part in where:
        if isinstance(part, exp.EQ) and isinstance(part.left, exp.Column) and isinstance(part.right, exp.Column):
            try:
                yield check(part, scope, special)
            except UnknownName:
                continue


def _link(scope: Scope, new: _Joined, said: Sequence[exp.Expr]) -> str:
    """The person equated on both sides, as the question says it or by the path that the catalog declares.

    What is returned joins the ON, so that no pair of different people ever meets, whatever was said.
    """
    for part in said:
        inner = part.unnest()
        if isinstance(inner, exp.EQ):
            a, b = inner.left.unnest(), inner.right.unnest()
            if _is_link(scope, new, a, b) or _is_link(scope, new, b, a):
                return f"{scope.owner_sql} = {new.hidden_owner}"
    raise _PEOPLE


def _is_link(scope: Scope, new: _Joined, ours: exp.Expr, theirs: exp.Expr) -> bool:
    if not isinstance(theirs, exp.Column) or theirs.text("table") != new.alias:
        return False
    if theirs.name in new.rows.owners and scope.is_owner(ours) and same_kind(ours, theirs, scope):
        return True
    source = new.before.get(ours.text("table")) if isinstance(ours, exp.Column) else None
    return source is not None and (
        _refers(source.rows, ours.name, new.rows, theirs.name) or _refers(new.rows, theirs.name, source.rows, ours.name)
    )


def _refers(rows: Rows, column: str, other: Rows, key: str) -> bool:
    """Whether this equality is the first step of the path by which the catalog finds the person."""
    if rows.table is None or other.table is None or rows.table.unit is None or not rows.table.unit.path:
        return False
    step = rows.table.unit.path[0]
    return (step.column, step.table, step.key) == (column, other.table.name, key)


def same_kind(a: exp.Expr, b: exp.Expr, scope: Scope) -> bool:
    """Whether equal means equal: no cast that maps several values to one stands between them."""
    kinds = {"int" if kind in _WHOLE_NUMBERS else kind for kind in (kind_of(a, scope), kind_of(b, scope))}
    return len(kinds) == 1 and not kinds & {"unknown", "null"}


def _per_person(scope: Scope, new: _Joined, facts: PublicFacts) -> int | None:
    ours, theirs = scope.per_person, new.rows.per_person
    if new.rows.is_public:
        if new.how == "FULL":
            raise NotAllowed(
                "A full join keeps public rows that belong to nobody.",
                next_step="Use a left join from the protected table.",
            )
        return _times(ours, _multiplicity(scope, new.alias, new.parts, facts))
    if new.meets_public:
        if new.how not in ("INNER", "CROSS") or len(new.before) != 1:
            raise NotAllowed(
                "This join keeps public rows that belong to nobody.", next_step="Start from the protected table."
            )
        return _times(theirs, _multiplicity(scope, next(iter(new.before)), new.parts, facts))
    product = _times(ours, theirs)
    if new.how == "FULL" and product is not None and ours is not None and theirs is not None:
        return max(product, ours + theirs)
    return product


def _times(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a * b


def _multiplicity(scope: Scope, alias: str, parts: list[exp.Expr], facts: PublicFacts) -> int:
    """How many rows of a public relation one row can meet: those that share the columns equated with it."""
    columns = set()
    for part in parts:
        inner = part.unnest()
        if isinstance(inner, exp.EQ):
            for public, other in ((inner.left, inner.right), (inner.right, inner.left)):
                if _is_key(public, other, alias) and same_kind(public, other, scope):
                    columns.add(public.name)
    return max(1, facts.largest_multiplicity(scope.sources[alias].rows.sql, tuple(sorted(columns))))


def _is_key(public: exp.Expr, other: exp.Expr, alias: str) -> bool:
    """Whether a column of a public relation is equated with something that lies outside of it."""
    if not isinstance(public, exp.Column) or public.text("table") != alias:
        return False
    return all(column.text("table") != alias for column in other.find_all(exp.Column))


def _new_owners(scope: Scope, new: _Joined) -> None:
    if new.rows.is_public:
        return
    names = [(new.alias, name) for name in sorted(new.rows.owners)]
    if new.meets_public:
        scope.owner_sql = new.hidden_owner
    if new.how == "FULL":
        scope.owner_sql = f"coalesce({scope.owner_sql}, {new.hidden_owner})"
        scope.owners = [cover | {name} for cover in scope.owners for name in names]
    elif new.how != "LEFT":
        scope.owners += [frozenset({name}) for name in names]
    scope.maybe_owners |= set(names)
