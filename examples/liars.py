"""What a lie is worth in a private vote, and what a share of lotteries makes of it.

Run it with the folder that the picture is written to: python examples/liars.py pictures
"""

import itertools
import sys
from pathlib import Path

from discreet.accounting.loss_plots import plot_powers
from discreet.games import FacilityLocation, borda, truthfulness

EPSILONS = (0.1, 0.3, 1.0)
BALLOTS = list(itertools.permutations(range(3)))
TRUTH = ((0, 1, 2), (0, 1, 2), (0, 1, 2), (1, 0, 2), (1, 0, 2))


def liked(ballot: tuple[int, ...], winner: int, _: object) -> float:
    """1 for the favourite, and nothing for the others."""
    return float(ballot[0] == winner)


def main(folder: Path) -> None:
    """Gains of one, two and three liars beside what epsilon allows; then facilities where lying loses."""
    lines = {}
    for size in (1, 2, 3):
        found = [
            truthfulness(borda(3, epsilon=epsilon), liked, truth=TRUTH, reports=BALLOTS, coalition=size)
            for epsilon in EPSILONS
        ]
        print(found[-1])
        lines[f"{size} lying: gained (dots), allowed (line)"] = (
            EPSILONS,
            [each.allowed for each in found],
            [each.gain for each in found],
        )
    plot_powers(lines, x_label="ε", y_label="utility of the liars").save(folder / "liars.svg")
    place = FacilityLocation(places=5, epsilon=0.01)
    print(f"with {100 * place.share_needed:.0f} of 100 by lot:")
    print(truthfulness(place.truthful(), place.utility, truth=[0, 1, 4, 2], reports=range(5)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
