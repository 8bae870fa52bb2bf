"""A network of people who do not exist, behind a curator, private for a person or for an edge."""

import pyarrow as pa

from discreet.catalog import parse_catalog
from discreet.opening import open_curator
from discreet.samples.friends import friendships

PEOPLE = 300
EDGES = friendships(PEOPLE, seed=4)
PLANTED = "planted-93ad"
BOOKS = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 1000
[budget.analysts.ada]
epsilon = 500
[budget.analysts.bob]
epsilon = 500
"""
EDGE_TABLE = """
[tables.friendships]
rows_about = 1500
columns.a = { type = "integer" }
columns.b = { type = "integer" }
"""
NODE = (
    BOOKS
    + EDGE_TABLE
    + """
[tables.people]
privacy_unit = "person"
rows_about = 300
columns.person = { type = "integer" }
columns.town = { type = "text", values = ["A", "B"] }
columns.note = { type = "text" }
[graphs.friends]
nodes = "people"
edges = "friendships"
ends = ["a", "b"]
privacy = "node"
max_degree = 40
per_node = 30
"""
)
EDGE = (
    BOOKS
    + EDGE_TABLE
    + """
[tables.people]
public = true
columns.person = { type = "integer" }
columns.town = { type = "text", values = ["A", "B"] }
columns.note = { type = "text" }
[graphs.friends]
nodes = "people"
key = "person"
edges = "friendships"
ends = ["a", "b"]
privacy = "edge"
max_degree = 200
budget = { epsilon = 1000 }
"""
)
CATALOGS = {"node": NODE, "edge": EDGE}
SETTINGS = {
    "edges": {},
    "degrees": {},
    "triangles": {},
    "stars": {"k": 2},
    "clustering": {},
    "assortativity": {"attribute": "town"},
    "rumour": {"transmission": 0.3},
}


def frames(people=range(PEOPLE), edges=EDGES):
    """Tables of the people and of pairs."""
    people, edges = list(people), list(edges)
    ends = {"a": pa.array([a for a, _ in edges], pa.int64()), "b": pa.array([b for _, b in edges], pa.int64())}
    rows = {
        "person": pa.array(people, pa.int64()),
        "town": pa.array(["AB"[person % 2] for person in people], pa.string()),
        "note": pa.array([PLANTED] * len(people), pa.string()),
    }
    return {"people": pa.table(rows), "friendships": pa.table(ends)}


def a_curator(privacy, *, people=range(PEOPLE), edges=EDGES, catalog=None):
    """Over books in memory."""
    declared = parse_catalog(catalog or CATALOGS[privacy])
    return open_curator(catalog=declared, frames=frames(people, edges))
