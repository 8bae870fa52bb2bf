"""A process that learns, and kills itself where it is told to: `python -m tests.learning.dying CATALOG MODEL LABEL/COUNT …`."""

import sys
from functools import partial
from pathlib import Path

from discreet.learning import DecisionTree, FiniteClass, KMeans, LogisticRegression, Moments, NaiveBayes, Number
from discreet.learning.data.hypotheses import stumps
from tests.synthetic.dying import die_one_after_another

ASKED = {"rho": 0.05, "name": "sick"}
MODELS = {
    "logistic": LogisticRegression(target="sex", features=[Number("age", bins=5), "ward"], passes=2),
    "tree": DecisionTree(target="sex", features=["age", "ward"], depth=3),
    "bayes": NaiveBayes(target="sex", features=["age", "ward"]),
    "moments": Moments(features=["age", "ward"]),
    "clusters": KMeans(features=["age"], clusters=2),
    "finite": FiniteClass(target="sex", features=["age"], hypotheses=stumps(1, range(10))),
}
LOOKS = {"logistic": 3, "tree": 4, "bayes": 2, "moments": 1, "clusters": 1, "finite": 1}


def learn(kind, curator):
    return curator.as_analyst("alice").learn(MODELS[kind], "visits", **ASKED)


if __name__ == "__main__":
    die_one_after_another(Path(sys.argv[1]), sys.argv[3:], partial(learn, sys.argv[2]))
