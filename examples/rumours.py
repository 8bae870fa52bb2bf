"""How far a rumour goes: from degrees that are private for a person, beside simulations on the true network.

Run it with the folder that the picture is written to: python examples/rumours.py pictures
"""

import sys
from pathlib import Path

from discreet import graphs
from discreet.accounting.loss_plots import plot_powers
from discreet.graphs.rumours import largest_share, random_network
from discreet.samples.friends import friendships

PEOPLE, CHANCES = 3000, (0.1, 0.2, 0.4, 1.0)


def main(folder: Path) -> None:
    """Three lines: computed from private degrees, played on a made-up network, played on the true one."""
    friends = graphs.Graph(friendships(PEOPLE), range(PEOPLE))
    spread = graphs.degrees(friends, epsilon=2, privacy="node", max_degree=60)
    nobody = random_network(spread)
    print(spread)
    told = [graphs.rumour(spread, transmission=chance) for chance in CHANCES]
    print(told[1])
    lines = {
        "from private degrees, ε = 2 for a person": [each.reach for each in told],
        "played on a made-up network": [largest_share(nobody, size=spread.size, transmission=c) for c in CHANCES],
        "played on the true one": [largest_share(friends.exact.ends, size=PEOPLE, transmission=c) for c in CHANCES],
    }
    drawn = {name: (CHANCES, reach, reach) for name, reach in lines.items()}
    picture = plot_powers(drawn, x_label="chance that an edge passes it on", y_label="share of people it reaches")
    picture.save(folder / "rumours.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
