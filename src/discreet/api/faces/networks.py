"""What an analyst sees of a curator about networks, near or far: verbs, each with its price, and what each would cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.core.documenting import Told
from discreet.core.exact import Number
from discreet.errors import UnknownName
from discreet.graphs.network_answers import GraphAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPlan:
    """What a query about a network would cost, and how exact it would be; nothing was spent or read."""

    graph: str
    verb: str
    unit: str
    """Whom the price is about: a person, or one edge."""
    protects: str
    epsilon: float
    mechanisms: tuple[str, ...]
    within: float | None
    """No number is further off in 95 of 100 answers; None where that is known from the answer alone."""
    asked_before: bool
    """Whether it would be free."""
    charged: Mapping[str, bool]
    """The accounts that would pay, and whether their caps allow it now."""
    notes: tuple[str, ...]


class GraphFace(ABC):
    """A network that is asked about. Whom the price of an answer is about, a person or an edge, is in the catalog."""

    name: str

    @abstractmethod
    def ask(self, verb: str, *, epsilon: Number | None = None, **settings: Any) -> GraphAnswer:
        """Ask by the name of a verb.

        Args:
            verb: One of them, such as "triangles".
            epsilon: What it may cost; there is no default.
            **settings: What the verb takes; `request_id`, a name for this call: repeated under it, it is paid for once; at a curator at hand also `analyst` and `asking`.
        """

    @abstractmethod
    def explain(self, verb: str, *, epsilon: Number | None = None, **settings: Any) -> GraphPlan:
        """What a verb would cost and how exact it would be. Spends nothing and looks at no edge.

        Args:
            verb: One of them, such as "triangles".
            epsilon: What it may cost; there is no default.
            **settings: What the verb takes; at a curator at hand also `analyst`.
        """

    def edges(self, *, epsilon: Number, max_degree: int | None = None, **asked: Any) -> GraphAnswer:
        """How many edges there are.

        Args:
            epsilon: What it may cost; there is no default.
            max_degree: With node privacy: the most edges of a person that count; as the catalog says if it is left out.
            **asked: As for `ask`.
        """
        return self.ask("edges", epsilon=epsilon, max_degree=max_degree, **asked)

    def degrees(self, *, epsilon: Number, max_degree: int | None = None, **asked: Any) -> GraphAnswer:
        """How many nodes have a degree of at most 0, 1, ..., `max_degree`.

        Args:
            epsilon: What it may cost; there is no default.
            max_degree: The largest degree that is told apart; as the catalog says if it is left out.
            **asked: As for `ask`.
        """
        return self.ask("degrees", epsilon=epsilon, max_degree=max_degree, **asked)

    def triangles(self, *, epsilon: Number, per_node: int | None = None, **asked: Any) -> GraphAnswer:
        """How many triangles there are.

        Args:
            epsilon: What it may cost; there is no default.
            per_node: With node privacy: the most triangles of a person that count; as the catalog says if it is left out, or found for a quarter of epsilon.
            **asked: As for `ask`.
        """
        return self.ask("triangles", epsilon=epsilon, per_node=per_node, **asked)

    def stars(self, k: int, *, epsilon: Number, max_degree: int | None = None, **asked: Any) -> GraphAnswer:
        """How many sets of k edges meet in a node, from degrees: free where those are paid for.

        Args:
            k: How many edges, from 1 to 100.
            epsilon: What degrees may cost; there is no default.
            max_degree: As for `degrees`.
            **asked: As for `ask`.
        """
        return self.ask("stars", epsilon=epsilon, k=k, max_degree=max_degree, **asked)

    def clustering(
        self, *, epsilon: Number, max_degree: int | None = None, per_node: int | None = None, **asked: Any
    ) -> GraphAnswer:
        """The share of paths of two edges whose ends are connected.

        Args:
            epsilon: What it may cost; there is no default.
            max_degree: As for `degrees`.
            per_node: As for `triangles`.
            **asked: As for `ask`.
        """
        return self.ask("clustering", epsilon=epsilon, max_degree=max_degree, per_node=per_node, **asked)

    def assortativity(
        self, attribute: str, *, epsilon: Number, max_degree: int | None = None, **asked: Any
    ) -> GraphAnswer:
        """How many edges there are between groups of nodes that share a value of an attribute.

        Args:
            attribute: A column of the nodes' table, with declared values.
            epsilon: What it may cost; there is no default.
            max_degree: With node privacy: the most edges of a person to any one group that count.
            **asked: As for `ask`.
        """
        return self.ask("assortativity", epsilon=epsilon, attribute=attribute, max_degree=max_degree, **asked)

    def rumour(
        self, transmission: Number, *, epsilon: Number, max_degree: int | None = None, **asked: Any
    ) -> GraphAnswer:
        """How far a rumour goes in a random network with these degrees: free where those are paid for.

        Args:
            transmission: The chance that an edge passes it on, from 0 to 1.
            epsilon: What degrees may cost; there is no default.
            max_degree: As for `degrees`.
            **asked: As for `ask`.
        """
        return self.ask("rumour", epsilon=epsilon, transmission=transmission, max_degree=max_degree, **asked)

    def bound(self, *, epsilon: Number, then: Number, **asked: Any) -> GraphAnswer:
        """A max_degree that keeps most edges and is not too wide, with node privacy: for whoever knows none.

        Args:
            epsilon: What looking for it may cost; there is no default.
            then: The epsilon of the answer that it is for.
            **asked: As for `ask`.
        """
        return self.ask("bound", epsilon=epsilon, then=then, **asked)


def unknown_graph(known: Iterable[str]) -> UnknownName:
    """The refusal of a name that is no network's; those of the catalog are public.

    Args:
        known: Their names.
    """
    listed = ", ".join(known) or "it has none"
    return UnknownName("The catalog has no such network.", next_step=f"Use one that it declares: {listed}.")


class GraphsFace(Told, Protocol):
    """What an analyst can do, wherever the data is."""

    def graph(self, name: str) -> GraphFace:
        """A network of the catalog, to be asked about: `graph("friends").triangles(epsilon=1)`.

        Args:
            name: What the catalog calls it.
        """
