"""Models that whoever asks has changed: what they decide by counts every row once, or is refused before anything is paid."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.errors import BadInput
from discreet.learning import DecisionTree, NaiveBayes
from discreet.learning.models.finite_class import FiniteClass, own
from discreet.measurement.feature_vectors import Deciding, Score, Split

CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 100
[tables.t]
privacy_unit = "row"
columns.a = { type = "integer", lower = 0, upper = 3 }
columns.b = { type = "integer", lower = 0, upper = 3 }
columns.y = { type = "boolean" }
"""


def counts_everybody_many_times(tree):
    tree.partition, tree.chances = (), np.ones((1000, 2))


def leaves_a_code_out(tree):
    tree.partition = ((Split(1, (False, True)),),)


def asks_too_few_queries(tree):
    tree.partition = (*tree.partition, tree.partition[0])
    tree.chances = np.ones((4, 2))


def leaves_an_entry_out(bayes):
    bayes.likelihoods["b"] = bayes.likelihoods["b"][:2]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (DecisionTree, counts_everybody_many_times),
        (DecisionTree, leaves_a_code_out),
        (DecisionTree, asks_too_few_queries),
        (NaiveBayes, leaves_an_entry_out),
    ],
)
def test_a_model_that_would_count_a_row_twice_or_not_at_all_is_refused_before_it_is_paid_for(kind, change):
    rows = pa.table({"a": [0, 1, 2, 3], "b": [3, 2, 1, 0], "y": [True, False, True, False]})
    with open_curator(catalog=parse_catalog(CATALOG), frames={"t": rows}) as curator:
        settings = {"depth": 1} if kind is DecisionTree else {}
        model = curator.learn(kind(features=["a", "b"], target="y", **settings), "t", epsilon=1)
        spent = curator.budget()
        change(model)
        with pytest.raises(BadInput):
            curator.evaluate(model, "t", epsilon=1)
        assert curator.budget() == spent


@pytest.mark.parametrize(
    "parts",
    [
        {"class_of_part": (0, 0)},
        {"class_of_part": (2,)},
        {"scores": (Score({}),)},
        {"scores": (Score({}), Score({})), "class_of_part": (0,)},
        {},
    ],
)
def test_what_decides_has_a_score_for_each_class_or_a_class_for_each_part(parts):
    with pytest.raises(BadInput):
        Deciding(2, **parts)


def test_functions_of_ones_own_are_asked_the_same_whoever_is_in_the_data():
    """A function that remembers, or takes its time, would else tell who is there for no price."""
    asked = []
    for odd in (3, 0):
        calls = []
        hypotheses = own(2, {"spy": lambda row, calls=calls: calls.append(row) or row[0] < 1})
        rows = pa.table({"a": [3] * 50 + [odd], "b": [1] * 51, "y": [True] * 51})
        with open_curator(catalog=parse_catalog(CATALOG), frames={"t": rows}) as curator:
            curator.learn(FiniteClass(hypotheses=hypotheses, features=["a", "b"], target="y"), "t", epsilon=1)
        asked.append(calls)
    assert asked[0] == asked[1]
