"""A process that learns, and kills itself where it is told to: `python -m tests.learning.dying CATALOG LABEL/COUNT …`."""

import sys
from pathlib import Path

from discreet.learning import LogisticRegression, Number
from tests.synthetic.dying import die_one_after_another

ASKED = {"rho": 0.05, "name": "sick", "analyst": "alice"}


def learn(curator):
    model = LogisticRegression(target="sex", features=[Number("age", bins=5), "ward"], passes=4)
    return curator.learn(model, "visits", **ASKED)


if __name__ == "__main__":
    die_one_after_another(Path(sys.argv[1]), sys.argv[2:], learn)
