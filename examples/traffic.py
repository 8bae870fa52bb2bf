"""Routes advised from noisy loads: how much anybody regrets, by how many rounds there are.

Run it with the folder that the picture is written to: python examples/traffic.py pictures
"""

import sys
from pathlib import Path

import numpy as np

from discreet.accounting.loss_plots import plot_powers
from discreet.games import Route, Traffic

ROUNDS, PEOPLE = (10, 40, 160), 500
ROUTES = [Route(0.1, 0.9), Route(0.2, 0.6), Route(0.3, 0.5), Route(0, 1)]


def largest(rounds: int, *, noiseless: bool) -> float:
    """The regret of whoever regrets most."""
    detours = np.random.default_rng(7).random((PEOPLE, len(ROUTES))) * 0.3
    game = Traffic(routes=ROUTES, rounds=rounds, epsilon=1, delta=1e-6)
    return float(game.regrets(detours, noiseless=noiseless).max())


def main(folder: Path) -> None:
    """Both lines in one picture."""
    lines = {}
    for name, noiseless in (("ε = 1, δ = 1e-6", False), ("without noise", True)):
        regrets = [largest(rounds, noiseless=noiseless) for rounds in ROUNDS]
        print(f"{name}: {', '.join(f'{regret:.3f}' for regret in regrets)} after {', '.join(map(str, ROUNDS))} rounds")
        lines[name] = (ROUNDS, regrets, regrets)
    plot_powers(lines, x_label="rounds", y_label="largest regret of a round").save(folder / "traffic.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
