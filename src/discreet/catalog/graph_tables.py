"""Networks in a catalog, read strictly.

[graphs.friends] nodes = "people", edges = "friendships", ends = ["a", "b"], privacy = "node", max_degree = 50.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from discreet.accounting import Filter
from discreet.catalog.declarations import Network, Table, Type
from discreet.core.loss import Neighbours
from discreet.errors import BadCatalog

KEYS = {"nodes", "key", "edges", "ends", "privacy", "max_degree", "per_node", "budget"}
_EDGE_KEYS = {"path", "columns", "rows_about"}
"""Keys allowed for a table of edges. A row belongs to both ends, so there is no privacy_unit and no max_rows."""
MOST_DEGREE, MOST_PER_NODE = 10**6, 1 << 40
_KINDS = (Type.INTEGER, Type.TEXT)
Wrong = Callable[[str, str, str], BadCatalog]


def named_edges(graphs: Mapping[str, Any], tables: Collection[str], wrong: Wrong) -> set[str]:
    """Return the names of the tables that are edges of a graph. A table can belong to only one graph."""
    named: set[str] = set()
    for name, section in graphs.items():
        table = section.get("edges") if isinstance(section, dict) else None
        if not isinstance(table, str) or table not in tables:
            raise wrong(f"graphs.{name}.edges", "is not a table", "Set it to the table with one row per edge.")
        if table in named:
            raise wrong(
                f"graphs.{name}.edges", "is already the edges of another graph", "Keep only one of the two graphs."
            )
        named.add(table)
    return named


def read_graph(
    name: str,
    section: Mapping[str, Any],
    *,
    tables: Mapping[str, Table],
    edges: Mapping[str, Table],
    neighbours: Neighbours,
    cap: Filter | None,
    wrong: Wrong,
) -> Network:
    """Read one section, or refuse it with the key that is wrong."""
    path, privacy = f"graphs.{name}", section.get("privacy")
    if not name.isidentifier():
        raise wrong(path, "is not a plain name", "Use only letters, digits and underscores: it is part of a URL.")
    if privacy not in ("node", "edge"):
        raise wrong(
            f"{path}.privacy",
            'must be "node" or "edge"',
            'Write "node" for a person with all their edges, or "edge" for one edge.',
        )
    if privacy == "node" and neighbours is not Neighbours.ADD_REMOVE:
        raise wrong(
            f"{path}.privacy", 'works only with neighbours = "add-remove"', 'Remove neighbours = "replace-one".'
        )
    if (cap is None) == (privacy == "edge"):
        raise wrong(
            f"{path}.budget",
            "is missing: losses of edges do not add up with losses of people"
            if cap is None
            else "is only for privacy of edges: losses of people count in [budget]",
            "Write budget = { epsilon = 3.0 }." if cap is None else "Remove it.",
        )
    nodes = tables.get(str(section.get("nodes")))
    if nodes is None:
        raise wrong(f"{path}.nodes", "is not a table", "Set it to the table with one row per node.")
    key = _key(path, section, nodes, privacy, wrong)
    table = edges[section["edges"]]
    return Network(
        name=name,
        nodes=nodes.name,
        key=key,
        edges=table,
        ends=_ends(path, section, table, nodes.columns[key].type, wrong),
        privacy=privacy,
        max_degree=_whole(path, section, "max_degree", MOST_DEGREE, wrong),
        per_node=_per_node(path, section, privacy, wrong),
        cap=cap,
    )


def check_edge_keys(path: str, section: Mapping[str, Any], wrong: Wrong) -> None:
    """Refuse keys that would assign a row of edges to one person."""
    foreign = sorted(section.keys() - _EDGE_KEYS)
    if foreign:
        raise wrong(
            f"{path}.{foreign[0]}",
            "is not allowed for the edges of a graph, which belong to both ends",
            f"Remove it. Allowed keys: {', '.join(sorted(_EDGE_KEYS))}.",
        )


def _key(path: str, section: Mapping[str, Any], nodes: Table, privacy: str, wrong: Wrong) -> str:
    """The column that names a node: the person, or, where nodes are public, the one that `key` names."""
    if privacy == "node":
        unit = nodes.unit
        if unit is None or unit.path or unit.is_row or nodes.max_rows != 1 or not nodes.is_bounded_once:
            raise wrong(
                f"{path}.nodes",
                "needs a protected table with one row per person and an id column of its own",
                'Give it privacy_unit = "person" and no max_rows, or write privacy = "edge" if who the nodes are is public.',
            )
        if section.get("key", unit.column) != unit.column:
            raise wrong(f"{path}.key", "is not the person's id column", "Remove it.")
        return unit.column
    if not nodes.is_public:
        raise wrong(
            f"{path}.nodes",
            'must be public if privacy = "edge", which protects neither the nodes nor their number',
            'Write public = true there if anyone may know it, or privacy = "node".',
        )
    key = section.get("key")
    if not isinstance(key, str) or key not in nodes.columns or nodes.columns[key].type not in _KINDS:
        raise wrong(
            f"{path}.key",
            f"is not a declared integer or text column of {nodes.name}",
            'Write key = "person", and declare that column there.',
        )
    return key


def _ends(path: str, section: Mapping[str, Any], table: Table, kind: Type, wrong: Wrong) -> tuple[str, str]:
    ends = section.get("ends")
    if (
        not isinstance(ends, list)
        or len(ends) != 2
        or ends[0] == ends[1]
        or not all(isinstance(end, str) for end in ends)
    ):
        raise wrong(f"{path}.ends", "must list two different columns", 'Write ends = ["a", "b"].')
    for end in ends:
        if end not in table.columns or table.columns[end].type is not kind:
            raise wrong(
                f"{path}.ends",
                f"{end} is not a declared column of {table.name} with the type of the node ids",
                f'Declare columns.{end} = {{ type = "{kind.value}" }} there.',
            )
    return ends[0], ends[1]


def _whole(path: str, section: Mapping[str, Any], key: str, most: int, wrong: Wrong) -> int | None:
    given = section.get(key)
    if given is not None and (type(given) is not int or not 1 <= given <= most):
        raise wrong(f"{path}.{key}", f"must be a whole number from 1 to {most:,}", "Write it without quotes.")
    return given


def _per_node(path: str, section: Mapping[str, Any], privacy: str, wrong: Wrong) -> int | None:
    if privacy == "edge" and "per_node" in section:
        raise wrong(f"{path}.per_node", 'is only for privacy = "node"', 'Remove it if privacy = "edge".')
    return _whole(path, section, "per_node", MOST_PER_NODE, wrong)
