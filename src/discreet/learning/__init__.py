"""Models that are learned privately, from rows in memory or from protected tables.

Arithmetic before the noise is exact.
"""

from __future__ import annotations

from discreet.learning.data.features import Category, Number
from discreet.learning.models.clusters import KMeans
from discreet.learning.models.components import PCA
from discreet.learning.models.decision_tree import DecisionTree
from discreet.learning.models.finite_class import FiniteClass
from discreet.learning.models.linear import LinearRegression
from discreet.learning.models.logistic import LogisticRegression
from discreet.learning.models.naive_bayes import NaiveBayes
from discreet.learning.models.product_moments import Moments

__all__ = [
    "PCA",
    "Category",
    "DecisionTree",
    "FiniteClass",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "Moments",
    "NaiveBayes",
    "Number",
]
