"""The whole lab: every attack against all that deserves to fall and against Discreet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from discreet.attacks.lab.attack import DISCREET, Attack
from discreet.attacks.lab.attack_registry import find, list_attacks
from discreet.attacks.lab.result import Result
from discreet.attacks.lab.running_attacks import Sizes, run
from discreet.core.optional_imports import package_of

EPSILONS = (0.1, 1.0, 10.0)
"""What attackers may spend on Discreet in the lab."""
_PRICE = 1.0
"""What releases and peers with an epsilon of their own are given."""


@dataclass(frozen=True, slots=True)
class Duel:
    """One attack against one thing."""

    attack: str
    against: str
    epsilon: float | None


def duels(names: Sequence[str] | None = None, *, epsilons: Sequence[float] = EPSILONS) -> Iterator[Duel]:
    """What a lab consists of: weak releases, peers that are installed, and Discreet at each epsilon."""
    for attack in _wanted(names):
        if missing(attack):
            continue
        for release in attack.releases:
            yield Duel(attack.name, release, _PRICE if release in attack.priced else None)
        for peer in attack.peers:
            if find_spec(peer) is not None:
                yield Duel(attack.name, peer, _PRICE)
        for epsilon in epsilons:
            yield Duel(attack.name, DISCREET, epsilon)


def missing(attack: Attack) -> list[str]:
    """Packages that an attack needs and that are not installed."""
    return [package for package in attack.needs if find_spec(package) is None]


def run_all(
    names: Sequence[str] | None = None,
    *,
    epsilons: Sequence[float] = EPSILONS,
    size: Sizes = "full",
    seed: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Run everything that can be run, or the attacks named. `on_progress` hears how many duels of how many are over."""
    planned = list(duels(names, epsilons=epsilons))
    results = []
    for number, duel in enumerate(planned):
        if on_progress is not None:
            on_progress(number, len(planned))
        results.append(run(duel.attack, against=duel.against, epsilon=duel.epsilon, size=size, seed=seed))
    if on_progress is not None:
        on_progress(len(planned), len(planned))
    return results


def above_the_bound(results: Sequence[Result]) -> list[Result]:
    """Results on Discreet above their bound, at a level that allows for all comparisons; there should be none."""
    ours = [result for result in results if result.against == DISCREET]
    return [result for result in ours if not result.holds(comparisons=len(ours))]


def not_run(names: Sequence[str] | None = None) -> dict[str, str]:
    """Attacks that need a package which is not installed, with what to install."""
    return {attack.name: " ".join(map(package_of, missing(attack))) for attack in _wanted(names) if missing(attack)}


def _wanted(names: Sequence[str] | None) -> Sequence[Attack]:
    return list_attacks() if names is None else [find(name) for name in names]
