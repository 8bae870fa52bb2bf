"""How to draw: exact samplers on integers, vectorised, from secure randomness only."""

from discreet.noise.coins import Probability, bernoulli, bernoulli_exp, flip
from discreet.noise.exact_selection import exponential_choice, permute_and_flip
from discreet.noise.gaussian_sampler import discrete_gaussian
from discreet.noise.grouped_selection import exponential_choices
from discreet.noise.ladder_rungs import ladder_rung
from discreet.noise.laplace_sampler import Samples, discrete_laplace, geometric, one_discrete_laplace
from discreet.noise.random_bits import SYSTEM_BITS, RandomBits
from discreet.noise.uniform import binomial, uniform_below, uniform_below_each

__all__ = [
    "SYSTEM_BITS",
    "Probability",
    "RandomBits",
    "Samples",
    "bernoulli",
    "bernoulli_exp",
    "binomial",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_choice",
    "exponential_choices",
    "flip",
    "geometric",
    "ladder_rung",
    "one_discrete_laplace",
    "permute_and_flip",
    "uniform_below",
    "uniform_below_each",
]
