"""Who falls ill, by age and ward: a private model of a clinic's visitors beside what made them ill, every weight with its ±.

Run it with the folder that the pictures are written to: python examples/learning.py pictures
"""

import sys
from pathlib import Path

import numpy as np

from discreet.accounting import Account
from discreet.learning import Category, DecisionTree, LogisticRegression, Number

WARDS = {"A": -0.6, "B": 0.0, "C": 0.9}


def visitors(count: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """People who do not exist: the older are ill more often, and those of ward C."""
    rng = np.random.default_rng(4)
    people = {"age": rng.integers(18, 90, count), "ward": rng.choice(list(WARDS), count)}
    scores = 0.05 * (people["age"] - 54) + np.array([WARDS[ward] for ward in people["ward"]])
    return people, rng.random(count) < 1 / (1 + np.exp(-scores))


def main(folder: Path) -> None:
    """A line in age, a curve in age, and a tree, paid for by one account."""
    people, ill = visitors(8_000)
    account = Account(3, 1e-6)
    ward = Category("ward", list(WARDS))
    line = LogisticRegression(features=[Number("age", 18, 90), ward], classes=[False, True], epsilon=1, delta=1e-6)
    print(line.fit(people, ill, account=account).card())
    line.card().plot().save(folder / "line.svg")
    curve = LogisticRegression(
        features=[Number("age", 18, 90, bins=8), ward], classes=[False, True], epsilon=1, delta=1e-6
    )
    curve.fit(people, ill, account=account).card().plot().save(folder / "curve.svg")
    tree = DecisionTree(features=[Number("age", 18, 90), ward], classes=[False, True], depth=2, epsilon=0.5)
    print(tree.fit(people, ill, account=account).card())
    for model in (line, curve, tree):
        print(f"{type(model).__name__}: right about {100 * model.score(people, ill):.0f} of 100; {account}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
