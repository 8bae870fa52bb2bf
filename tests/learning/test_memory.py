"""Rows never reach Python: its memory is the same whatever the number of rows."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.learning import DecisionTree, FiniteClass, LogisticRegression, NaiveBayes, Number
from discreet.learning.data.hypotheses import stumps

NAMES = [f"c{number}" for number in range(12)]
CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 100
delta = 1e-6
[tables.t]
privacy_unit = "row"
columns.y = { type = "boolean" }
""" + "\n".join(f"columns.{name} = {{ type = 'integer', lower = 0, upper = 99 }}" for name in NAMES)
MODELS = [
    LogisticRegression(target="y", features=[Number(name, bins=8) for name in NAMES], passes=3),
    LogisticRegression(target="y", features=NAMES, passes=3),
    NaiveBayes(target="y", features=NAMES),
    DecisionTree(target="y", features=NAMES, depth=3),
    FiniteClass(target="y", features=NAMES[:2], hypotheses=stumps(2, range(0, 100, 10))),
]

FEW = FiniteClass(target="y", features=NAMES[:2], hypotheses=stumps(2, range(0, 100, 10)))


def peaks(count, models):
    """The most bytes of Python, numpy's arrays among them, that each model needs while it is learned and evaluated."""
    rng = np.random.default_rng(7)
    columns = {name: pa.array(rng.integers(0, 100, count)) for name in NAMES}
    rows = pa.table({**columns, "y": pa.array(rng.random(count) < 0.4)})
    found = []
    with open_curator(catalog=parse_catalog(CATALOG), frames={"t": rows}) as curator:
        for model in models:
            tracemalloc.start()
            learned = curator.learn(model, "t", rho=0.1)
            curator.evaluate(learned, "t", rho=0.1)
            found.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    return found


def check(fewer, more, models=MODELS):
    """How much the largest peak is above that of fewer rows, in bytes: less than a byte a row. A column of numbers in Python has eight."""
    peaks(1_000, models)  # tables that are made once, and all that is imported late
    above = [large - small for small, large in zip(peaks(fewer, models), peaks(more, models), strict=True)]
    assert max(above) < more - fewer, above
    return max(above)


@pytest.mark.skipif(tracemalloc.is_tracing(), reason="somebody else counts")
def test_memory_of_python_does_not_grow_with_the_rows():
    models = [LogisticRegression(target="y", features=[Number("c0", bins=8), "c1"], passes=2), MODELS[-1]]
    check(2_000, 200_000, models)  # `make soak`: 100,000 and 1,000,000, and every kind of model
