"""What is promised: each mechanism's parameters, guarantee, release and error in one object, one family a file."""

from discreet.mechanisms.adaptive import Adaptive, PureAdaptive
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.generalized import GeneralizedExponential
from discreet.mechanisms.grid import Grid
from discreet.mechanisms.histograms import Histograms
from discreet.mechanisms.ladder import Ladder
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.partitions import PartitionSelection
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.response import BiasedCoin, RandomizedResponse
from discreet.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip
from discreet.mechanisms.snapping import Snapping
from discreet.mechanisms.sparse import AboveThreshold

__all__ = [
    "AboveThreshold",
    "Adaptive",
    "BiasedCoin",
    "Exponential",
    "Gaussian",
    "GeneralizedExponential",
    "Grid",
    "Histograms",
    "Ladder",
    "Laplace",
    "Mechanism",
    "NoisyMax",
    "PartitionSelection",
    "PermuteAndFlip",
    "PureAdaptive",
    "Quantile",
    "RandomizedResponse",
    "Snapping",
]
