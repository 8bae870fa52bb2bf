"""The parameters of attacks over HTTP, with their ranges. The ranges keep a request to about a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.attacks import Attack
from discreet.attacks.lab.attack import DISCREET
from discreet.errors import BadInput

_OFFLINE = "Choose a value in this range, or use `discreet attack run`, which has no such limits."


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A numeric parameter of an attack with its range."""

    name: str
    label: str
    least: float
    most: float
    usual: float
    whole: bool
    log: bool
    against: tuple[str, ...]
    """The targets that it affects: releases, peers, or "discreet"."""

    def check(self, given: float) -> float:
        """Return the number, or refuse one outside the range."""
        if not self.least <= given <= self.most or (self.whole and given != int(given)):
            kind = "a whole number" if self.whole else "a number"
            raise BadInput(
                f"For this attack, {self.name} must be {kind} from {self.least:,g} to {self.most:,g}.",
                next_step=_OFFLINE,
            )
        return int(given) if self.whole else given

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, from which the page draws a slider."""
        return {
            "name": self.name,
            "label": self.label,
            "least": self.least,
            "most": self.most,
            "usual": self.usual,
            "whole": self.whole,
            "log": self.log,
            "against": list(self.against),
        }


@dataclass(frozen=True, slots=True)
class _Range:
    label: str
    least: float
    most: float
    usual: float | None = None
    """Default, if the lab's own is too slow for a page."""
    whole: bool = False
    log: bool = False
    against: tuple[str, ...] = ()
    """Empty for all targets."""


_EVERY_WEAK = ("weak",)
_OURS = (DISCREET,)
_GENOME = _Range("variants for each person", 5, 100, whole=True, log=True)
_ROOT_N = _Range("noise, in multiples of √people", 0.02, 3, log=True, against=_EVERY_WEAK)
_LISTS = _Range("queries for each person", 0.5, 8, log=True)
_ALIKE = _Range("k: people with equal attributes", 2, 20, whole=True, against=_EVERY_WEAK)
_DIVERSE = _Range("l: conditions among them", 1, 5, whole=True, against=("l-diverse",))
_SUSPECTS = _Range("candidates", 2, 32, whole=True, log=True, against=_OURS)

_OPTIONS: Mapping[tuple[str, str], _Range] = {
    ("averaging", "repeats"): _Range("repetitions of the query", 1, 800, whole=True, log=True, against=_EVERY_WEAK),
    ("averaging", "noise"): _Range("noise: standard deviation", 0.1, 20, log=True, against=_EVERY_WEAK),
    ("linkage", "candidates"): _SUSPECTS,
    ("netflix", "known"): _Range("known films", 4, 10, whole=True),
    ("netflix", "wrong"): _Range("wrong ones among them", 0, 3, whole=True),
    ("big-bang", "datasets"): _Range("datasets for each person", 0.2, 3, against=_EVERY_WEAK),
    ("dictionary", "candidates"): _SUSPECTS,
    ("homogeneity", "k"): _ALIKE,
    ("homogeneity", "l"): _DIVERSE,
    ("background", "k"): _ALIKE,
    ("background", "l"): _DIVERSE,
    ("intersection", "k"): _ALIKE,
    ("intersection", "l"): _DIVERSE,
    ("sampling", "sampled"): _Range("share that is published", 0.01, 0.5, log=True, against=_EVERY_WEAK),
    ("model-membership", "shadows"): _Range("shadow models", 4, 24, usual=12, whole=True),
    ("model-membership", "trees"): _Range("trees of the forest", 5, 50, usual=25, whole=True, against=("forest",)),
    ("timing", "rehearsals"): _Range("rehearsals", 20, 100, usual=50, whole=True),
    ("prng", "seconds"): _Range(
        "seconds in which it may have started", 60, 3600, whole=True, log=True, against=("seeded", DISCREET)
    ),
    ("ledger-race", "cap"): _Range("cap: answers the budget allows", 2, 20, whole=True),
    ("ledger-race", "threads"): _Range("threads", 2, 8, whole=True),
    ("ledger-race", "processes"): _Range("additional processes", 0, 1, usual=0, whole=True, against=_OURS),
    ("name-and-shame", "expected"): _Range("people named, on average", 0.05, 4, log=True, against=("each-with-delta",)),
    ("reconstruction", "noise"): _Range(
        "noise, in multiples of √people", 0.02, 3, log=True, against=("noisy-counts", "mostly-right")
    ),
    ("reconstruction", "queries_per_person"): _LISTS,
    ("reconstruction", "lies"): _Range("share of arbitrary answers", 0, 0.45, against=("mostly-right",)),
    ("reconstruction", "linear"): _Range(
        "by linear programming (1) or least squares (0)",
        0,
        1,
        whole=True,
        against=("noisy-counts", "sticky-noise", DISCREET),
    ),
    ("exhaustive", "alpha"): _Range("α: how far an answer may be off", 0, 3, whole=True, against=_EVERY_WEAK),
    ("membership", "attributes_per_person"): _GENOME,
    ("membership", "noise"): _Range("noise, in multiples of √variants / people", 0, 1, against=_EVERY_WEAK),
    ("tracing", "columns_per_pair"): _Range("columns for each pair", 5, 60, whole=True),
    ("tracing", "noise"): _Range("noise: standard deviation", 0.02, 3, log=True, against=("noisy-means",)),
    ("tracing-keys", "noise"): _Range("noise, in multiples of √people", 0.02, 10, log=True, against=("noisy-counts",)),
    ("tracing-keys", "repeats"): _Range(
        "repetitions of the query", 1, 800, whole=True, log=True, against=("noisy-counts",)
    ),
    ("reduction-to-membership", "noise"): _ROOT_N,
    ("reduction-to-membership", "queries_per_person"): _LISTS,
    ("reduction-to-reconstruction", "attributes_per_person"): _GENOME,
    ("census", "every"): _Range("blocks for each one with a person left out", 1, 8, whole=True, against=_OURS),
}

