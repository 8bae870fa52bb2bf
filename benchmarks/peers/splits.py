"""Adult as every runner of learning sees it: 80/20 by seed, and what a model is worth on the fifth it never saw.

`python -m benchmarks.peers.RUNNER FOLDER SEEDS TARGET` writes as JSON what each of its models is worth at each price. Nothing here but numpy, which every environment has.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.making import adult

EPSILONS = (0.1, 1, 10)
DELTA = 1e-6
CLASS, HOURS = "income>50K", "hours-per-week"
NUMBERS = ("age", "capital-gain", "capital-loss", HOURS)
CLUSTERED, CLUSTERS = ("age", "education-num", HOURS), 5
LINEAR = ("age", "relationship", "sex", "workclass")
"""What hours are explained by."""
LINES = 5
"""Draws of noise a split: R² varies by .02 from one to the next at the smallest price."""
Columns = dict[str, Any]
Figures = dict[str, list[float]]
"""Of each model, what it is worth at each price."""


class Adult:
    """The columns by name, how many codes each has, and splits of them."""

    def __init__(self, folder: Path) -> None:
        self.sizes, rows = adult(folder)
        self.columns = {name: rows[:, at] for at, name in enumerate(self.sizes)}
        self.count = len(rows)

    @property
    def explaining(self) -> list[str]:
        """The columns that income is told from."""
        return [name for name in self.columns if name not in ("fnlwgt", CLASS)]

    def split(self, seed: int) -> tuple[Columns, Columns]:
        order = np.random.default_rng(seed).permutation(self.count)
        cut = int(0.8 * self.count)
        return tuple(
            {name: values[part] for name, values in self.columns.items()} for part in (order[:cut], order[cut:])
        )

    def one_hot(self, columns: Columns, names: list[str]) -> Any:
        """Numbers from 0 to 1 and a column for each value of the rest: no row is longer than the root of how many names there are."""
        blocks = [
            (columns[name] / (self.sizes[name] - 1))[:, None]
            if name in NUMBERS
            else np.eye(self.sizes[name])[columns[name]]
            for name in names
        ]
        return np.concatenate(blocks, axis=1)


def area(scores: Any, truth: Any) -> float:
    """Under the curve of true against false positives: the chance that a positive is ranked above a negative."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]
    positive, negative = (truth == 1).sum(), (truth == 0).sum()
    return float((ranks[truth == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def over_splits(
    adult: Adult, seeds: int, worth: Callable[[float, Columns, Columns], dict[str, float]], *, draws: int = 1
) -> Figures:
    """The mean over splits, and over draws of noise on each, of what a fit on one part is worth on the other, at each price."""
    figures: Figures = {}
    for epsilon in EPSILONS:
        runs = [worth(epsilon, *adult.split(seed)) for seed in range(seeds) for _ in range(draws)]
        for name in runs[0]:
            figures.setdefault(name, []).append(float(np.mean([run[name] for run in runs])))
    return figures


def tell(figures: Callable[[Adult, int], Figures]) -> None:
    """Write what the command line asks for."""
    folder, seeds, target = sys.argv[1:]
    Path(target).write_text(json.dumps(figures(Adult(Path(folder)), int(seeds))))
