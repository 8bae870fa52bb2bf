"""A SELECT that aggregates across people: its keys, measures, and released table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sqlglot import exp

from discreet.algebra.expressions import Expression
from discreet.algebra.query import Choose, Key, Measure, MeasureKind, Query
from discreet.algebra.released_expressions import After, ColumnOf, Grouping, KeyOf, Release, Select, Sorted, View
from discreet.catalog import Type
from discreet.errors import NotAllowed, TooLarge
from discreet.sql.expressions.postprocessing_expressions import Computed, ReleasedExpressionReader, has_aggregate
from discreet.sql.expressions.row_expressions import expression
from discreet.sql.reader.contribution_options import contribution_bounds_of, with_row_bound
from discreet.sql.reader.error_location import clause_name
from discreet.sql.reader.query_text import Options
from discreet.sql.reader.reader_model import Context, Names, Released
from discreet.sql.reader.scope import Scope
from discreet.sql.relations.from_clause import apply_where, open_from
from discreet.sql.relations.row_selects import named_in_select
from discreet.sql.releases.group_keys import grouping_sets_of, public_values
from discreet.sql.releases.measures import MeasureCollector

_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_", "kind", "hint"}
_LONGEST_LIMIT = 12
Columns: TypeAlias = tuple[tuple[str, After], ...]


@dataclass(slots=True)
class GroupReader(ReleasedExpressionReader):
    """Reads the keys and aggregates of one SELECT as expressions over released groups."""

    scope: Scope
    context: Context
    names: Names
    collector: MeasureCollector = field(init=False)
    keys: list[Key] = field(default_factory=list)
    key_nodes: list[exp.Expr] = field(default_factory=list)
    """The nodes of the keys. Equal nodes are the same key."""

    def __post_init__(self) -> None:
        self.collector = MeasureCollector(self.expression, lambda: self.scope.relation)

    def expression(self, node: exp.Expr) -> Expression:
        return expression(node, self.scope, self.context, self.names)

    def key(self, node: exp.Expr) -> int:
        """Return the number of a group key. Equal keys share a number."""
        if node in self.key_nodes:
            return self.key_nodes.index(node)
        meaning = self.expression(node)
        for index, known in enumerate(self.keys):
            if known.expression == meaning:
                return index
        self.keys.append(Key(meaning, public_values(meaning, self.context.lookup)))
        self.key_nodes.append(node)
        return len(self.keys) - 1

    def leaf(self, node: exp.Expr) -> Computed | None:
        if isinstance(node, exp.Grouping) and len(node.expressions) == 1:
            return Computed(Grouping(self._known_key(node.expressions[0])), Type.INTEGER)
        if isinstance(node, exp.Filter | exp.AggFunc | exp.WithinGroup):
            return self.collector.aggregate(node)
        if has_aggregate(node):
            return None
        if node in self.key_nodes:
            return self._shown(self.key_nodes.index(node))
        if isinstance(node, exp.Column):
            return self._shown(self._known_key(node))
        if isinstance(node, exp.Subquery | exp.Exists):
            return self._shown(self._known_key(node))
        index = self._same_key(node) if node.find(exp.Column) is not None else None
        return None if index is None else self._shown(index)

    def _shown(self, index: int) -> Computed:
        return Computed(KeyOf(index), self.keys[index].expression.properties.type)

    def _same_key(self, node: exp.Expr) -> int | None:
        meaning = self.expression(node)
        return next((index for index, key in enumerate(self.keys) if key.expression == meaning), None)

    def _known_key(self, node: exp.Expr) -> int:
        if node in self.key_nodes:
            return self.key_nodes.index(node)
        index = self._same_key(node)
        if index is None:
            raise NotAllowed(
                "A column is neither in GROUP BY nor inside an aggregate.",
                next_step="Add it to GROUP BY, or use it in an aggregate such as AVG(x).",
            )
        return index


def read_release(select: exp.Select, names: Names, context: Context, options: Options) -> Released:
    """Read a SELECT that aggregates across people. Its query is added to the context."""
    check_clauses(select, _CLAUSES)
    scope = open_from(select, names, context)
    apply_where(select, scope, names, context)
    if scope.relation.is_public:
        raise NotAllowed(
            "This query reads public tables only. They need no protection.",
            next_step="Query a protected table, or read the public file directly.",
        )
    reader = GroupReader(scope, context, names)
    if any(isinstance(node.unalias(), exp.Mode) for node in select.expressions):
        return _mode(select, reader, options)
    sets = grouping_sets_of(select, lambda node: reader.key(named_in_select(node, select, scope)))
    shown = [(name, reader.read(node)) for name, node in named_outputs(select)]
    outputs = [(name, computed.value) for name, computed in shown]
    having = _having(select, reader)
    order = [ordered(node, outputs, reader) for node in _listed(select.args.get("order"))]
    if not reader.collector.measures:
        raise NotAllowed("The query has no aggregate.", next_step="Add COUNT(*).")
    limits = contribution_bounds_of(scope.relation, options, context.catalog, has_keys=bool(reader.keys))
    query = Query(
        rows=with_row_bound(scope.relation, limits),
        keys=tuple(Key(scope.rebase(key.expression), key.values) for key in reader.keys),
        measures=tuple(_rebase_measure(measure, scope) for measure in reader.collector.measures),
        limits=limits,
        sets=tuple(sets),
    )
    context.queries.append(query)
    context.notes.extend(note for note in reader.collector.notes if note not in context.notes)
    number = len(context.queries) - 1
    view = sorted_view(lambda columns: Release(number, columns, having), outputs, order, limit_of(select))
    return Released(view, tuple(name for name, _ in shown), tuple(computed.type for _, computed in shown))


def _rebase_measure(measure: Measure, scope: Scope) -> Measure:
    """Return a measure over the current relation."""
    where = None if measure.where is None else scope.rebase(measure.where)
    return replace(measure, values=tuple(scope.rebase(value) for value in measure.values), where=where)


def _mode(select: exp.Select, reader: GroupReader, options: Options) -> Released:
    """Read MODE(x): the values of x compete by their number of rows, and only the winner is released."""
    scope, context = reader.scope, reader.context
    ((name, node), *others) = named_outputs(select)
    if others or any(select.args.get(clause) for clause in ("group", "having", "order", "limit")):
        raise NotAllowed(
            "MODE must be the only output, without GROUP BY, HAVING, ORDER BY and LIMIT.",
            next_step="Write for example SELECT MODE(ward) FROM visits.",
        )
    value = reader.expression(node.this)
    listed = public_values(value, context.lookup)
    if listed is None:
        raise NotAllowed(
            "MODE needs a column whose possible values are declared.",
            next_step="Ask the data owner to declare the column's values.",
        )
    key = Key(scope.rebase(value), tuple(part for part in listed if part is not None))
    limits = contribution_bounds_of(scope.relation, options, context.catalog, has_keys=True)
    rows = with_row_bound(scope.relation, limits)
    measures = (Measure(kind=MeasureKind.ROWS),)
    context.queries.append(
        Query(rows=rows, keys=(key,), measures=measures, limits=limits, sets=((0,),), choose=Choose(0, 1))
    )
    view = Release(len(context.queries) - 1, ((name, KeyOf(0)),))
    return Released(view, (name,), (value.properties.type,))


def _having(select: exp.Select, reader: GroupReader) -> After | None:
    """Read HAVING, with aliases of the SELECT list resolved."""
    clause = select.args.get("having")
    if clause is None:
        return None

    def resolved(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node in reader.key_nodes:
            return node
        named = named_in_select(node, select, reader.scope)
        return node if named is node else exp.paren(named.copy())

    read = reader.read(clause.this.transform(resolved))
    if read.type not in (Type.BOOLEAN, None):
        raise NotAllowed("A condition must be a BOOLEAN.", next_step="Write a comparison, for example COUNT(*) > 100.")
    return read.value


def named_outputs(select: exp.Select) -> list[tuple[str, exp.Expr]]:
    """Return the output columns with their names: alias, column name or text. Repeated names get a number."""
    named: list[tuple[str, exp.Expr]] = []
    names: list[str] = []
    for node in select.expressions:
        inner = node.unalias()
        name = node.alias or (
            inner.name if isinstance(inner, exp.Column) else inner.sql("duckdb", comments=False).lower()
        )
        names.append(name)
        again = names.count(name)
        named.append((name if again == 1 else f"{name}_{again}", inner))
    return named


def ordered(
    node: exp.Expr, outputs: Sequence[tuple[str, After]], reader: ReleasedExpressionReader
) -> tuple[After, bool]:
    """Read a key of ORDER BY: the name or number of an output, or an expression. True means descending."""
    inner, descending = node.this, bool(node.args.get("desc"))
    if isinstance(inner, exp.Literal) and inner.is_int and 1 <= int(inner.name) <= len(outputs):
        return outputs[int(inner.name) - 1][1], descending
    if isinstance(inner, exp.Column) and not inner.table:
        for name, after in outputs:
            if name.lower() == inner.name.lower():
                return after, descending
    return reader.read(inner).value, descending


def sorted_view(
    table: Callable[[Columns], View],
    outputs: Sequence[tuple[str, After]],
    order: Sequence[tuple[After, bool]],
    limit: int | None,
) -> View:
    """Return the sorted table. Sort keys that are not outputs become extra columns, which are dropped at the end."""
    columns = tuple(outputs)
    if not order and limit is None:
        return table(columns)
    keys = []
    for after, descending in order:
        at = next((index for index, (_, known) in enumerate(columns) if known == after), len(columns))
        if at == len(columns):
            columns = (*columns, (f"order {at}", after))
        keys.append((ColumnOf(at), descending))
    view: View = Sorted(table(columns), tuple(keys), limit)
    if len(columns) > len(outputs):
        view = Select(view, tuple((name, ColumnOf(at)) for at, (name, _) in enumerate(outputs)))
    return view


def check_clauses(select: exp.Select, known: set[str], where: str = "here") -> None:
    """Refuse clauses that are not in `known`."""
    for clause, value in select.args.items():
        if value and clause not in known:
            step = "Remove it; to list values, use GROUP BY with COUNT(*)." if clause == "distinct" else "Remove it."
            raise NotAllowed(f"{clause_name(clause)} is not allowed {where}.", next_step=step)


def limit_of(select: exp.Expr) -> int | None:
    """Return the number of a LIMIT, or None."""
    limit = select.args.get("limit")
    if limit is None:
        return None
    more = any(value for name, value in limit.args.items() if name not in ("this", "expression"))
    if more or not isinstance(limit.expression, exp.Literal) or not limit.expression.is_int:
        raise NotAllowed("LIMIT needs a whole number.", next_step="Write LIMIT 10.")
    if len(limit.expression.name) > _LONGEST_LIMIT:
        raise TooLarge("A number in the query is too long or too large.", next_step="Write it with fewer digits.")
    return int(limit.expression.name)


def _listed(clause: exp.Expr | None) -> list[exp.Expr]:
    return clause.expressions if clause is not None else []
