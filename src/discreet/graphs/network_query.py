"""A query about a network: its cost, its noisy numbers, and its result. The query itself is public."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

from discreet.core.json_codec import from_json, to_json
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.graphs.protected_graph import Privacy, charge
from discreet.mechanisms import Mechanism
from discreet.mechanisms.statistics.bounded import Account
from discreet.noise import SYSTEM_BITS, RandomBits

Result = TypeVar("Result")
Drawn = Sequence[int]
"""Noisy integers: all that is stored of a network."""
_bits = SYSTEM_BITS


class GraphQuery(ABC, Generic[Result]):
    """One release about a network, as a frozen dataclass of public values. Equal descriptions mean the same query."""

    kinds: ClassVar[dict[str, type[GraphQuery[Any]]]] = {}
    privacy: Privacy
    epsilon: Fraction

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        GraphQuery.kinds[cls.__name__] = cls

    @property
    @abstractmethod
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """The mechanisms that are charged and draw the noise."""

    @abstractmethod
    def draw(self, network: ExactGraph, bits: RandomBits, *, until: float = math.inf) -> Drawn:
        """Return noisy numbers. Exact numbers do not leave this method.

        Args:
            network: The exact network.
            bits: Source of randomness.
            until: Time of the monotonic clock at which to stop with an error.
        """

    @abstractmethod
    def result(self, drawn: Drawn) -> Result:
        """Compute the result from noisy numbers alone.

        Args:
            drawn: From `draw`, or stored.
        """

    @property
    def within(self) -> float | None:
        """Half-width of the 95 % intervals; None if it is known only after the noise is drawn."""
        return None

    def check(self) -> None:
        """Refuse, before the charge, what cannot be computed."""

    @property
    def described(self) -> dict[str, Any]:
        """The query as JSON."""
        return {"kind": type(self).__name__, **to_json(self)}


def network_query_from_json(described: Mapping[str, Any]) -> GraphQuery[Any]:
    """Read a query.

    Args:
        described: From `described`.
    """
    return from_json(GraphQuery.kinds[described["kind"]], described)


def answer_query(network: ExactGraph, query: GraphQuery[Result], account: Account | None) -> Result:
    """Charge, draw noise and return the result, for a network in this process.

    Args:
        network: The exact network.
        query: The query.
        account: Charged before any noise is drawn. Without it nothing is charged.
    """
    query.check()
    charge(account, list(query.mechanisms))
    return query.result(query.draw(network, _bits))
