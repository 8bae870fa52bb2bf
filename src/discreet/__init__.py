"""Discreet: differential privacy, end to end."""

from discreet.errors import DiscreetError
from discreet.loss import Loss, Neighbours
from discreet.mechanisms.plain import choose, gaussian, laplace, quantile, randomized_response

__version__ = "0.1.0"

__all__ = [
    "DiscreetError",
    "Loss",
    "Neighbours",
    "choose",
    "gaussian",
    "laplace",
    "quantile",
    "randomized_response",
]
