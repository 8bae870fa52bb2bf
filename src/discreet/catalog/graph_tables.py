"""Networks in a catalog, read strictly: [graphs.friends] nodes = "people", edges = "friendships", ends = ["a", "b"], privacy = "node", max_degree = 50."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from discreet.accounting import Filter
from discreet.catalog.declarations import Network, Table, Type
from discreet.core.loss import Neighbours
from discreet.errors import BadCatalog

KEYS = {"nodes", "key", "edges", "ends", "privacy", "max_degree", "per_node", "budget"}
_EDGE_KEYS = {"path", "columns", "rows_about"}
"""What a table of edges may say: neither whose a row is, for it is both ends', nor how many rows of one person count."""
MOST_DEGREE, MOST_PER_NODE = 10**6, 1 << 40
_KINDS = (Type.INTEGER, Type.TEXT)
Wrong = Callable[[str, str, str], BadCatalog]


def named_edges(graphs: Mapping[str, Any], tables: Collection[str], wrong: Wrong) -> set[str]:
    """The tables that are edges of a graph, as its section names them: each of one graph.

    Args:
        graphs: All sections, not checked yet.
        tables: The names of all tables.
        wrong: Makes a refusal.
    """
    named: set[str] = set()
    for name, facts in graphs.items():
        table = facts.get("edges") if isinstance(facts, dict) else None
        if not isinstance(table, str) or table not in tables:
            raise wrong(f"graphs.{name}.edges", "names no table", "Name the table that has a row for each edge.")
        if table in named:
            raise wrong(f"graphs.{name}.edges", "names the edges of another graph", "Keep one graph of them.")
        named.add(table)
    return named


def read_graph(
    name: str,
    facts: Mapping[str, Any],
    *,
    tables: Mapping[str, Table],
    edges: Mapping[str, Table],
    neighbours: Neighbours,
    cap: Filter | None,
    wrong: Wrong,
) -> Network:
    """One of them, or a refusal that names its key.

    Args:
        name: What it is called.
        facts: Its section.
        tables: Of the catalog.
        edges: The tables that are edges of a graph.
        neighbours: What is hidden.
        cap: Of its own budget, where it has one.
        wrong: Makes a refusal of a key, what is wrong with it, and what to do.
    """
    path, privacy = f"graphs.{name}", facts.get("privacy")
    if not name.isidentifier():
        raise wrong(path, "is no plain name", "Use letters, digits and underscores: it is part of an address.")
    if privacy not in ("node", "edge"):
        raise wrong(
            f"{path}.privacy",
            "must say what is protected",
            'Write "node" for a person with all their edges, or "edge" for one edge.',
        )
    if privacy == "node" and neighbours is not Neighbours.ADD_REMOVE:
        raise wrong(f"{path}.privacy", "is add-remove of a person", 'Leave neighbours = "replace-one" out.')
    if (cap is None) == (privacy == "edge"):
        raise wrong(
            f"{path}.budget",
            "is missing: what is spent on an edge does not add up with what is spent on a person"
            if cap is None
            else "is for edges: what is spent on a person is counted in [budget]",
            "Write budget = { epsilon = 3.0 }." if cap is None else "Leave it out.",
        )
    nodes = tables.get(str(facts.get("nodes")))
    if nodes is None:
        raise wrong(f"{path}.nodes", "names no table", "Name the table that has a row for each node.")
    key = _key(path, facts, nodes, privacy, wrong)
    table = edges[facts["edges"]]
    return Network(
        name=name,
        nodes=nodes.name,
        key=key,
        edges=table,
        ends=_ends(path, facts, table, nodes.columns[key].type, wrong),
        privacy=privacy,
        max_degree=_whole(path, facts, "max_degree", MOST_DEGREE, wrong),
        per_node=_per_node(path, facts, privacy, wrong),
        cap=cap,
    )


def check_edge_keys(path: str, section: Mapping[str, Any], wrong: Wrong) -> None:
    """Refuse what says whose a row of edges is.

    Args:
        path: Of the table's section.
        section: What the catalog says of it.
        wrong: Makes a refusal.
    """
    foreign = sorted(section.keys() - _EDGE_KEYS)
    if foreign:
        raise wrong(
            f"{path}.{foreign[0]}",
            "is not for the edges of a graph, which belong to both of their ends",
            f"Leave it out; use: {', '.join(sorted(_EDGE_KEYS))}.",
        )


def _key(path: str, facts: Mapping[str, Any], nodes: Table, privacy: str, wrong: Wrong) -> str:
    """The column that names a node: the person, or, where nodes are public, the one that `key` names."""
    if privacy == "node":
        unit = nodes.unit
        if unit is None or unit.path or unit.is_row or nodes.max_rows != 1 or not nodes.is_bounded_once:
            raise wrong(
                f"{path}.nodes",
                "needs a protected table that has one row a person, named by a column of its own",
                'Give it privacy_unit = "person" and no max_rows, or write privacy = "edge" if who the nodes are is public.',
            )
        if facts.get("key", unit.column) != unit.column:
            raise wrong(f"{path}.key", "names another column than the person's", "Leave it out.")
        return unit.column
    if not nodes.is_public:
        raise wrong(
            f"{path}.nodes",
            "must be public with privacy of an edge, which hides neither who the nodes are nor how many",
            'Write public = true there if everybody may know it, or privacy = "node".',
        )
    key = facts.get("key")
    if not isinstance(key, str) or key not in nodes.columns or nodes.columns[key].type not in _KINDS:
        raise wrong(
            f"{path}.key",
            f"names no declared column of integers or text in {nodes.name}",
            'Write key = "person", and declare that column there.',
        )
    return key


def _ends(path: str, facts: Mapping[str, Any], table: Table, kind: Type, wrong: Wrong) -> tuple[str, str]:
    ends = facts.get("ends")
    if (
        not isinstance(ends, list)
        or len(ends) != 2
        or ends[0] == ends[1]
        or not all(isinstance(end, str) for end in ends)
    ):
        raise wrong(f"{path}.ends", "names no two different columns", 'Write ends = ["a", "b"].')
    for end in ends:
        if end not in table.columns or table.columns[end].type is not kind:
            raise wrong(
                f"{path}.ends",
                f"{end} is no declared column of {table.name} in the type that nodes are named by",
                f'Declare columns.{end} = {{ type = "{kind.value}" }} there.',
            )
    return ends[0], ends[1]


def _whole(path: str, facts: Mapping[str, Any], key: str, most: int, wrong: Wrong) -> int | None:
    given = facts.get(key)
    if given is not None and (type(given) is not int or not 1 <= given <= most):
        raise wrong(f"{path}.{key}", f"must be a whole number from 1 to {most:,}", "Write it without quotes.")
    return given


def _per_node(path: str, facts: Mapping[str, Any], privacy: str, wrong: Wrong) -> int | None:
    if privacy == "edge" and "per_node" in facts:
        raise wrong(f"{path}.per_node", "bounds the triangles of a person", 'Leave it out with privacy = "edge".')
    return _whole(path, facts, "per_node", MOST_PER_NODE, wrong)
