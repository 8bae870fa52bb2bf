"""Plan and answer queries about networks. Edges stay in the engine."""

from __future__ import annotations

from datetime import date
from typing import Any

from discreet.api.context import Context
from discreet.api.plans import GraphPlan
from discreet.api.requests.graph import GraphRequest
from discreet.catalog import Network
from discreet.core.exact import rounded_up
from discreet.errors import TooLarge
from discreet.graphs.degrees import DegreeCounts
from discreet.graphs.network_answers import GraphAnswer
from discreet.graphs.network_query import GraphQuery
from discreet.graphs.network_release import NetworkRelease
from discreet.graphs.network_verbs import PROTECTS, VERBS, NetworkProperties, unknown_network
from discreet.graphs.protected_graph import Privacy
from discreet.graphs.triangles import ClosedPaths
from discreet.results.ledger_views import holder

_MOST_DEGREES = 100_000
"""Degrees of one answer."""


def run(request: GraphRequest, context: Context) -> GraphAnswer:
    """Plan, charge, read edges, add noise."""
    with context.planning():
        release = network_release(request, _network(request, context), context)
    paid = context.pipeline.run_charged(release, context.call)
    reservation = paid.reservation
    return GraphAnswer(
        request.graph,
        request.verb,
        request.settings,
        paid.stored,
        receipt=reservation.receipt,
        replayed=reservation.is_free,
    )


def plan(request: GraphRequest, context: Context) -> GraphPlan:
    """What an answer would cost and how exact it would be. No edge is read."""
    with context.planning():
        release = network_release(request, _network(request, context), context)
    query, charged = release.query, context.pipeline.would_charge([release], context.call)
    return GraphPlan(
        graph=request.graph,
        verb=request.verb,
        unit="edge" if query.privacy is Privacy.EDGE else "person",
        protects=PROTECTS[query.privacy],
        epsilon=rounded_up(query.epsilon),
        mechanisms=tuple(type(mechanism).__name__ for mechanism in query.mechanisms),
        within=query.within if VERBS[request.verb].is_plain else None,
        asked_before=context.pipeline.is_free(release, context.call),
        charged={holder(account): allowed for account, allowed in charged.items()},
        notes=_notes(query),
    )


def network_release(request: GraphRequest, network: Network, context: Context) -> NetworkRelease:
    """A query as the pipeline takes it. Everything that can be refused is refused here, from public values alone."""
    nodes, properties = context.catalog.tables[network.nodes], _network_properties(network, context)
    query = VERBS[request.verb].query(properties, request.epsilon, request.settings)
    query.check()
    if isinstance(query, DegreeCounts | ClosedPaths) and query.max_degree > _MOST_DEGREES:
        raise TooLarge(
            f"An answer has at most {_MOST_DEGREES:,} degrees.",
            next_step=f"Give max_degree, at most {_MOST_DEGREES:,}.",
        )
    return NetworkRelease(
        graph=network,
        nodes=nodes,
        query=query,
        attribute=request.settings.get("attribute"),
        version=context.version,
        label=f"{request.verb} of {network.name}",
        nodes_about=nodes.rows_about if properties.size is None else properties.size,
    )


def _network(request: GraphRequest, context: Context) -> Network:
    network = context.catalog.graphs.get(request.graph)
    if network is None:
        raise unknown_network(context.catalog.graphs)
    return network


def _network_properties(network: Network, context: Context) -> NetworkProperties:
    privacy = Privacy(network.privacy)
    columns = context.catalog.tables[network.nodes].columns.values()
    return NetworkProperties(
        name=network.name,
        privacy=privacy,
        size=context.engine.nodes_of(network) if privacy is Privacy.EDGE else None,
        max_degree=network.max_degree,
        per_node=network.per_node,
        attributes={column.name: tuple(map(_json_value, column.values)) for column in columns if column.values},
    )


def _json_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _notes(query: GraphQuery[Any]) -> tuple[str, ...]:
    notes = []
    if query.privacy is Privacy.EDGE:
        notes.append("this protects one edge and not a person, and is charged to an account of its own")
    if query.within is None:
        notes.append("how exact it is depends on what is found on the way; the answer says it")
    return tuple(notes)
