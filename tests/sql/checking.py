"""What one person may change, held against what is charged: on exact results, before any noise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from discreet.accounting import Composed
from discreet.algebra import released_expressions
from discreet.algebra.query import MeasureKind
from discreet.algebra.relations import Filter, Join, Mark, PerPerson, Project, Scan, UnionAll, Windowed
from discreet.core.exact import exact
from discreet.mechanisms import Gaussian, Quantile
from discreet.planning.query_planning import plan_query

SLACK = Fraction(1, 10**9)
"""The losses of quantiles are computed in floating point."""


def planned(sql, catalog, engine, **details):
    """The plan of a question, bound by the engine."""
    plan = plan_query(sql, catalog, engine, **{"epsilon": 1, **details})
    for query in plan.queries:
        engine.bind(query)
    return plan


def run(plan, engine):
    """The exact rows of every question and set."""
    return [engine.run(query) for query in plan.queries]


def groups(rows):
    """Key to the integers of each measure."""
    keys = keys_of(rows)
    return {key: tuple(int(column[at]) for column in rows.measures) for at, key in enumerate(keys)}


def keys_of(rows):
    """Keys as tuples of Python values."""
    count = len(rows.measures[0]) if rows.measures else 0
    return list(zip(*(column.to_pylist() for column in rows.keys), strict=True)) if rows.keys else [()] * count


def people(rows):
    """Key to the number of people."""
    return {} if rows.people is None else dict(zip(keys_of(rows), map(int, rows.people), strict=True))


def histograms(rows, index):
    """Key to {bin: rows} of a quantile."""
    keys, found = keys_of(rows), {}
    for group, bin_, count in zip(*(part.tolist() for part in rows.histograms[index]), strict=True):
        found.setdefault(keys[group], {})[bin_] = count
    return found


def moved(one, other, index):
    """How far a measure moves in each group."""
    a, b = groups(one), groups(other)
    return [abs(_value(a, key, index) - _value(b, key, index)) for key in {*a, *b}]


def _value(by_key, key, index):
    return by_key[key][index] if key in by_key else 0


def quantile_loss(mechanism, one, other, index):
    """The privacy loss of a quantile over all groups, from the laws of its choices; and how many rows moved.

    The laws come from the scores alone, so a mistake about the sensitivity cannot hide itself here.
    """
    mine, theirs = histograms(one, index), histograms(other, index)
    loss, rows = 0.0, 0
    for key in {*mine, *theirs}:
        a, b = mine.get(key, {}), theirs.get(key, {})
        rows += sum(abs(a.get(bin_, 0) - b.get(bin_, 0)) for bin_ in {*a, *b})
        loss += _apart(_law(mechanism, a), _law(mechanism, b))
    return Fraction(loss), rows


def _law(mechanism, histogram):
    counts = np.zeros(len(mechanism.candidates), np.int64)
    for bin_, count in histogram.items():
        counts[bin_] = count
    scores = mechanism._scores(counts).astype(float) * float(mechanism.selection.rate)
    return scores - (scores.max() + math.log(np.exp(scores - scores.max()).sum()))


def _apart(a, b):
    return float(np.max(np.abs(a - b)))


def loss_between(plan, whole, without):
    """The privacy loss of all measures together between two exact results, and the furthest that any measure moved."""
    total, furthest = Fraction(0), 0
    for query, sets, mine, theirs in zip(plan.queries, plan.grouping_sets, whole, without, strict=True):
        for grouping, a, b in zip(sets, mine, theirs, strict=True):
            for index, mechanisms in enumerate(grouping.mechanisms):
                loss, moves = _measure_loss(query, mechanisms, index, a, b)
                total, furthest = total + loss, max(furthest, moves)
            if grouping.selection is not None:
                total += _selection_loss(grouping, a, b)
    return total, furthest


def _measure_loss(query, mechanisms, index, a, b):
    if query.measures[index].kind is MeasureKind.QUANTILE:
        losses = [quantile_loss(mechanism, a, b, index) for mechanism in mechanisms]
        assert all(loss <= exact(m.epsilon) + SLACK for (loss, _), m in zip(losses, mechanisms, strict=True)), "a quantile loses more than its epsilon"  # fmt: skip
        return sum(loss for loss, _ in losses), losses[0][1]
    moves = moved(a, b, index)
    if not mechanisms:
        assert not any(moves), "a number that is free moves"
        return Fraction(0), 0
    (mechanism,) = mechanisms
    if isinstance(mechanism, Gaussian):
        assert sum(move**2 for move in moves) <= exact(mechanism.sensitivity) ** 2, (
            "moves further than the L2 sensitivity"
        )
        return Fraction(0), sum(moves)
    assert sum(moves) <= exact(mechanism.sensitivity), "moves further than the sensitivity"
    return Fraction(sum(moves)) / mechanism.scale, sum(moves)


def _selection_loss(grouping, a, b):
    mine, theirs = people(a), people(b)
    changed = [key for key in {*mine, *theirs} if mine.get(key, 0) != theirs.get(key, 0)]
    assert len(changed) <= grouping.selections, "is in more groups than the selection pays for"
    assert all(abs(mine.get(key, 0) - theirs.get(key, 0)) <= 1 for key in changed)
    return len(changed) * exact(grouping.selection.epsilon)


def check_neighbours(plan, engine, neighbours):
    """No neighbour loses more than what is charged; the furthest that any measure moved."""
    whole = run(plan, engine)
    return _check_pairs(plan, ((whole, run(plan, neighbour)) for neighbour in neighbours))


def check_any_two(plan, engines):
    """The same where any two are neighbours; a loss is the same in both directions."""
    return _check_pairs(plan, itertools.combinations([run(plan, engine) for engine in engines], 2))


def _check_pairs(plan, pairs):
    charged, furthest = Composed.of(plan.releases).exact_pure_epsilon, 0
    for one, other in pairs:
        loss, moves = loss_between(plan, one, other)
        assert charged is None or loss <= charged + SLACK, "loses more than what is charged"
        furthest = max(furthest, moves)
    return furthest


# Plans in words


def shape(relation):
    """A relation's nodes, without literals."""
    match relation:
        case Scan():
            return relation.table.name
        case Join():
            return (
                "join",
                relation.how.value,
                shape(relation.left),
                shape(relation.right),
                len(relation.keys),
                _calls(relation.on),
            )
        case Mark():
            return ("mark", shape(relation.rows), shape(relation.others), len(relation.keys), _calls(relation.on))
        case UnionAll():
            return ("stack", *(shape(part) for part in relation.parts))
        case Filter():
            return ("keep", shape(relation.rows), _calls(relation.condition))
        case Project():
            return ("compute", shape(relation.rows), *(_calls(part) for part in relation.expressions))
        case PerPerson():
            folds = tuple((a.fold.value, _calls(a.value), _calls(a.where)) for a in relation.aggregates)
            return ("per person", shape(relation.rows), tuple(map(_calls, relation.keys)), folds)
        case Windowed():
            return ("windowed", shape(relation.rows), *(_window(window) for window in relation.windows))
    raise AssertionError(relation)


