"""What is promised: each mechanism's parameters, guarantee, release and error in one object, one family a file."""

from typing import TYPE_CHECKING

from discreet.core.optional_imports import import_on_first_use

if TYPE_CHECKING:
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
else:
    __getattr__ = import_on_first_use(
        __name__,
        {
            "adaptive_budget": {"Adaptive", "PureAdaptive"},
            "additive.gaussian_mechanism": {"Gaussian"},
            "additive.ladder_mechanism": {"Ladder"},
            "additive.laplace_mechanism": {"Laplace"},
            "additive.snapping": {"Snapping"},
            "choice.above_threshold": {"AboveThreshold"},
            "choice.generalized_exponential": {"GeneralizedExponential"},
            "choice.partition_selection": {"PartitionSelection"},
            "choice.quantile": {"Quantile"},
            "choice.selection": {"Exponential", "NoisyMax", "PermuteAndFlip"},
            "mechanism": {"Mechanism"},
            "response": {"BiasedCoin", "RandomizedResponse"},
            "statistics.sparse_histograms": {"Histograms"},
            "values.grid": {"Grid"},
        },
    )

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
