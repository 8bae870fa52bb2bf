"""Answers about a network in a catalog: what was told, what of it is protected, and what the books say."""

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


def answer_of(facts: Mapping[str, Any], *, replayed: bool) -> GraphAnswer:
    """The answer that was told as JSON.

    Args:
        facts: By `facts`.
        replayed: Whether it was free.
    """
    stored = json.dumps(facts["noisy"]).encode()
    return GraphAnswer(
        facts["graph"], facts["verb"], facts["settings"], stored, receipt=facts["receipt"], replayed=replayed
    )


def encoded(query: GraphQuery[Any], drawn: Drawn) -> bytes:
    """What the books keep of an answer.

    Args:
        query: What was asked.
        drawn: Noisy whole numbers.
    """
    return json.dumps({"question": query.described, "drawn": [int(number) for number in drawn]}).encode()


@dataclass(frozen=True, repr=False)
class GraphAnswer:
    """What was told of a network. It says what is protected, and shows itself with its ±.

    Args:
        graph: What the catalog calls it.
        verb: What was asked.
        settings: What was said beside the price.
        stored: What the books keep of it.
        receipt: Under which the ledger has what was paid for it.
        replayed: Whether it was free: asked before.
    """

    graph: str
    verb: str
    settings: Mapping[str, Any]
    stored: bytes
    receipt: str
    replayed: bool

    @cached_property
    def query(self) -> GraphQuery[Any]:
        """What was drawn from, and with which noise."""
        return network_query_from_json(self._kept["question"])

    @cached_property
    def outcome(self) -> Outcome:
        """What is told: a number with its ±, degrees, edges between groups, or how far a rumour goes."""
        return VERBS[self.verb].outcome(self.query.told(self._kept["drawn"]), self.settings)

    @cached_property
    def _kept(self) -> dict[str, Any]:
        kept = json.loads(self.stored)
        if not isinstance(kept, dict) or not {"question", "drawn"} <= kept.keys():
            raise BadRelease("This is no answer about a network.", next_step="Ask the owner to verify the books.")
        return kept

    @property
    def privacy(self) -> Privacy:
        """What is protected."""
        return self.query.privacy

    @property
    def protects(self) -> str:
        """The same in words."""
        return PROTECTS[self.privacy]

    @property
    def loss(self) -> Loss:
        """What it cost, about what is protected."""
        return Loss(rounded_up(self.query.epsilon))

    @property
    def bias(self) -> str:
        """What the ± does not cover."""
        told = self.query.told(self._kept["drawn"])
        return str(told.bias)

    @property
    def value(self) -> float:
        """The number that was asked for; of degrees their mean, of groups the coefficient, of a rumour its reach."""
        return _value(self.outcome)

    def __float__(self) -> float:
        return self.value

    @property
    def facts(self) -> dict[str, Any]:
        """All of it in JSON."""
        return {
            "graph": self.graph,
            "verb": self.verb,
            "settings": dict(self.settings),
            "unit": "edge" if self.privacy is Privacy.EDGE else "person",
            "protects": self.protects,
            "epsilon": self.loss.epsilon,
            "value": self.value,
            **_facts(self.outcome),
            "bias": self.bias,
            "noisy": self._kept,
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


def _facts(outcome: Outcome) -> dict[str, Any]:
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
