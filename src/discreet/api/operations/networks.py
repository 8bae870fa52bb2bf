"""What a curator does about networks: says what a query would cost, charges, and answers. Edges stay in the engine."""

from __future__ import annotations

from datetime import date
from typing import Any

from discreet.api.faces.networks import GraphFace, GraphPlan, GraphsFace, unknown_graph
from discreet.api.run_parts import CuratorPart, call_of
from discreet.catalog import Network
from discreet.core.exact import Number, rounded_up
from discreet.errors import TooLarge
from discreet.graphs.degrees import DegreeCounts
from discreet.graphs.network_answers import GraphAnswer
from discreet.graphs.network_query import GraphQuery
from discreet.graphs.network_release import NetworkRelease
from discreet.graphs.network_verbs import PROTECTS, VERBS, NetworkFacts, read_price, read_verb
from discreet.graphs.protected_graph import Privacy
from discreet.graphs.triangles import ClosedPaths
from discreet.pipeline.call import Call
from discreet.results.ledger_views import holder

_MOST_DEGREES = 100_000
"""That are told apart in one answer."""


class CuratedGraph(GraphFace):
    """A network behind a curator at hand.

    Args:
        curator: That has it.
        declared: What the catalog says of it.
    """

    def __init__(self, curator: AnswersGraphs, declared: Network) -> None:
        self._curator, self._declared, self.name = curator, declared, declared.name

    def __repr__(self) -> str:
        return f"CuratedGraph({self.name!r}): {PROTECTS[Privacy(self._declared.privacy)]}"

    def ask(
        self,
        verb: str,
        *,
        epsilon: Number | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Call | None = None,
        **settings: Any,
    ) -> GraphAnswer:
        """Ask by the name of a verb: charged before any edge is read, and free when it is asked again.

        Args:
            verb: One of them, such as "triangles".
            epsilon: What it may cost; there is no default.
            analyst: Who asks; nobody is the owner at hand.
            request_id: A name for this call: repeated under it, it is paid for once.
            asking: How it can be cancelled.
            **settings: What the verb takes.
        """
        return self._curator.asked_graph(
            self._declared, verb, settings, epsilon=epsilon, analyst=analyst, request_id=request_id, asking=asking
        )

    def explain(
        self, verb: str, *, epsilon: Number | None = None, analyst: str | None = None, **settings: Any
    ) -> GraphPlan:
        """What a verb would cost and how exact it would be. Spends nothing and looks at no edge.

        Args:
            verb: One of them, such as "triangles".
            epsilon: What it may cost; there is no default.
            analyst: Who asks; nobody is the owner at hand.
            **settings: What the verb takes.
        """
        return self._curator.explained_graph(self._declared, verb, settings, epsilon=epsilon, analyst=analyst)


class AnswersGraphs(CuratorPart, GraphsFace):
    """A part of the curator."""

    def graph(self, name: str) -> CuratedGraph:
        """A network of the catalog, to be asked about: `graph("friends").triangles(epsilon=1)`."""
        declared = self.declared.graphs.get(name)
        if declared is None:
            raise unknown_graph(self.declared.graphs)
        return CuratedGraph(self, declared)

    def asked_graph(
        self,
        graph: Network,
        verb: str,
        settings: dict[str, Any],
        *,
        epsilon: Number | None,
        analyst: str | None,
        request_id: str | None,
        asking: Call | None,
    ) -> GraphAnswer:
        """The answer of a network: planned, charged, read, drawn, stored.

        Args:
            graph: The network.
            verb: What is asked.
            settings: What is said beside the price.
            epsilon: The price.
            analyst: Who asks; nobody is the owner at hand.
            request_id: A name for this call.
            asking: How it can be cancelled.
        """
        with self._planning(analyst, None if asking is None else asking.cancelled):
            release, said = self._graph_release(graph, verb, settings, epsilon)
        paid = self._pipeline.charged(release, call_of(analyst, request_id, asking))
        books = paid.reservation
        return GraphAnswer(graph.name, verb, said, paid.stored, receipt=books.receipt, replayed=books.is_free)

    def explained_graph(
        self, graph: Network, verb: str, settings: dict[str, Any], *, epsilon: Number | None, analyst: str | None
    ) -> GraphPlan:
        """What an answer would cost.

        Args:
            graph: The network.
            verb: What would be asked.
            settings: What would be said beside the price.
            epsilon: The price.
            analyst: Who asks; nobody is the owner at hand.
        """
        with self._planning(analyst, None):
            release, _ = self._graph_release(graph, verb, settings, epsilon)
        asked = VERBS[verb]
        query, charged = release.query, self._pipeline.would_charge([release], call_of(analyst, None, None))
        return GraphPlan(
            graph=graph.name,
            verb=verb,
            unit="edge" if query.privacy is Privacy.EDGE else "person",
            protects=PROTECTS[query.privacy],
            epsilon=rounded_up(query.epsilon),
            mechanisms=tuple(type(mechanism).__name__ for mechanism in query.mechanisms),
            within=query.within if asked.is_plain else None,
            asked_before=self._pipeline.is_paid(release, call_of(analyst, None, None)),
            charged={holder(account): allowed for account, allowed in charged.items()},
            notes=_notes(query),
        )

    def _graph_release(
        self, graph: Network, verb: str, settings: dict[str, Any], epsilon: Number | None
    ) -> tuple[NetworkRelease, dict[str, Any]]:
        """What the pipeline takes, and what was said; whatever would be refused is refused here, from public facts alone."""
        asked, said = read_verb(verb, settings)
        price = read_price(epsilon)
        nodes, facts = self.declared.tables[graph.nodes], self._network_facts(graph)
        query = asked.asks(facts, price, said)
        query.check()
        if isinstance(query, DegreeCounts | ClosedPaths) and query.max_degree > _MOST_DEGREES:
            raise TooLarge(
                "So many degrees are not told apart in one answer.",
                next_step=f"Give max_degree, at most {_MOST_DEGREES:,}.",
            )
        about = nodes.rows_about if facts.size is None else facts.size
        attribute = said.get("attribute")
        label = f"{verb} of {graph.name}"
        return NetworkRelease(graph, nodes, query, attribute, self.version, label, about), said

    def _network_facts(self, graph: Network) -> NetworkFacts:
        privacy = Privacy(graph.privacy)
        columns = self.declared.tables[graph.nodes].columns.values()
        return NetworkFacts(
            name=graph.name,
            privacy=privacy,
            size=self._engine.nodes_of(graph) if privacy is Privacy.EDGE else None,
            max_degree=graph.max_degree,
            per_node=graph.per_node,
            attributes={column.name: tuple(map(_plain, column.values)) for column in columns if column.values},
        )


def _plain(value: Any) -> Any:
    """As JSON has it."""
    return value.isoformat() if isinstance(value, date) else value


def _notes(query: GraphQuery[Any]) -> tuple[str, ...]:
    notes = []
    if query.privacy is Privacy.EDGE:
        notes.append("this protects an edge and not a person, and is paid by an account of its own")
    if query.within is None:
        notes.append("how exact it is depends on what is found on the way, and is told with the answer")
    return tuple(notes)
