"""What every runner of synthetic data does: `python -m benchmarks.peers.RUNNER FOLDER METHOD TARGET` makes rows of Adult as good as METHOD can, and saves them.

Nothing here but numpy, which every environment has. CPU and memory are measured from outside, of the whole process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

Making: TypeAlias = Callable[[dict[str, int], np.ndarray], np.ndarray]
"""From how many codes each column has and the real rows to rows that were made."""
EPSILON, DELTA = 1.0, 1e-9
RHO = 0.014972
"""What epsilon and delta above allow, rounded down, for who takes no delta."""


def adult(folder: Path) -> tuple[dict[str, int], np.ndarray]:
    """How many codes each column has, and the rows."""
    sizes = json.loads((folder / "adult-domain.json").read_text())
    return sizes, np.loadtxt(folder / "adult.csv", delimiter=",", skiprows=1, dtype=np.int64)


def make(methods: dict[str, Making]) -> None:
    """Save the rows of the method that the command line names; a code beyond the column's stands for a value that was lost."""
    folder, method, target = sys.argv[1:]
    np.save(target, methods[method](*adult(Path(folder))))
