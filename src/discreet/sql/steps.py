"""Numbers as whole steps of a public grid: clamped, rounded, clamped again; NULL where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.model import LARGEST_STEP
from discreet.errors import TooLarge
from discreet.exact import power_of_two_below
from discreet.sql.bounds import needed_bounds
from discreet.sql.expressions import safe_text
from discreet.sql.kinds import kind_of
from discreet.sql.scope import Scope, quote

_FINEST = 2**20


@dataclass(frozen=True, slots=True)
class Steps:
    """An integer for each row, between `low` and `high`, and the size of one step."""

    sql: str
    step: Fraction
    low: int
    high: int


def nearest(value: Fraction) -> int:
    """floor(v + 1/2), the rounding of every engine."""
    return math.floor(value + Fraction(1, 2))


def steps_of(node: exp.Expr, scope: Scope) -> Steps:
    """A bounded column's stored steps; for an expression, the same rounding and clamping on the spot."""
    lower, upper = needed_bounds(node, scope)
    column = node.unnest()
    field = scope.field(column) if isinstance(column, exp.Column) else None
    if field is not None and field.step is not None:
        stored = f"{quote(column.text('table'))}.{quote(steps_name(column.name))}"
        return Steps(stored, field.step, nearest(lower / field.step), nearest(upper / field.step))
    step = power_of_two_below((upper - lower) / _FINEST) if upper > lower else Fraction(1)
    if kind_of(node, scope) in ("int", "small"):
        step = max(step, Fraction(1))
    low, high = nearest(lower / step), nearest(upper / step)
    if max(abs(low), abs(high)) > LARGEST_STEP:
        raise TooLarge(
            "What is summed lies too far from zero for the distance between its bounds.",
            next_step="Subtract a public number from it first.",
        )
    return Steps(rounded_text(f"TRY_CAST({safe_text(node, scope)} AS DOUBLE)", step, low, high), step, low, high)


def rounded_text(value: str, step: Fraction, low: int, high: int) -> str:
    """A DOUBLE as steps. NULL and NaN stay out: LEAST and GREATEST would skip the one, and the other is above all."""
    inside = f"least(greatest({value}, {float(low * step)!r}), {float(high * step)!r})"
    whole = f"CAST(floor({inside} / {float(step)!r} + 0.5) AS BIGINT)"
    return f"CASE WHEN {value} IS NULL OR isnan({value}) THEN NULL ELSE least(greatest({whole}, {low}), {high}) END"


def steps_name(column: str) -> str:
    """The stored grid steps of a bounded column."""
    return f"{column}$steps"
