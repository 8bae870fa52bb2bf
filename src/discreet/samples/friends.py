"""A generated network of friendships: few people have many friends, and friends of friends are often friends."""

from __future__ import annotations

import numpy as np


def friendships(people: int, *, each: int = 5, closing: float = 0.5, seed: int = 0) -> list[tuple[int, int]]:
    """Generate a network by preferential attachment: newcomers befriend people with many friends, and friends of these.

    Citation: Holme, Kim 2002 (arXiv:cond-mat/0110452).

    Args:
        people: The number of people; their ids are 0, 1, ....
        each: The number of friends that a newcomer makes.
        closing: The probability that the next friend is a friend of the last one.
        seed: The same seed gives the same network.
    """
    draw = np.random.default_rng(seed)
    near: list[list[int]] = [[] for _ in range(people)]
    ends = list(range(each))  # each person once per friend; the first ones once more
    edges = []

    def befriend(one: int, other: int) -> None:
        near[one].append(other)
        near[other].append(one)
        edges.append((other, one))
        ends.append(other)

    for newcomer in range(each, people):
        around: list[int] = []  # friends of the last friend drawn by attachment
        while len(near[newcomer]) < each:
            close = bool(around) and draw.random() < closing
            among = around if close else ends
            chosen = among[int(draw.integers(len(among)))]
            if chosen not in near[newcomer]:
                befriend(newcomer, chosen)
                around = around if close else near[chosen]
            around = [friend for friend in around if friend != newcomer and friend not in near[newcomer]]
        ends.extend([newcomer] * each)
    return edges
