"""Run the whole lab: every attack against its weak releases, peers and Discreet."""

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
"""The attackers' budgets against Discreet in the lab."""
_PRICE = 1.0
"""The epsilon of weak releases and peers that have one."""


@dataclass(frozen=True, slots=True)
class Duel:
    """One attack against one target."""

    attack: str
    against: str
    epsilon: float | None


def duels(names: Sequence[str] | None = None, *, epsilons: Sequence[float] = EPSILONS) -> Iterator[Duel]:
    """Yield all duels of the lab: against weak releases, installed peers, and Discreet at each epsilon."""
    for attack in _selected(names):
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
    """Return the packages that an attack needs but that are not installed."""
    return [package for package in attack.needs if find_spec(package) is None]


def run_all(
    names: Sequence[str] | None = None,
    *,
    epsilons: Sequence[float] = EPSILONS,
    size: Sizes = "full",
    seed: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Run all attacks, or those named. `on_progress` is called with the number of finished duels and of all duels."""
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
    """Return results against Discreet above their bound, with a level adjusted for all comparisons. Expected: none."""
    ours = [result for result in results if result.against == DISCREET]
    return [result for result in ours if not result.holds(comparisons=len(ours))]


def not_run(names: Sequence[str] | None = None) -> dict[str, str]:
    """Return attacks that need a missing package, with what to install."""
    return {attack.name: " ".join(map(package_of, missing(attack))) for attack in _selected(names) if missing(attack)}


def _selected(names: Sequence[str] | None) -> Sequence[Attack]:
    return list_attacks() if names is None else [find(name) for name in names]
