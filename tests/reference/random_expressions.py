"""Random typed expressions, made from the registry alone: a new function is asked about as soon as it is registered."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from discreet.algebra.expressions import Expression, Field, Literal, call
from discreet.algebra.registry import Function, Signature, all_functions
from discreet.catalog import Type
from discreet.errors import NotAllowed, TooLarge
from tests.reference.worlds import EXTREMES

Columns = Sequence[Field]
_PATTERNS = [
    "%",
    "a%",
    "%b",
    "_",
    "A_%",
    "%x%y%",
    "é%",
    "%\\%",
    "_%_",
    "%Y-%m-%d",
    "%j %B %b %A %a %u%%",
    "%y/%H:%M:%S",
    ",",
    "xy",
    "x",
]
_TEXT_CONSTANTS = [*_PATTERNS, "", "A", "é", " "]
_SMALL = [-15, -3, -2, -1, 0, 1, 2, 3, 4, 15]
_ENDS = [-10.0, -1.0, 0.0, 0.1, 1.0, 2.5, 10.0, 1e6]
_TRIES = 5


class Expressions:
    """Draws expressions over given columns; what the algebra refuses is drawn again."""

    def __init__(self, rng: random.Random, *, without: frozenset[str] = frozenset()) -> None:
        self.rng = rng
        self.functions = [record for record in all_functions() if record.name not in without]
        self._giving = {kind: [record for record in self.functions if _gives(record.signature, kind)] for kind in Type}

    def literal(self, kind: Type) -> Literal:
        """A constant, NULL now and then."""
        return Literal(kind, None if self.rng.random() < 0.08 else self.rng.choice(EXTREMES[kind]))

    def leaf(self, kind: Type, columns: Columns) -> Expression:
        fitting = [column for column in columns if column.properties.type is kind]
        if fitting and self.rng.random() < 0.8:
            return self.rng.choice(fitting)
        return self.literal(kind)

    def draw(self, kind: Type, columns: Columns, depth: int) -> Expression:
        """An expression of a type, up to `depth` calls deep."""
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(kind, columns)
        for _ in range(_TRIES):
            drawn = self.calling(self.rng.choice(self._giving[kind]), kind, columns, depth - 1)
            if drawn is not None:
                return drawn
        return self.leaf(kind, columns)

    def calling(self, record: Function, kind: Type, columns: Columns, depth: int) -> Expression | None:
        """A call of one function that gives `kind`, if arguments for it are found."""
        for attempt in range(_TRIES):
            args = [
                self._argument(wanted, columns, depth, constant=place > 0 and attempt > 1)
                for place, wanted in enumerate(self._types(record.signature, kind))
            ]
            try:
                return call(record.name, *args)
            except (NotAllowed, TooLarge):
                continue
        return None

    def _types(self, signature: Signature, kind: Type) -> list[Type]:
        count = len(signature.takes) + len(signature.last) + signature.repeats * self.rng.choice([0, 0, 1, 2])
        variable = (
            kind if signature.gives is None else self.rng.choice(sorted(signature.among, key=lambda kind: kind.value))
        )
        return [variable if wanted is None else wanted for wanted in signature.parameters(count) or ()]

    def _argument(self, kind: Type, columns: Columns, depth: int, *, constant: bool) -> Expression:
        if not constant:
            return self.draw(kind, columns, depth)
        pools: dict[Type, list[Any]] = {Type.TEXT: _TEXT_CONSTANTS, Type.INTEGER: _SMALL, Type.REAL: _ENDS}
        return Literal(kind, self.rng.choice(pools.get(kind, EXTREMES[kind])))

    def label(self, kind: Type, columns: Columns, depth: int) -> Expression:
        """CASE with constants, as people write it, and as optimizers like to rewrite it."""
        parts: list[Expression] = []
        for _ in range(self.rng.choice([1, 1, 2])):
            parts += [self.draw(Type.BOOLEAN, columns, depth), Literal(kind, self.rng.choice(EXTREMES[kind][:6]))]
        last = Literal(kind, self.rng.choice([None, *EXTREMES[kind][:6]]))
        if self.rng.random() < 0.2:
            return call("nullif", parts[1], self.draw(kind, columns, depth))
        return call("case", *parts, last)

    def about_label(self, columns: Columns, depth: int) -> Expression:
        """A question about such a CASE: is it one of a few, like something, above something."""
        kind = self.rng.choice([Type.TEXT, Type.TEXT, Type.INTEGER, Type.REAL, Type.DATE, Type.TIMESTAMP])
        label = self.label(kind, columns, depth)
        some = [Literal(kind, value) for value in self.rng.sample(EXTREMES[kind][:6], 3)]
        if kind is Type.TEXT and self.rng.random() < 0.4:
            return call("like", label, Literal(kind, self.rng.choice(_PATTERNS[:9])))
        name = self.rng.choice(["in", "in", "eq", "lt", "between", "differs"])
        return call(name, label, *some[: {"in": self.rng.randint(1, 3), "between": 2}.get(name, 1)])

    def condition(self, columns: Columns, depth: int) -> Expression:
        """A condition that is true often enough to leave rows: half of them are widened by OR."""
        if self.rng.random() < 0.15:
            return self.about_label(columns, depth - 1)
        drawn = self.draw(Type.BOOLEAN, columns, depth)
        chance = self.rng.random()
        if chance < 0.3:
            return call("or", drawn, self.draw(Type.BOOLEAN, columns, 1))
        return call("not", drawn) if chance < 0.4 else call("is_null", drawn) if chance < 0.45 else drawn

    def number(self, columns: Columns, depth: int) -> Expression:
        """An expression that a grid fits: clamped by the question itself, unless its bounds are declared."""
        kind = self.rng.choice([Type.INTEGER, Type.REAL, Type.REAL, Type.BOOLEAN, Type.DATE])
        if kind is Type.BOOLEAN:
            return self.draw(kind, columns, depth)
        bounded = [column for column in columns if column.properties.type is kind and column.properties.low is not None and column.properties.high is not None]  # fmt: skip
        if bounded and self.rng.random() < 0.5:
            return self.rng.choice(bounded)
        ends = {
            Type.INTEGER: [(0, 10), (-5, 5), (-1000, 10**7), (3, 3), (-(2**40), 2**41)],
            Type.REAL: [(0.0, 1.0), (-2.5, 7.25), (-1e6, 1e9), (0.1, 0.3), (5.0, 5.0), (-1e-3, 2.0**40)],
            Type.DATE: [
                (EXTREMES[Type.DATE][4], EXTREMES[Type.DATE][7]),
                (EXTREMES[Type.DATE][0], EXTREMES[Type.DATE][2]),
            ],
        }
        low, high = self.rng.choice(ends[kind])
        return call("least", call("greatest", self.draw(kind, columns, depth), Literal(kind, low)), Literal(kind, high))


def _gives(signature: Signature, kind: Type) -> bool:
    return kind in signature.among if signature.gives is None else signature.gives is kind
