"""Compare the accuracy of the central and the local model on the same query.

One yes-or-no query to n people. A trusted curator adds Laplace noise to the share: the error is about 1/(ε n). Without
a trusted curator each person randomizes their answer: about 1/(ε √n). (Sapienza slides, "Laplace Mechanism: Accuracy".)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.accounting.loss_plots import Picture, plot_powers
from discreet.core.exact import Number, read_count, read_epsilon
from discreet.local.protocols.draws import Draws
from discreet.local.tasks.task import Task
from discreet.mechanisms import Laplace
from discreet.noise import RandomBits

_SHARE = 0.3
PEOPLE = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Root mean square errors of the estimated share: measured, and expected by the formulas."""

    epsilon: float
    people: tuple[int, ...]
    central: tuple[float, ...]
    local: tuple[float, ...]
    central_expected: tuple[float, ...]
    local_expected: tuple[float, ...]

    def plot(self) -> Picture:
        """Plot both on logarithmic axes: lines are the formulas, dots are measured."""
        return plot_powers(
            {
                "local, 1/(ε √n): randomized response": (self.people, self.local_expected, self.local),
                "central, 1/(ε n): Laplace noise": (self.people, self.central_expected, self.central),
            },
            x_label="people",
            y_label="error of the estimated share",
        )


def compare(
    *, epsilon: Number, people: Sequence[int] = PEOPLE, trials: int = 400, bits: RandomBits | None = None
) -> Comparison:
    """Run both models on a simulated crowd, `trials` times for each number of people."""
    e, repeats = float(read_epsilon(epsilon)), read_count(trials, name="trials")
    source = bits or RandomBits()
    task = Task.frequency("a yes or a no", domain=["no", "yes"], epsilon=epsilon, protocol="warner")
    noise = Laplace(sensitivity=1, epsilon=epsilon)
    rows = []
    for n in people:
        yes = round(_SHARE * n)
        answers = [int(noise.release(yes, source)) for _ in range(repeats)]
        central = (np.array(answers) - yes) / n
        local = np.array([_local_estimate(task, n, yes, source) for _ in range(repeats)]) - yes / n
        counts = np.array([n - yes, yes], np.float64)
        spread = math.sqrt(float(task.protocol.variance(counts, n, np.arange(2))[1])) / n
        q = math.exp(-e)
        rows.append((_root(central), _root(local), math.sqrt(2 * q) / (1 - q) / n, spread))
    measured = list(zip(*rows, strict=True))
    return Comparison(e, tuple(people), *(tuple(column) for column in measured))


def _local_estimate(task: Task, people: int, yes: int, bits: RandomBits) -> float:
    codes = (np.arange(people) < yes).astype(np.int64)
    protocol = task.protocol
    tally = protocol.tally(protocol.encode(codes, Draws(bits), slots=np.arange(people)))
    return float(protocol.estimate(tally, people, np.arange(2))[1]) / people


def _root(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))
