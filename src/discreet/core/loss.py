"""Loss: how much privacy a release costs. Neighbours: whose presence it hides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from discreet.core.exact import exact, finite, rounded_up
from discreet.errors import BadDelta, BadEpsilon, BadInput


class Neighbours(Enum):
    """Which two databases must look alike."""

    ADD_REMOVE = "add-remove"
    """All rows of one person appear or vanish."""
    REPLACE_ONE = "replace-one"
    """One person is replaced by another; the number of people is public."""

    @classmethod
    def _missing_(cls, _: object) -> Neighbours:
        raise BadInput("There is no such neighbour relation.", next_step="Give add-remove or replace-one.")


def read_neighbours(value: object) -> Neighbours:
    """A neighbour relation, or its name."""
    return Neighbours(value if isinstance(value, Neighbours | str) else None)


@dataclass(frozen=True, slots=True)
class Loss:
    """An (epsilon, delta) guarantee. Sums are exact in decimals and rounded up, so that they never flatter us.

    Args:
        epsilon: How much may be learned about a person.
        delta: The chance that more is learned; 0 unless given.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        epsilon, delta = finite(self.epsilon), finite(self.delta)
        if epsilon is None or epsilon < 0 or math.isinf(rounded_up(epsilon)):
            raise BadEpsilon(
                "The epsilon of a loss must be a finite number of at least 0.",
                next_step="Give epsilon as a number such as 0.5.",
            )
        if delta is None or not 0 <= delta <= 1:
            raise BadDelta(
                "The delta of a loss must be a number from 0 to 1.",
                next_step="Give delta as a number such as 1e-6, or leave it out.",
            )
        object.__setattr__(self, "epsilon", rounded_up(epsilon))
        object.__setattr__(self, "delta", rounded_up(delta))

    def __add__(self, other: Loss) -> Loss:
        """Basic composition: both happened to the same people."""
        other = read_loss(other)
        epsilon = exact(self.epsilon) + exact(other.epsilon)
        delta = exact(self.delta) + exact(other.delta)
        return Loss(rounded_up(epsilon), min(1.0, rounded_up(delta)))

    def times(self, count: int) -> Loss:
        """Basic composition of so many alike.

        Args:
            count: How many.
        """
        return Loss(rounded_up(exact(self.epsilon) * count), min(1.0, rounded_up(exact(self.delta) * count)))

    @property
    def best_guess(self) -> float:
        """The chance that someone with even odds guesses right whether a person is in the data.

        Citation: the hypothesis-testing view (Toronto slides); at most (e^epsilon + delta) / (1 + e^epsilon).
        """
        shrink = math.exp(-self.epsilon)
        return min(1.0, (1 + self.delta * shrink) / (1 + shrink) * (1 + 1e-15))

    def in_words(self, hidden: str = "whether a given person is in the data") -> str:
        """The guarantee for a person who has never seen an epsilon.

        Args:
            hidden: What the loss is about, if it is not a person.
        """
        percent = math.ceil(round(1000 * self.best_guess, 9)) / 10
        return f"someone with even odds guesses right at most {percent:g} % of the time {hidden}"


def read_loss(value: object) -> Loss:
    """A loss, and nothing that merely looks like one."""
    if not isinstance(value, Loss):
        raise BadInput("A Loss is needed here.", next_step="Give one, such as Loss(0.5) or Loss(1, 1e-6).")
    return value
