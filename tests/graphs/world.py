"""A network of people who do not exist, behind a curator, private for a person or for an edge."""

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
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
    "bound": {"then": 0.8},
}


def frames(people=range(PEOPLE), edges=EDGES):
    """Tables of the people and of pairs."""
    people, edges = list(people), list(edges)
    ends = {"a": pa.array([a for a, _ in edges], pa.int64()), "b": pa.array([b for _, b in edges], pa.int64())}
    rows = {
        "person": pa.array(people, pa.int64()),
        "town": pa.array(["AB"[(person or 0) % 2] for person in people], pa.string()),
        "note": pa.array([PLANTED] * len(people), pa.string()),
    }
    return {"people": pa.table(rows), "friendships": pa.table(ends)}


def a_curator(privacy, *, people=range(PEOPLE), edges=EDGES, catalog=None):
    """Over books in memory."""
    declared = parse_catalog(catalog or CATALOGS[privacy])
    return open_curator(catalog=declared, frames=frames(people, edges))


ASKED = {"epsilon": 0.4}
LINKS = """
[tables.routers]
public = true
columns.router = { type = "text" }
columns.site = { type = "integer", values = [1, 2] }
[tables.links]
rows_about = 600
columns.one = { type = "text" }
columns.other = { type = "text" }
[graphs.wires]
nodes = "routers"
key = "router"
edges = "links"
ends = ["one", "other"]
privacy = "edge"
max_degree = 100
budget = { epsilon = 20 }
"""


def written(folder):
    """A catalog of two networks, one of people and one of wires, with their files."""
    for name, frame in frames().items():
        pq.write_table(frame, folder / f"{name}.parquet")
    routers = [f"r{number}" for number in range(120)]
    wires = [(routers[a], routers[b]) for a, b in friendships(120, seed=7)]
    pq.write_table(pa.table({"router": routers, "site": [n % 2 + 1 for n in range(120)]}), folder / "routers.parquet")
    ends = {"one": [a for a, _ in wires], "other": [b for _, b in wires]}
    pq.write_table(pa.table(ends), folder / "links.parquet")
    place = folder / "discreet.toml"
    place.write_text((NODE + LINKS).replace(":memory:", "ledger.sqlite"))
    return place