_PEOPLE: Mapping[str, tuple[int, int]] = {
    "differencing": (16, 1024),
    "averaging": (16, 1024),
    "linkage": (2_000, 50_000),
    "netflix": (500, 3_000),
    "big-bang": (16, 64),
    "dictionary": (100, 4_000),
    "homogeneity": (150, 1_200),
    "background": (150, 1_200),
    "intersection": (150, 1_200),
    "sampling": (50, 500),
    "auditing": (4, 12),
    "model-membership": (50, 200),
    "inversion": (100, 400),
    "lowbits": (16, 512),
    "timing": (16, 256),
    "prng": (16, 200),
    "ledger-race": (50, 50),
    "name-and-shame": (16, 512),
    "reconstruction": (16, 128),
    "exhaustive": (4, 9),
    "membership": (8, 32),
    "tracing": (4, 12),
    "tracing-keys": (8, 32),
    "reduction-to-membership": (16, 128),
    "reduction-to-reconstruction": (8, 32),
    "census": (4, 8),
}
_TRIALS: Mapping[str, tuple[int, int]] = {
    "linkage": (40, 12),
    "netflix": (40, 12),
    "model-membership": (4, 4),
    "ledger-race": (3, 3),
    "census": (4, 3),
}
_AT_ONCE = (60, 30)
"""Maximum trials in one request, against a weak release and against Discreet."""


@dataclass(frozen=True, slots=True)
class Console:
    """All parameters of an attack."""

    attack: Attack
    knobs: tuple[Knob, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "knobs", (_people(self.attack), *_options(self.attack)))

    def trials(self, target: str) -> int:
        """Return the maximum trials in one request."""
        weak, ours = _TRIALS.get(self.attack.name, _AT_ONCE)
        return min(self.attack.small.trials, ours if target == DISCREET else weak)

    def check(self, given: Mapping[str, float]) -> dict[str, float]:
        """Return all parameters, with defaults for missing ones; refuse unknown ones and values out of range."""
        named = {knob.name: knob for knob in self.knobs}
        unknown = sorted(set(given) - set(named))
        if unknown:
            raise BadInput("This attack has no such parameter.", next_step=f"Its parameters: {', '.join(named)}.")
        return {name: knob.check(given.get(name, knob.usual)) for name, knob in named.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        targets = _targets(self.attack)
        return {
            "knobs": [knob.as_dict() for knob in self.knobs],
            "trials": {target: self.trials(target) for target in targets},
        }


def _targets(attack: Attack) -> tuple[str, ...]:
    return (*attack.releases, *attack.peers, DISCREET)


def _people(attack: Attack) -> Knob:
    usual = attack.small.people
    least, most = _PEOPLE.get(attack.name, (max(2, usual // 4), 2 * usual))
    return Knob(
        name="people",
        label="people",
        least=min(least, usual),
        most=max(most, usual),
        usual=usual,
        whole=True,
        log=most > 8 * least,
        against=_targets(attack),
    )


def _options(attack: Attack) -> Sequence[Knob]:
    return [_option(attack, name, usual) for name, usual in attack.options.items()]


def _option(attack: Attack, name: str, lab: float) -> Knob:
    """Return the parameter for an option; one without a described range gets a small one."""
    plain = _Range(name.replace("_", " "), 0, 2 * lab or 1)
    described = _OPTIONS.get((attack.name, name), plain)
    usual = lab if described.usual is None else described.usual
    chosen = described.against or _targets(attack)
    return Knob(
        name=name,
        label=described.label,
        least=min(described.least, usual),
        most=max(described.most, usual),
        usual=usual,
        whole=described.whole,
        log=described.log,
        against=tuple(attack.releases) if chosen == _EVERY_WEAK else chosen,
    )
