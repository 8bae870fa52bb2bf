"""Spend the whole budget on one query with many groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import rho_of_epsilon
from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Game

Floats = npt.NDArray[np.float64]

_ROUNDING = 1 - 1e-9


def ask_groups(
    game: Game, analyst: Analyst, *, keys: Sequence[str], measure: str, source: str, groups: int, rows: int = 0
) -> list[dict[str, Any]]:
    """Query one measure in many groups, with one row of each person in each of `groups` groups, for the whole budget.

    Without delta, every group has Laplace noise of scale groups / epsilon: the same as for one query per group at an
    equal share of the budget, but much faster. With delta, the noise is Gaussian, which grows only with √groups. If a
    person may have more rows in the table, the query sets a contribution bound.
    """
    columns = ", ".join(keys)
    limits = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = {groups}, max_rows_per_group = 1) "
    options = limits if game.budget.delta or rows > groups else ""
    sql = f"SELECT {options}{columns}, {measure} FROM {source} GROUP BY {columns}"
    if not game.budget.delta:
        return analyst.ask(sql, epsilon=game.budget.epsilon)
    return analyst.ask(sql, epsilon=math.sqrt(2 * _rho(game)) * _ROUNDING, mechanism="gaussian")


def variance_per_group(game: Game, *, groups: int) -> float:
    """Return the public variance of the noise in each of these groups, if one row changes the measure by at most 1."""
    if not game.budget.delta:
        return 2 * (groups / game.budget.epsilon) ** 2
    return groups / (2 * _rho(game))


def values_in_order(rows: Sequence[dict[str, Any]], *, key: str, value: str, first: int, count: int) -> Floats:
    """Return one number per group, in the order of the keys first, first + 1, ..."""
    values = {int(row[key]): float(row[value]) for row in rows}
    return np.array([values[number] for number in range(first, first + count)])


def _rho(game: Game) -> float:
    """Convert the budget to rho with half of delta; the other half is for the selection of groups."""
    return rho_of_epsilon(game.budget.epsilon, delta=game.budget.delta / 2)
