"""What one person may change, held against what is charged: on exact results, before any noise."""

from __future__ import annotations

import re
from fractions import Fraction

from discreet.accounting import Composed
from discreet.answering.answer import Answer, stored_form
from discreet.answering.release import Noisy
from discreet.engines.exact_rows import ExactRows
from discreet.exact import exact
from discreet.loss import Loss, Neighbours
from discreet.mechanisms import Gaussian, Quantile
from discreet.sql.plan import Kind


def moved(one: ExactRows, other: ExactRows, index: int) -> list[int]:
    """How far a measure moves in each group."""
    return [abs(_value(one, key, index) - _value(other, key, index)) for key in {*one.groups, *other.groups}]


def _value(rows, key, index):
    return rows.groups[key][index] if key in rows.groups else 0


def moved_histogram(one: ExactRows, other: ExactRows, index: int) -> int:
    """How many rows of a quantile's histogram appear or vanish, over all groups."""
    mine, theirs = one.histograms[index], other.histograms[index]
    total = 0
    for key in {*mine, *theirs}:
        a, b = (dict(zip(*map(list, side[key]), strict=True)) if key in side else {} for side in (mine, theirs))
        total += sum(abs(a.get(bin_, 0) - b.get(bin_, 0)) for bin_ in {*a, *b})
    return total


def loss_between(plan, whole, without) -> tuple[Fraction, list[int]]:
    """The privacy loss of all measures together between two exact results, and how far each measure moved."""
    total, moves = Fraction(0), [0] * len(plan.measures)
    for one, a, b in zip(plan.sets, whole, without, strict=True):
        for index, mechanisms in enumerate(one.mechanisms):
            for mechanism in mechanisms:
                if isinstance(mechanism, Quantile):
                    rows = moved_histogram(a, b, index)
                    allowed = mechanism.rows * (1 if mechanism.neighbours is Neighbours.ADD_REMOVE else 2)
                    total += exact(mechanism.epsilon) * rows / allowed
                    moves[index] = max(moves[index], rows)
                    assert rows <= allowed, "more rows than the quantile pays for"
                    continue
                groups = moved(a, b, index)
                moves[index] = max(moves[index], sum(groups))
                if isinstance(mechanism, Gaussian):
                    squared = sum(move**2 for move in groups)
                    assert squared <= exact(mechanism.sensitivity) ** 2, "moves further than the L2 sensitivity"
                    continue
                assert sum(groups) <= exact(mechanism.sensitivity), "moves further than the sensitivity"
                total += Fraction(sum(groups)) / mechanism.scale
        if one.selection is not None:
            changed = sum(a.people.get(key, 0) != b.people.get(key, 0) for key in {*a.people, *b.people})
            assert changed <= one.selections, "is in more groups than the selection pays for"
            assert all(abs(a.people.get(key, 0) - b.people.get(key, 0)) <= 1 for key in {*a.people, *b.people})
            total += changed * exact(one.selection.epsilon)
    return total, moves


def check_neighbours(plan, engine, neighbours) -> list[int]:
    """No neighbour loses more than what is charged; the furthest that each measure moved."""
    charged = Composed.of(plan.releases).exact_pure_epsilon
    whole = engine.run(plan)
    furthest = [0] * len(plan.measures)
    for neighbour in neighbours:
        loss, moves = loss_between(plan, whole, neighbour.run(plan))
        assert charged is None or loss <= charged, "loses more than what is charged"
        furthest = [max(a, b) for a, b in zip(furthest, moves, strict=True)]
    return furthest


def without_noise(plan, rows) -> Answer:
    """The answer that the exact integers would give; every group that is in the data or declared."""
    import itertools

    noisy = []
    for one, exact_rows in zip(plan.sets, rows, strict=True):
        domains = [plan.keys[index].domain for index in one.keys]
        keys = (
            sorted(exact_rows.people, key=repr)
            if one.selection
            else list(itertools.product(*(d or () for d in domains)))
        )
        columns = [
            [(0, 0, 0) if measure.kind is Kind.QUANTILE else (_value(exact_rows, key, index),) for key in keys]
            for index, measure in enumerate(plan.measures)
        ]
        noisy.append(Noisy(tuple(keys), tuple(tuple(column) for column in columns)))
    return Answer(plan, stored_form(noisy), Loss(1), False, "")


_LITERALS = re.compile(r"'[^']*'|\b\d+(\.\d+)?\b")
_ALIASES = re.compile(r'"?\bt\d+\b"?')


def shape(plan) -> tuple:
    """What makes two plans the same kind of plan: literals and limits aside."""

    def bare(sql):
        return None if sql is None else _LITERALS.sub("?", _ALIASES.sub("t", sql))

    cut = plan.relation.cut
    return (
        bare(plan.relation.sql),
        None if cut is None else (cut.rows is None, cut.groups is None, cut.rows_per_group is None),
        tuple(bare(key.sql) for key in plan.keys),
        tuple((m.kind, bare(m.sql), bare(m.where), m.q) for m in plan.measures),
        tuple(one.keys for one in plan.sets),
        tuple(tuple(type(m).__name__ for several in one.mechanisms for m in several) for one in plan.sets),
        tuple(_ops(output.post) for output in plan.outputs),
        None if plan.having is None else _ops(plan.having),
        tuple((_ops(post), falling) for post, falling in plan.order),
        plan.limit is None,
    )


def _ops(post):
    return (post.op, post.value if post.op == "variance" else None, post.index, *(map(_ops, post.args)))


def summary(plan) -> str:
    """A plan on one line, as the fixtures have it."""
    keys = ", ".join(f"{key.name}[{'?' if key.domain is None else len(key.domain)}]" for key in plan.keys)
    cut = plan.relation.cut
    limits = "" if cut is None else f" cut({cut.rows or '-'}, {cut.groups or '-'}x{cut.rows_per_group or '-'})"
    sets = []
    for one in plan.sets:
        parts = [
            f"{measure.kind.value} {exact(mechanisms[0].rows if measure.kind is Kind.QUANTILE else mechanisms[0].sensitivity)}"
            for measure, mechanisms in zip(plan.measures, one.mechanisms, strict=True)
        ]
        parts += [f"select x{one.selections}"] if one.selection else []
        sets.append(("" if len(plan.sets) == 1 else f"({','.join(map(str, one.keys))}) ") + ", ".join(parts))
    return f"{plan.relation.rows_per_person} rows{limits}; {keys or '-'}; {' | '.join(sets)}"
