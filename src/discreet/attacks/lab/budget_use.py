"""How the whole budget buys one query with many answers."""

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


def ask_for_all(
    game: Game, analyst: Analyst, *, keys: Sequence[str], measure: str, source: str, groups: int, rows: int = 0
) -> list[dict[str, Any]]:
    """One measure in many groups, each person with a row in each of `groups` of them, for the whole budget.

    A pure account pays Laplace noise of scale groups / epsilon in every group: as much as for so many queries at an
    equal share each, in a fraction of the time. An account with delta pays Gaussian noise, which grows with √groups
    only. Where a person may have more rows in the table, the query says that it wants no more than that.
    """
    columns = ", ".join(keys)
    limits = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = {groups}, max_rows_per_group = 1) "
    said = limits if game.budget.delta or rows > groups else ""
    sql = f"SELECT {said}{columns}, {measure} FROM {source} GROUP BY {columns}"
    if not game.budget.delta:
        return analyst.ask(sql, epsilon=game.budget.epsilon)
    return analyst.ask(sql, epsilon=math.sqrt(2 * _rho(game)) * _ROUNDING, mechanism="gaussian")


def variance_of_each(game: Game, *, groups: int) -> float:
    """Of the noise in each of those groups, for a measure that one row moves by 1: everybody knows it."""
    if not game.budget.delta:
        return 2 * (groups / game.budget.epsilon) ** 2
    return groups / (2 * _rho(game))


def by_number(rows: Sequence[dict[str, Any]], *, key: str, value: str, first: int, count: int) -> Floats:
    """One number a group, in the order of the keys first, first + 1, ..."""
    values = {int(row[key]): float(row[value]) for row in rows}
    return np.array([values[number] for number in range(first, first + count)])


def _rho(game: Game) -> float:
    """Half of delta is for selections of groups; the rest turns epsilon into rho."""
    return rho_of_epsilon(game.budget.epsilon, delta=game.budget.delta / 2)
