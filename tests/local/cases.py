"""What the suite of promises is run against. To hold another randomizer to them, append to CASES and to TRIALS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.local.device.client import RANDOMIZERS, VERSION, Randomizer, fingerprint
from discreet.local.protocols import protocol_for
from discreet.local.protocols.protocol import Protocol

LN_3 = "1.09861228867"
"""Just above, as the coin asks for."""


def randomizer_for(protocol: str, epsilon: str, parameters: Mapping[str, Any], seed: int = 7) -> Randomizer:
    spec = {"version": VERSION, "protocol": protocol, "epsilon": epsilon, "seed": seed, "parameters": parameters}
    return RANDOMIZERS[protocol](spec)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A randomizer so small that all its draws can be played. `codes` are inputs; all outputs are played."""

    protocol: str
    epsilon: str
    parameters: Mapping[str, Any]
    codes: tuple[Any, ...]
    slot: int = 0
    dtype: Any = np.int64
    tight: bool = True
    """Whether some two answers differ by all that is promised."""

    @property
    def randomizer(self) -> Randomizer:
        return randomizer_for(self.protocol, self.epsilon, self.parameters)

    @property
    def twin(self) -> Protocol[Any]:
        return protocol_for(self.randomizer)

    @property
    def epsilon_of_one_report(self) -> float:
        return float(Fraction(self.parameters.get("first", self.epsilon)))

    def batch(self, *codes: Any) -> tuple[Any, np.ndarray]:
        """Codes and slots as `encode` takes them."""
        return np.array(codes, self.dtype), np.full(len(codes), self.slot)

    def __str__(self) -> str:
        return label(self.protocol, self.parameters)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A frequency protocol at a working size: `people` hold `values` values, unevenly, `times` times over."""

    protocol: str
    epsilon: str
    parameters: Mapping[str, Any]
    values: int
    people: int
    times: int
    vary_hashes: bool = False
    counts: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shares = 1 / np.arange(1, self.values + 1)
        shares[-1] = self.values == 2  # one value that nobody has
        counts = np.floor(shares / shares.sum() * self.people).astype(np.int64)
        counts[0] += self.people - counts.sum()
        object.__setattr__(self, "counts", counts)

    @property
    def codes(self) -> np.ndarray:
        if self.protocol in ("cms", "hcms"):
            return np.array([fingerprint(value) for value in range(self.values)], np.uint64)
        return np.arange(self.values)

    def twin(self, seed: int = 7) -> Protocol[Any]:
        return protocol_for(randomizer_for(self.protocol, self.epsilon, self.parameters, seed))

    def __str__(self) -> str:
        return label(self.protocol, self.parameters)


def label(protocol: str, parameters: Mapping[str, Any]) -> str:
    return "-".join([protocol, *(f"{name}={value}" for name, value in parameters.items())])


def _words(count: int) -> tuple[int, ...]:
    return tuple(fingerprint(value) for value in range(count))


def _geometry(order: int, dimension: int) -> Case:
    size = order ** (dimension - 1)
    codes = tuple(sorted({0, 1, 2 % size, size // 2, size - 1}))
    return Case(
        protocol="pgr", epsilon="1.5", parameters={"size": size, "order": order, "dimension": dimension}, codes=codes
    )


CASES: list[Case] = [
    Case(protocol="coin", epsilon=LN_3, parameters={"size": 2}, codes=(0, 1)),
    Case(protocol="warner", epsilon="1", parameters={"size": 2}, codes=(0, 1)),
    Case(protocol="grr", epsilon="2", parameters={"size": 5}, codes=(0, 1, 2, 3, 4)),
    Case(protocol="subset", epsilon="1", parameters={"size": 6, "width": 2}, codes=(0, 1, 2, 3, 4, 5)),
    Case(protocol="subset", epsilon="0.5", parameters={"size": 7, "width": 3}, codes=(0, 3, 5, 6)),
    Case(protocol="subset", epsilon="3", parameters={"size": 66, "width": 1}, codes=(0, 1, 64, 65)),
    *(_geometry(order, 3) for order in (2, 3, 4, 5, 8, 9)),
    *(_geometry(order, 4) for order in (2, 3)),
    _geometry(7, 2),
    Case(protocol="olh", epsilon="1", parameters={"buckets": 4, "size": 8}, codes=tuple(range(8)), slot=2**32 - 5),
    Case(protocol="olh", epsilon="3", parameters={"buckets": 21}, codes=_words(8), slot=12345, dtype=np.uint64),
    Case(
        protocol="loloha",
        epsilon="2",
        parameters={"buckets": 3, "size": 8, "first": "0.75"},
        codes=tuple(range(8)),
        slot=99,
    ),
    Case(protocol="sue", epsilon="1", parameters={"size": 4}, codes=(0, 1, 2, 3)),
    Case(protocol="oue", epsilon="2", parameters={"size": 4}, codes=(0, 1, 2, 3)),
    Case(protocol="cms", epsilon="2", parameters={"rows": 2, "columns": 4}, codes=_words(6), dtype=np.uint64),
    Case(protocol="cms", epsilon="4", parameters={"rows": 4, "columns": 2}, codes=_words(6), dtype=np.uint64),
    Case(protocol="hcms", epsilon="1", parameters={"rows": 4, "columns": 8}, codes=_words(6), dtype=np.uint64),
    Case(protocol="hadamard", epsilon="1", parameters={"size": 7, "blocks": 1, "columns": 8}, codes=tuple(range(7))),
    Case(protocol="hadamard", epsilon="2", parameters={"size": 5, "blocks": 2, "columns": 4}, codes=tuple(range(5))),
]


def _geometric_trial(order: int, dimension: int, epsilon: str, times: int) -> Trial:
    size = order ** (dimension - 1)
    parameters = {"size": size, "order": order, "dimension": dimension}
    return Trial(protocol="pgr", epsilon=epsilon, parameters=parameters, values=size, people=2000, times=times)


TRIALS: list[Trial] = [
    Trial(protocol="coin", epsilon=LN_3, parameters={"size": 2}, values=2, people=1000, times=25_000),
    Trial(protocol="warner", epsilon="1", parameters={"size": 2}, values=2, people=1000, times=25_000),
    Trial(protocol="grr", epsilon="2", parameters={"size": 20}, values=20, people=2000, times=2500),
    Trial(protocol="subset", epsilon="1", parameters={"size": 30, "width": 8}, values=30, people=2000, times=1500),
    Trial(protocol="subset", epsilon="2", parameters={"size": 70, "width": 8}, values=70, people=2000, times=600),
    _geometric_trial(2, 7, "0.5", 700),
    _geometric_trial(3, 4, "1", 1700),
    _geometric_trial(4, 4, "1", 700),
    _geometric_trial(5, 3, "1.5", 1700),
    _geometric_trial(8, 3, "2", 700),
    _geometric_trial(9, 3, "2", 600),
    Trial(protocol="olh", epsilon="1", parameters={"buckets": 4, "size": 25}, values=25, people=2000, times=1800),
    Trial(
        protocol="loloha",
        epsilon="3",
        parameters={"buckets": 5, "size": 25, "first": "1.5"},
        values=25,
        people=2000,
        times=1800,
    ),
    Trial(protocol="sue", epsilon="1", parameters={"size": 20}, values=20, people=1000, times=2200),
    Trial(protocol="oue", epsilon="2", parameters={"size": 70}, values=70, people=1000, times=650),
    Trial(
        protocol="cms",
        epsilon="4",
        parameters={"rows": 64, "columns": 16},
        values=25,
        people=1500,
        times=1800,
        vary_hashes=True,
    ),
    Trial(
        protocol="hcms",
        epsilon="3",
        parameters={"rows": 64, "columns": 16},
        values=25,
        people=2000,
        times=2500,
        vary_hashes=True,
    ),
    Trial(
        protocol="hadamard",
        epsilon="1",
        parameters={"size": 25, "blocks": 1, "columns": 32},
        values=25,
        people=2000,
        times=1800,
    ),
    Trial(
        protocol="hadamard",
        epsilon="2",
        parameters={"size": 25, "blocks": 4, "columns": 8},
        values=25,
        people=2000,
        times=1800,
    ),
]
