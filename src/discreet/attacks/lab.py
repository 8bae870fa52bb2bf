"""The whole lab: every attack against all that deserves to fall and against Discreet, as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

from discreet.attacks.model import DISCREET, Attack
from discreet.attacks.registry import find, list_attacks
from discreet.attacks.result import Result
from discreet.attacks.running import Sizes, run

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


@dataclass(frozen=True, slots=True)
class Lab:
    """All results, and what could not be run."""

    results: tuple[Result, ...]
    skipped: dict[str, str] = field(default_factory=dict)
    """Attacks by name, with the package they miss."""

    def of(self, attack: str) -> list[Result]:
        """All results of one attack."""
        return [result for result in self.results if result.attack == attack]

    @property
    def attacks(self) -> list[str]:
        """The attacks that ran, in the order of the lab."""
        return list(dict.fromkeys(result.attack for result in self.results))

    @property
    def broken(self) -> list[Result]:
        """Results on Discreet above their bound, at a level that allows for all comparisons; there should be none."""
        ours = [result for result in self.results if result.against == DISCREET]
        return [result for result in ours if not result.holds(comparisons=len(ours))]


def duels(names: Sequence[str] = (), *, epsilons: Sequence[float] = EPSILONS) -> Iterator[Duel]:
    """What a lab consists of: weak releases, peers that are installed, and Discreet at each epsilon."""
    for attack in [find(name) for name in names] or list_attacks():
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


def run_lab(
    names: Sequence[str] = (),
    *,
    epsilons: Sequence[float] = EPSILONS,
    size: Sizes = "full",
    seed: int | None = None,
    on_progress: Callable[[Duel, int, int], None] | None = None,
) -> Lab:
    """Run everything, or the attacks named. `on_progress` hears of each duel how many trials are done, and of how many."""
    results = []
    for duel in duels(names, epsilons=epsilons):

        def tell(done: int, of: int, duel: Duel = duel) -> None:
            if on_progress is not None:
                on_progress(duel, done, of)

        result = run(duel.attack, against=duel.against, epsilon=duel.epsilon, size=size, seed=seed, on_progress=tell)
        results.append(result)
    wanted = [find(name) for name in names] or list_attacks()
    return Lab(tuple(results), {one.name: ", ".join(missing(one)) for one in wanted if missing(one)})


def markdown(lab: Lab) -> str:
    """One row an attack: guessing, the weak releases, Discreet at each epsilon (± for 95 %) with what is allowed."""
    epsilons = sorted({r.epsilon for r in lab.results if r.against == DISCREET and r.epsilon is not None})
    head = ["attack", "guessing", "weak release", *(f"Discreet, ε {epsilon:g}" for epsilon in epsilons)]
    lines = [_line(head), _line(["---"] + ["---:"] * (len(head) - 1))]
    for name in lab.attacks:
        own = lab.of(name)
        ours = {r.epsilon: r for r in own if r.against == DISCREET}
        weak = [r for r in own if r.against != DISCREET]
        guessing = next(iter(ours.values()), own[0]).baseline
        broken = "<br>".join(f"{r.against}: **{_percent(r.success)}**" for r in weak)
        lines.append(_line([name, _percent(guessing), broken, *(_ours(ours.get(epsilon)) for epsilon in epsilons)]))
    return "\n".join(lines) + "\n"


def _ours(result: Result | None) -> str:
    if result is None or result.bound is None:
        return "—"
    low, high = result.interval()
    return f"{100 * result.success:.1f} ± {50 * (high - low):.1f} % (≤ {_percent(result.bound)})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.0005 or share == 0 else f"{100 * share:.1g} %"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
