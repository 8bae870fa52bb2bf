"""Answers about a network in a catalog: the result, what is protected, and the receipt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.core.exact import rounded_up
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadRelease
from discreet.graphs.degrees import Degrees
from discreet.graphs.edge_counts import FoundBound
from discreet.graphs.mixing import Mixing
from discreet.graphs.network_query import Drawn, GraphQuery, network_query_from_json
from discreet.graphs.network_verbs import PROTECTS, VERBS, Outcome
from discreet.graphs.protected_graph import GraphStatistic, Privacy
from discreet.graphs.rumours import Rumour


def answer_from_json(data: Mapping[str, Any], *, replayed: bool) -> GraphAnswer:
    """Read an answer.

    Args:
        data: From `GraphAnswer.summary`.
        replayed: Whether it was free.
    """
    stored = json.dumps(data["noisy"]).encode()
    return GraphAnswer(
        data["graph"], data["verb"], data["settings"], stored, receipt=data["receipt"], replayed=replayed
    )


def encode_answer(query: GraphQuery[Any], drawn: Drawn) -> bytes:
    """Return the bytes that the ledger stores of an answer.

    Args:
        query: The query.
        drawn: Its noisy numbers.
    """
    return json.dumps({"question": query.described, "drawn": [int(number) for number in drawn]}).encode()


@dataclass(frozen=True, repr=False)
class GraphAnswer:
    """An answer about a network. It names what is protected, and displays itself with its intervals.

    Args:
        graph: Name of the network in the catalog.
        verb: Name of the verb, such as "triangles".
        settings: Parameters of the verb beside epsilon.
        stored: Bytes of the answer in the ledger.
        receipt: Receipt of the charge.
        replayed: Whether it was free, because it was asked before.
    """

    graph: str
    verb: str
    settings: Mapping[str, Any]
    stored: bytes
    receipt: str
    replayed: bool

    @cached_property
    def query(self) -> GraphQuery[Any]:
        """The query with its mechanisms."""
        return network_query_from_json(self._stored["question"])

    @cached_property
    def outcome(self) -> Outcome:
        """The result: a number with its interval, degrees, edges between groups, or the spread of a rumour."""
        return VERBS[self.verb].outcome(self.query.result(self._stored["drawn"]), self.settings)

    @cached_property
    def _stored(self) -> dict[str, Any]:
        stored = json.loads(self.stored)
        if not isinstance(stored, dict) or not {"question", "drawn"} <= stored.keys():
            raise BadRelease("This is not an answer about a network.", next_step="Ask the owner to verify the ledger.")
        return stored

    @property
    def privacy(self) -> Privacy:
        """What is protected."""
        return self.query.privacy

    @property
    def protects(self) -> str:
        """What is protected, in words."""
        return PROTECTS[self.privacy]

    @property
    def loss(self) -> Loss:
        """Privacy cost for one edge or one person."""
        return Loss(rounded_up(self.query.epsilon))

    @property
    def bias(self) -> str:
        """What the interval does not cover, in words."""
        return str(self.query.result(self._stored["drawn"]).bias)

    @property
    def value(self) -> float:
        """The value as one number: of degrees the mean, of groups the coefficient, of a rumour the reach."""
        return _value(self.outcome)

    def __float__(self) -> float:
        return self.value

    @property
    def summary(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "graph": self.graph,
            "verb": self.verb,
            "settings": dict(self.settings),
            "unit": "edge" if self.privacy is Privacy.EDGE else "person",
            "protects": self.protects,
            "epsilon": self.loss.epsilon,
            "value": self.value,
            **_outcome_to_json(self.outcome),
            "bias": self.bias,
            "noisy": self._stored,
            "receipt": self.receipt,
            "replayed": self.replayed,
        }

    def __repr__(self) -> str:
        price = "free: asked before" if self.replayed else f"paid ε {self.loss.epsilon:.4g}"
        return f"{self.verb} of {self.graph}: {self.outcome!r}\nprotects {self.protects}\n{price}"


def _value(outcome: Outcome) -> float:
    match outcome:
        case Degrees():
            return outcome.mean
        case Mixing():
            return outcome.coefficient
        case Rumour():
            return outcome.reach
        case FoundBound():
            return float(outcome.max_degree)
        case GraphStatistic():
            return outcome.value


def _outcome_to_json(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Degrees():
            return {"at_most": outcome.at_most.tolist(), "within": outcome.error(CONFIDENCE), "size": outcome.size}
        case Mixing():
            return {"groups": outcome.rows}
        case Rumour():
            return {"threshold": outcome.threshold, "reach": outcome.reach, "transmission": outcome.transmission}
        case FoundBound():
            return {"max_degree": outcome.max_degree}
        case GraphStatistic():
            low, high = outcome.interval(CONFIDENCE)
            return {"low": low, "high": high, "confidence": CONFIDENCE}
