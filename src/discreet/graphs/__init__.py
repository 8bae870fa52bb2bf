"""Data that is not a table: counts, degrees, triangles and rumours of a network, private for a friendship or for a person."""

from discreet.graphs.degrees import Degrees, degrees
from discreet.graphs.edge_counts import edges, find_max_degree
from discreet.graphs.mixing import Mixing, assortativity
from discreet.graphs.protected_graph import Graph, GraphStatistic, Privacy
from discreet.graphs.rumours import Rumour, rumour
from discreet.graphs.triangles import clustering, triangles

__all__ = [
    "Degrees",
    "Graph",
    "GraphStatistic",
    "Mixing",
    "Privacy",
    "Rumour",
    "assortativity",
    "clustering",
    "degrees",
    "edges",
    "find_max_degree",
    "rumour",
    "triangles",
]
