"""Networks in a snapshot: declared nodes, numbered by their names, and each edge between two of them once, in an order of its own.

Pairs are merged, loops dropped, and a row with an end that is no declared node is no edge: all when the snapshot is made. The order of edges is that
of a salted hash of their two ends, so that the position of an edge does not depend on the other edges.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.catalog import Catalog, Network
from discreet.engines.graphs.exact_graphs import ExactGraph
from discreet.engines.sources.cell_reading import exactly
from discreet.engines.sqlgen.dialects.duckdb import content, hashed, quoted

Integers = NDArray[np.int64]


def copied(catalog: Catalog, graph: Network, *, data: str, source: str, types: Mapping[str, str]) -> list[str]:
    """The statements that put a network into a snapshot, after its nodes; they take the salt.

    Args:
        catalog: That declares it.
        graph: The network.
        data: The database of the snapshot.
        source: What stands behind FROM for its edges.
        types: Of the columns there.
    """
    table = catalog.tables[graph.nodes]
    key = table.columns[graph.key]
    named = _column(catalog, graph, graph.key) if table.is_public else "o"
    kept = [_column(catalog, graph, name) for name in table.columns]
    nodes = (
        f"SELECT *, row_number() OVER (ORDER BY k) - 1 AS node FROM (SELECT {named} AS k, {', '.join(kept)} "
        f"FROM {data}.{quoted(table.name)} WHERE {named} IS NOT NULL "
        f"QUALIFY row_number() OVER (PARTITION BY {named} ORDER BY r) = 1)"
    )
    first, second = (exactly(graph.edges.columns[end], types, as_column=key) for end in graph.ends)
    pairs = (
        f"SELECT DISTINCT least(n.node, m.node) AS a, greatest(n.node, m.node) AS b "
        f"FROM (SELECT {first} AS x, {second} AS y FROM {source}) AS e "
        f"JOIN {_nodes(graph, data)} AS n ON e.x = n.k JOIN {_nodes(graph, data)} AS m ON e.y = m.k WHERE n.node <> m.node"
    )
    order = hashed(["$salt", content("n.k", key.type), content("m.k", key.type)])
    edges = (
        f"SELECT a, b, row_number() OVER (ORDER BY {order}, a, b) AS place FROM ({pairs}) "
        f"JOIN {_nodes(graph, data)} AS n ON a = n.node JOIN {_nodes(graph, data)} AS m ON b = m.node"
    )
    return [f"CREATE TABLE {_nodes(graph, data)} AS {nodes}", f"CREATE TABLE {_edges(graph, data)} AS {edges}"]


def number_of_nodes(cursor: duckdb.DuckDBPyConnection, graph: Network, *, data: str) -> int:
    """How many nodes there are: public where nodes are.

    Args:
        cursor: That reads the snapshot.
        graph: The network.
        data: The database of the snapshot.
    """
    ((count,),) = cursor.execute(f"SELECT count(*) FROM {_nodes(graph, data)}").fetchall()
    return int(count)


def read_network(
    cursor: duckdb.DuckDBPyConnection, catalog: Catalog, graph: Network, *, data: str, attribute: str | None
) -> ExactGraph:
    """The network as whole numbers, with the group of each node by a column that has declared values.

    Args:
        cursor: That reads the snapshot.
        catalog: That declares it.
        graph: The network.
        data: The database of the snapshot.
        attribute: The column; None where no groups are wanted.
    """
    pairs = cursor.sql(f"SELECT a, b FROM {_edges(graph, data)} ORDER BY place").to_arrow_table()
    ends = np.stack([_integers(pairs.column(at)) for at in range(2)], axis=1)
    size = number_of_nodes(cursor, graph, data=data)
    return ExactGraph(
        size, ends, groups=None if attribute is None else _groups(cursor, catalog, graph, data, attribute)
    )


def _groups(cursor: duckdb.DuckDBPyConnection, catalog: Catalog, graph: Network, data: str, attribute: str) -> Integers:
    """The place of each node's value among the declared ones; -1 for any other."""
    column = _column(catalog, graph, attribute)
    read = cursor.sql(f"SELECT {column} FROM {_nodes(graph, data)} ORDER BY node").to_arrow_table().column(0)
    values = pa.array(catalog.tables[graph.nodes].columns[attribute].values or (), read.type)
    return _integers(pc.fill_null(pc.index_in(read, value_set=values), -1))


def _integers(column: pa.ChunkedArray) -> Integers:
    return np.asarray(column.cast(pa.int64()).to_numpy(), np.int64)


def _column(catalog: Catalog, graph: Network, name: str) -> str:
    """A column of the nodes' table as the snapshot calls it."""
    return f"c{list(catalog.tables[graph.nodes].columns).index(name) + 1}"


def _nodes(graph: Network, data: str) -> str:
    return f"{data}.{quoted(f'$nodes {graph.name}')}"


def _edges(graph: Network, data: str) -> str:
    return f"{data}.{quoted(f'$edges {graph.name}')}"
