"""An auction of digital goods: how much revenue a private price loses, by how many buyers there are.

Run it with the folder that the picture is written to: python examples/auction.py pictures
"""

import math
import sys
from pathlib import Path

import numpy as np

from discreet.accounting.loss_plots import plot_powers
from discreet.games import DigitalGoods
from discreet.games.auction import best_revenue

SIZES, EPSILON = (100, 1000, 10_000), 1


def lost(people: int, *, monotone: bool) -> float:
    """The revenue that the private price loses on average, against the best of all prices."""
    valuations = np.random.default_rng(people).beta(2, 5, people)
    auction = DigitalGoods.for_people(people, highest=1, epsilon=EPSILON, monotone=monotone)
    return best_revenue(valuations) - auction.expected_revenue(valuations.tolist())


def main(folder: Path) -> None:
    """The lecture's three buyers, then the picture."""
    three = DigitalGoods(prices=(1, 1.01, 3.01, 3.02), epsilon=EPSILON)
    for price, revenue in zip(three.prices, three.revenues([1, 1, 3.01]), strict=True):
        print(f"price {float(price):.2f} brings {float(revenue):.2f}")
    bound = [math.log(people) / EPSILON for people in SIZES]
    lines = {
        "ln n / ε, the lecture's bound": (SIZES, bound, bound),
        "lost at rate ε/2Δ": (SIZES, *[[lost(people, monotone=False) for people in SIZES]] * 2),
        "lost at rate ε/Δ, revenues being monotone": (SIZES, *[[lost(people, monotone=True) for people in SIZES]] * 2),
    }
    picture = plot_powers(lines, x_label="buyers", y_label=f"revenue lost, ε = {EPSILON}")
    picture.save(folder / "auction.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
