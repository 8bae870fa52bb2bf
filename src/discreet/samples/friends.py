"""Friendships of people who do not exist: few have many friends, and friends of friends are friends."""

from __future__ import annotations

import numpy as np


def friendships(people: int, *, each: int = 5, closing: float = 0.5, seed: int = 0) -> list[tuple[int, int]]:
    """A network that grows: whoever comes makes friends with those who have many, and often with a friend of a new friend.

    Citation: Holme, Kim 2002 (arXiv:cond-mat/0110452).

    Args:
        people: How many; they are called 0, 1, ....
        each: How many friends a newcomer makes.
        closing: How often the next friend is a friend of the last one.
        seed: Of the world.
    """
    draw = np.random.default_rng(seed)
    near: list[list[int]] = [[] for _ in range(people)]
    ends = list(range(each))  # everybody as often as they have friends, and the first ones once more
    edges = []

    def befriend(one: int, other: int) -> None:
        near[one].append(other)
        near[other].append(one)
        edges.append((other, one))
        ends.append(other)

    for newcomer in range(each, people):
        around: list[int] = []  # friends of the last friend who was not made through another
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
