"""A SELECT over released tables: postprocessing of noisy results, which has no privacy cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from discreet.algebra.released_expressions import After, ColumnOf, Folded, Pairs, Select, Stacked, View
from discreet.catalog import Type
from discreet.errors import NotAllowed, UnknownName
from discreet.sql.expressions.postprocessing_expressions import FOLDS, Computed, ReleasedExpressionReader
from discreet.sql.reader.error_location import unknown_name
from discreet.sql.reader.reader_model import Released
from discreet.sql.releases.release_select import check_clauses, limit_of, named_outputs, ordered, sorted_view

_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_", "kind", "hint"}


@dataclass(frozen=True, slots=True)
class Source:
    """A released table in FROM: its name in the query, and the position of its first column."""

    called: str
    released: Released
    first: int


@dataclass(slots=True)
class RowReader(ReleasedExpressionReader):
    """Reads expressions over the columns of several released tables."""

    sources: list[Source]

    def columns(self, called: str = "") -> list[tuple[str, Computed]]:
        """Return all columns in order, or those of one table."""
        return [
            (name, Computed(ColumnOf(source.first + at), source.released.types[at]))
            for source in self.sources
            if not called or source.called.lower() == called.lower()
            for at, name in enumerate(source.released.names)
        ]

    def leaf(self, node: exp.Expr) -> Computed | None:
        if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.Subquery | exp.Exists):
            raise NotAllowed(
                "This cannot be computed from noisy results.", next_step="Use SUM, AVG, MIN, MAX or COUNT."
            )
        if not isinstance(node, exp.Column):
            return None
        named = [computed for name, computed in self.columns(node.table) if name.lower() == node.name.lower()]
        if len(named) > 1:
            raise UnknownName(f"Several tables have a column {node.name}.", next_step=f"Write table.{node.name}.")
        if not named:
            known = [name for name, _ in self.columns(node.table)]
            problem = f"The tables in FROM have no column {node.name}."
            raise unknown_name(problem, node.name, known, next_step="Use an output column of the inner query.")
        return named[0]


@dataclass(slots=True)
class FoldReader(ReleasedExpressionReader):
    """Reads expressions over the keys and aggregates of a grouped released table."""

    rows: RowReader
    keys: list[tuple[exp.Expr, Computed]] = field(default_factory=list)
    folds: list[tuple[str, After | None]] = field(default_factory=list)

    def leaf(self, node: exp.Expr) -> Computed | None:
        for at, (written, computed) in enumerate(self.keys):
            if written == node:
                return Computed(ColumnOf(at), computed.type)
        if type(node) in FOLDS:
            return self._fold(node)
        if isinstance(node, exp.Column | exp.AggFunc | exp.Filter | exp.WithinGroup | exp.Subquery | exp.Exists):
            raise NotAllowed(
                "A column is neither in GROUP BY nor inside an aggregate.", next_step="Add it to GROUP BY."
            )
        return None

    def _fold(self, node: exp.Expr) -> Computed:
        op = FOLDS[type(node)]
        if isinstance(node.this, exp.Star):
            return Computed(ColumnOf(self._position("count", None)), Type.INTEGER)
        if isinstance(node.this, exp.Distinct):
            raise NotAllowed("DISTINCT aggregates over noisy results are not supported.", next_step="Remove DISTINCT.")
        argument = self.rows.read(node.this)
        if op in ("sum", "avg") and argument.type not in (Type.INTEGER, Type.REAL, None):
            raise NotAllowed("SUM and AVG need numbers.", next_step="Use a numeric column.")
        return Computed(ColumnOf(self._position(op, argument.value)), Type.INTEGER if op == "count" else argument.type)

    def _position(self, op: str, argument: After | None) -> int:
        """Return the position of an aggregate's column, after the keys."""
        if (op, argument) not in self.folds:
            self.folds.append((op, argument))
        return len(self.keys) + self.folds.index((op, argument))


def read_view(select: exp.Select, sources: list[tuple[str, Released]]) -> Released:
    """Read a SELECT over released tables, each with its name in the query."""
    check_clauses(select, _CLAUSES, "over a release")
    placed: list[Source] = []
    first = 0
    for called, released in sources:
        if any(called.lower() == other.called.lower() for other in placed):
            raise UnknownName("Two tables in FROM have the same name.", next_step="Give one of them an alias with AS.")
        placed.append(Source(called, released, first))
        first += len(released.names)
    table: View = placed[0].released.view
    for source in placed[1:]:
        table = Pairs(table, source.released.view)
    rows = RowReader(placed)
    where = _conditions(select, rows)
    if _folds(select):
        return _folded(select, table, where, rows)
    shown = _expanded(select, rows)
    outputs = [(name, computed.value) for name, computed in shown]
    order = [ordered(node, outputs, rows) for node in _listed(select)]
    view = sorted_view(lambda columns: Select(table, columns, where), outputs, order, limit_of(select))
    return Released(view, tuple(name for name, _ in shown), tuple(computed.type for _, computed in shown))