def _window(window):
    what = getattr(window.operation, "value", window.operation)
    return (str(what), len(window.partition), len(window.order))


def _calls(expression):
    if expression is None:
        return None
    if hasattr(expression, "function"):
        return (expression.function.name, *map(_calls, expression.args))
    return expression.at if hasattr(expression, "at") else "?"


def shape_of(plan):
    """What makes two plans the same kind of plan: literals and limits aside."""
    return tuple(
        (
            shape(query.rows),
            query.needs_bounding,
            tuple(_calls(key.expression) for key in query.keys),
            tuple((m.kind, tuple(map(_calls, m.values)), _calls(m.where), m.q) for m in query.measures),
            query.sets,
            tuple(type(m).__name__ for p in sets for several in p.mechanisms for m in several),
        )
        for query, sets in zip(plan.queries, plan.grouping_sets, strict=True)
    ), _view(plan.view)


def _view(view):
    if isinstance(view, released_expressions.Release):
        return ("release", view.query, tuple(_ops(part) for _, part in view.columns), _ops(view.having))
    if isinstance(view, released_expressions.Pairs):
        return ("pairs", _view(view.left), _view(view.right))
    if isinstance(view, released_expressions.Stacked):
        return ("stacked", *map(_view, view.tables))
    if isinstance(view, released_expressions.Sorted):
        return (
            "sorted",
            _view(view.table),
            tuple((_ops(part), descending) for part, descending in view.order),
            view.limit is None,
        )
    if isinstance(view, released_expressions.Folded):
        return ("folded", _view(view.table), view.folds)
    return ("select", _view(view.table), tuple(_ops(part) for _, part in view.columns), _ops(view.where))


def _ops(part):
    if part is None:
        return None
    inner = tuple(_ops(arg) for arg in getattr(part, "args", ()))
    return (
        type(part).__name__,
        *(str(getattr(part, name)) for name in ("op", "kind", "key", "at", "measures") if hasattr(part, name)),
        inner,
    )


def summary(plan):
    """A plan on one line, as the fixtures have it."""
    return " || ".join(_summary(query, sets) for query, sets in zip(plan.queries, plan.grouping_sets, strict=True))


def _summary(query, sets):
    values = ", ".join(f"[{'?' if key.values is None else len(key.values)}]" for key in query.keys)
    limits = query.limits
    cut = (
        ""
        if not query.needs_bounding
        else " cut"
        if limits.groups is None
        else f" cut {limits.groups}x{limits.rows_per_group}"
    )
    lines = []
    for grouping in sets:
        parts = [
            f"{measure.kind.value} {_sensitivity(mechanisms)}"
            for measure, mechanisms in zip(query.measures, grouping.mechanisms, strict=True)
        ]
        parts += [f"select x{grouping.selections}"] if grouping.selection else []
        lines.append(("" if len(sets) == 1 else f"({','.join(map(str, grouping.keys))}) ") + ", ".join(parts))
    return f"{limits.rows} rows{cut}; {values or '-'}; {' | '.join(lines)}"


def _sensitivity(mechanisms):
    if not mechanisms:
        return "free"
    first = mechanisms[0]
    return exact(first.rows if isinstance(first, Quantile) else first.sensitivity)


def every_key(query, keys):
    """The cross product of declared values."""
    return list(itertools.product(*(query.keys[index].values or () for index in keys)))
