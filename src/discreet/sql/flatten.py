"""A SELECT over a release is post-processing: both become one question, so that what is released is sampled once."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.errors import NotAllowed
from discreet.sql.relations import IsRelease, Names, Reader, Release

_INNER = {"expressions", "from_", "joins", "where", "group", "having", "with_", "kind", "hint"}
_OUTER = {"expressions", "from_", "joins", "where", "order", "limit", "with_", "kind", "hint"}


def flattened(select: exp.Select, reader: Reader, outside: Names | None = None) -> tuple[exp.Select, Names]:
    """The question with releases in its FROM put in place, and the names that it may use for other relations."""
    names: Names = reader.with_names(select, outside or {})
    found = _release(select, names, reader)
    if found is None:
        return select, names
    release, aliases = found
    inner = release.query
    if not isinstance(inner, exp.Select):
        raise NotAllowed("Releases cannot be put together.", next_step="Ask for each by itself.")
    _check(select, _OUTER, "over")
    _check(inner, _INNER, "within")
    if len(aliases) > 1 and inner.args.get("group"):
        raise NotAllowed(
            "A release of several rows cannot be joined with itself.",
            next_step="Select from it once, and compute afterwards.",
        )
    inner, names = flattened(inner, reader, release.names)
    columns = {one.alias_or_name.lower(): one.unalias() for one in inner.expressions}

    def put_in(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and (not node.table or node.table.lower() in aliases):
            found = columns.get(node.name.lower())
            return exp.paren(found.copy()) if found is not None else node
        return node

    made = inner.copy()
    made.set("expressions", [_named(one, put_in) for one in _expanded(select, inner)])
    if select.args.get("where"):
        condition = select.args["where"].this.transform(put_in)
        known = inner.args.get("having")
        made.set("having", exp.Having(this=exp.and_(known.this, condition) if known else condition))
    for clause in ("order", "limit"):
        if select.args.get(clause):
            made.set(clause, select.args[clause].transform(put_in))
    return made, names


def _release(select: exp.Select, names: Names, reader: Reader) -> tuple[Release, set[str]] | None:
    """The release that a SELECT reads, under whatever aliases; None if it reads rows of people."""
    origin, joined = select.args.get("from_"), select.args.get("joins") or ()
    nodes = [origin.this, *(join.this for join in joined)] if origin is not None else []
    found: list[Release] = []
    for node in nodes:
        named = names.get(node.name.lower()) if isinstance(node, exp.Table) else None
        if isinstance(named, Release):
            found.append(named)
        elif isinstance(node, exp.Subquery) and _is_release(node.this, names, reader):
            found.append(Release(node.this, names))
    if not found:
        return None
    alone = len(found) == len(nodes) and all(release is found[0] for release in found)
    if not alone or any(join.args.get("on") or join.args.get("using") for join in joined):
        raise NotAllowed(
            "A release cannot be joined with anything else.", next_step="Ask for it, and join the answers."
        )
    return found[0], {node.alias_or_name.lower() for node in nodes}


def _is_release(query: exp.Expr, names: Names, reader: Reader) -> bool:
    try:
        reader.rows(query, names)
    except IsRelease:
        return True
    return False


def _check(select: exp.Select, known: set[str], where: str) -> None:
    for clause, value in select.args.items():
        if value and clause not in known:
            raise NotAllowed(
                f"{clause.strip('_').upper()} is not known {where} a release.",
                next_step="Ask for the inner part by itself.",
            )
    if where == "over" and any(node.find(exp.AggFunc, exp.Window, exp.Subquery) for node in select.expressions):
        raise NotAllowed("Noisy rows are not added up here.", next_step="Ask for the sum directly: it is more exact.")


def _expanded(select: exp.Select, inner: exp.Select) -> list[exp.Expr]:
    made: list[exp.Expr] = []
    for node in select.expressions:
        made += [exp.column(one.alias_or_name) for one in inner.expressions] if isinstance(node, exp.Star) else [node]
    return made


def _named(node: exp.Expr, put_in: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    name = node.alias_or_name
    changed = node.unalias().transform(put_in)
    return (
        exp.alias_(changed.unnest() if isinstance(changed, exp.Paren) else changed, name, quoted=True)
        if name
        else changed
    )