def stacked(parts: list[Released]) -> Released:
    """Return the UNION ALL of released tables."""
    first = parts[0]
    if any(len(part.names) != len(first.names) for part in parts):
        raise NotAllowed(
            "Both sides of a set operation need the same number of columns.",
            next_step="Select matching columns on both sides.",
        )
    for kinds in zip(*(part.types for part in parts), strict=True):
        known = {kind for kind in kinds if kind is not None}
        if len(known) > 1 and known != {Type.INTEGER, Type.REAL}:
            raise NotAllowed(
                "Both sides of UNION ALL need columns of the same types.",
                next_step="Select matching columns on both sides.",
            )
    return Released(Stacked(tuple(part.view for part in parts)), first.names, first.types)


def _folds(select: exp.Select) -> bool:
    nodes = [*select.expressions, *([select.args["having"].this] if select.args.get("having") else [])]
    return select.args.get("group") is not None or any(_has_fold(node) for node in nodes)


def _has_fold(node: exp.Expr) -> bool:
    if isinstance(node, exp.Window | exp.Subquery):
        return False
    return isinstance(node, exp.AggFunc | exp.Filter) or any(_has_fold(child) for child in node.iter_expressions())


def _folded(select: exp.Select, table: View, where: After | None, rows: RowReader) -> Released:
    if where is not None:
        kept = tuple((name, computed.value) for name, computed in rows.columns())
        table = Select(table, kept, where)
    reader = FoldReader(rows)
    group = select.args.get("group")
    for node in group.expressions if group is not None else ():
        written = _resolve_key(node, select, rows)
        reader.keys.append((written, rows.read(written)))
    shown = [(name, reader.read(node)) for name, node in named_outputs(select)]
    outputs = [(name, computed.value) for name, computed in shown]
    having = reader.read(select.args["having"].this).value if select.args.get("having") else None
    order = [ordered(node, outputs, reader) for node in _listed(select)]
    keys = tuple((f"key {at}", computed.value) for at, (_, computed) in enumerate(reader.keys))
    folds = tuple((f"fold {at}", op, argument) for at, (op, argument) in enumerate(reader.folds))
    view = sorted_view(
        lambda columns: Select(Folded(table, keys, folds), columns, having), outputs, order, limit_of(select)
    )
    return Released(view, tuple(name for name, _ in shown), tuple(computed.type for _, computed in shown))


def _resolve_key(node: exp.Expr, select: exp.Select, rows: RowReader) -> exp.Expr:
    """Resolve numbers and aliases of the SELECT list in GROUP BY. Columns of the tables come before aliases."""
    if isinstance(node, exp.Literal) and node.is_int and 1 <= int(node.name) <= len(select.expressions):
        return select.expressions[int(node.name) - 1].unalias()
    if (
        isinstance(node, exp.Column)
        and not node.table
        and all(name.lower() != node.name.lower() for name, _ in rows.columns())
    ):
        aliases = [part for part in select.expressions if isinstance(part, exp.Alias)]
        return next((part.this for part in aliases if part.alias.lower() == node.name.lower()), node)
    return node


def _conditions(select: exp.Select, rows: RowReader) -> After | None:
    """Read WHERE, and the ON of inner joins."""
    nodes = [select.args["where"].this] if select.args.get("where") else []
    for join in select.args.get("joins") or ():
        if (
            (join.side or "").upper()
            or join.args.get("using")
            or (join.kind or "").upper() not in ("", "INNER", "CROSS")
        ):
            raise NotAllowed(
                "Aggregated results can be joined only with a comma, CROSS JOIN or JOIN … ON.",
                next_step="Use JOIN … ON.",
            )
        nodes += [join.args["on"]] if join.args.get("on") is not None else []
    if not nodes:
        return None
    condition = rows.read(exp.and_(*(node.copy() for node in nodes)))
    if condition.type not in (Type.BOOLEAN, None):
        raise NotAllowed("A condition must be a BOOLEAN.", next_step="Write a comparison, for example n > 100.")
    return condition.value


def _expanded(select: exp.Select, rows: RowReader) -> list[tuple[str, Computed]]:
    """Return the output columns, with * and t.* expanded."""
    shown: list[tuple[str, Computed]] = []
    named = iter(named_outputs(select))
    for node in select.expressions:
        name, inner = next(named)
        if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
            if any(value for key, value in inner.args.items() if key not in ("this", "table")):
                raise NotAllowed(
                    "Only a plain * (or * EXCLUDE) is supported here.", next_step="List the columns by name."
                )
            shown += rows.columns(node.text("table"))
        else:
            shown.append((name, rows.read(inner)))
    taken: list[str] = []
    for at, (name, computed) in enumerate(shown):
        taken.append(name)
        again = taken.count(name)
        shown[at] = (name if again == 1 else f"{name}_{again}", computed)
    return shown


def _listed(select: exp.Select) -> list[exp.Expr]:
    return select.args["order"].expressions if select.args.get("order") else []
