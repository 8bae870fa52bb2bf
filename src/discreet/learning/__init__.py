"""Models that are learned privately: integers until the noise, on rows at hand and on protected tables."""

from __future__ import annotations

from discreet.learning.bayes import NaiveBayes
from discreet.learning.clusters import KMeans
from discreet.learning.components import PCA
from discreet.learning.features import Category, Number
from discreet.learning.finite import FiniteClass
from discreet.learning.linear import LinearRegression
from discreet.learning.logistic import LogisticRegression
from discreet.learning.moments import Moments
from discreet.learning.tree import DecisionTree

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
