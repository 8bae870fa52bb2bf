"""A query about a network: public through and through; what it costs, what it draws from exact numbers, and what is told of that."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

from discreet.core.json_codec import from_json, to_json
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.graphs.protected_graph import Privacy, pay
from discreet.mechanisms import Mechanism
from discreet.mechanisms.statistics.bounded import Account
from discreet.noise import SYSTEM_BITS, RandomBits

Told = TypeVar("Told")
Drawn = Sequence[int]
"""Noisy whole numbers: all that is ever kept of a network."""
_bits = SYSTEM_BITS


class GraphQuery(ABC, Generic[Told]):
    """One release about a network, as a frozen dataclass of public facts. Two with the same description are the same query."""

    kinds: ClassVar[dict[str, type[GraphQuery[Any]]]] = {}
    privacy: Privacy
    epsilon: Fraction

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        GraphQuery.kinds[cls.__name__] = cls

    @property
    @abstractmethod
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """What is charged, and drawn from."""

    @abstractmethod
    def drawn(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:
        """Noisy numbers. Exact ones stay in here.

        Args:
            network: As whole numbers.
            bits: Where randomness comes from.
            until: When to give up, by the monotonic clock.
        """

    @abstractmethod
    def told(self, drawn: Drawn) -> Told:
        """What is told of them; nothing else is looked at.

        Args:
            drawn: As they were drawn, or stored.
        """

    @property
    def within(self) -> float | None:
        """How far off the numbers are in 95 of 100 releases; None where that is not known before they are drawn."""
        return None

    def check(self) -> None:
        """Refuse, before anything is paid or looked at, what cannot be computed here."""

    @property
    def described(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"kind": type(self).__name__, **to_json(self)}


def network_query_from_json(described: Mapping[str, Any]) -> GraphQuery[Any]:
    """The query that was described.

    Args:
        described: By `described`.
    """
    return from_json(GraphQuery.kinds[described["kind"]], described)


def answered(network: ExactGraph, query: GraphQuery[Told], account: Account | None) -> Told:
    """Pay, draw and tell, for whoever has the network at hand.

    Args:
        network: As whole numbers.
        query: What is asked.
        account: What pays for it; nothing is drawn unless it does.
    """
    query.check()
    pay(account, list(query.mechanisms))
    return query.told(query.drawn(network, _bits))
