"""EXISTS, IN and scalar subqueries: over public tables freely, over people only within the same person's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.errors import JoinsPeople, NotAllowed
from discreet.sql.expressions import Special, check, condition_text, conjuncts, safe_text
from discreet.sql.joins import same_kind
from discreet.sql.kinds import fit_together, kind_of
from discreet.sql.personal import aggregate
from discreet.sql.scope import Field, Scope, quote

if TYPE_CHECKING:
    from discreet.sql.relations import Names, Reader

_SIMPLE = {"expressions", "from_", "joins", "where", "kind", "hint"}
_WHOLE_TABLE = JoinsPeople(
    "This subquery looks at the whole table, so one person could change what happens to everybody's rows.",
    next_step="Equate its person with the person outside, or ask for it as a question of its own.",
)


def subqueries(reader: Reader, names: Names) -> Special:
    """Stand-ins for subqueries in expressions."""

    def special(node: exp.Expr, scope: Scope) -> exp.Expr | None:
        if isinstance(node, exp.Exists):
            return scope.compute(_exists(reader, names, node.this, scope, None), Field("", "bool"))
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            wanted = check(node.this, scope, special)
            return scope.compute(_in(reader, names, node.args["query"].this, scope, wanted), Field("", "bool"))
        if isinstance(node, exp.Subquery):
            sql, facts = _scalar(reader, names, node.this, scope)
            return scope.compute(sql, facts)
        return None

    return special


def _is_simple(query: exp.Expr) -> bool:
    return isinstance(query, exp.Select) and all(not value or clause in _SIMPLE for clause, value in query.args.items())


def _inner(
    reader: Reader, names: Names, select: exp.Select, scope: Scope, more: exp.Expr | None = None
) -> tuple[Scope, str]:
    """The subquery's scope, and what stands behind its SELECT; refused unless it stays with the person outside.

    `more` equates something outside with what the subquery selects, as IN does.
    """
    inner = reader.scope(select, names, parent=scope)
    special = reader.special(names)
    where = select.args.get("where")
    parts = [check(part, inner, special) for part in conjuncts(where.this)] if where is not None else []
    if more is not None:
        if len(select.expressions) != 1:
            raise NotAllowed("IN takes a subquery of one column.", next_step="Select one column in it.")
        parts.append(exp.EQ(this=check(select.expressions[0].unalias(), inner, special), expression=more.copy()))
    sql = f"FROM {inner.sql}"
    if not inner.is_public:
        if not any(_same_person(part, inner, scope) for part in parts):
            raise _WHOLE_TABLE
        parts_text = f" AND {inner.owner_sql} = {scope.owner_sql}"
    else:
        parts_text = ""
    condition = condition_text(exp.and_(*parts), inner) if parts else "true"
    return inner, f"{sql} WHERE {condition}{parts_text}"


def _same_person(part: exp.Expr, inner: Scope, outer: Scope) -> bool:
    node = part.unnest()
    if not isinstance(node, exp.EQ) or not outer.owner_sql:
        return False
    a, b = node.left, node.right
    return any(inner.is_owner(x) and outer.is_owner(y) and same_kind(x, y, inner) for x, y in ((a, b), (b, a)))


def _exists(reader: Reader, names: Names, query: exp.Expr, scope: Scope, more: exp.Expr | None) -> str:
    if not _is_simple(query):
        raise NotAllowed("EXISTS takes a SELECT with FROM and WHERE only.", next_step="Leave the rest out.")
    _, text = _inner(reader, names, query, scope, more)  # type: ignore[arg-type]  # simple means it is a Select
    return f"EXISTS (SELECT 1 {text})"


def _in(reader: Reader, names: Names, query: exp.Expr, scope: Scope, wanted: exp.Expr) -> str:
    """IN as EXISTS, so that NOT IN means NOT EXISTS and a NULL decides nothing for others."""
    if _is_simple(query):
        return _exists(reader, names, query, scope, wanted)
    rows = reader.rows(query, names)
    if len(rows.fields) != 1:
        raise NotAllowed("IN takes a subquery of one column.", next_step="Select one column in it.")
    name = rows.fields[0].name
    if not fit_together(rows.fields[0].kind, kind_of(wanted, scope)):
        raise NotAllowed("The types of the question do not fit together.", next_step="Compare like with like.")
    condition = f'"$in".{quote(name)} = {safe_text(wanted, scope)}'
    if not rows.is_public:
        if name not in rows.owners or not scope.is_owner(wanted):
            raise _WHOLE_TABLE
        condition = f'"$in"."$owner" = {scope.owner_sql}'
    return f'EXISTS (SELECT 1 FROM {rows.sql} AS "$in" WHERE {condition})'


def _scalar(reader: Reader, names: Names, query: exp.Expr, scope: Scope) -> tuple[str, Field]:
    """One aggregate over the person's own rows of another table, or over a public one: exactly one value, always."""
    if not _is_simple(query) or len(query.expressions) != 1:
        raise NotAllowed("A subquery here gives one aggregate.", next_step="Write (SELECT COUNT(*) FROM … WHERE …).")
    node = query.expressions[0].unalias()
    if not isinstance(node, exp.AggFunc | exp.Filter):
        raise NotAllowed("A subquery here gives one aggregate.", next_step="Write (SELECT COUNT(*) FROM … WHERE …).")
    inner, text = _inner(reader, names, query, scope)  # type: ignore[arg-type]
    sql, facts = aggregate(node, inner, reader.special(names))
    return f"(SELECT {sql} {text})", facts
