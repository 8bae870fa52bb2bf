"""What is promised: each mechanism's parameters, guarantee, release and error in one object, one family a file."""

from discreet.mechanisms.adaptive_budget import Adaptive, PureAdaptive
from discreet.mechanisms.additive.gaussian_mechanism import Gaussian
from discreet.mechanisms.additive.ladder_mechanism import Ladder
from discreet.mechanisms.additive.laplace_mechanism import Laplace
from discreet.mechanisms.additive.snapping import Snapping
from discreet.mechanisms.choice.above_threshold import AboveThreshold
from discreet.mechanisms.choice.generalized_exponential import GeneralizedExponential
from discreet.mechanisms.choice.partition_selection import PartitionSelection
from discreet.mechanisms.choice.quantile import Quantile
from discreet.mechanisms.choice.selection import Exponential, NoisyMax, PermuteAndFlip
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.response import BiasedCoin, RandomizedResponse
from discreet.mechanisms.statistics.sparse_histograms import Histograms
from discreet.mechanisms.values.grid import Grid

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
