"""A process that asks about a network, and kills itself where it is told to: `python -m tests.graphs.dying CATALOG LABEL/COUNT …`."""

import sys
from pathlib import Path

from tests.graphs.world import ASKED
from tests.synthetic.dying import die_one_after_another

if __name__ == "__main__":
    die_one_after_another(
        Path(sys.argv[1]),
        sys.argv[2:],
        lambda curator: curator.as_analyst("ada").graph("friends").triangles(**ASKED),
    )
