"""Private statistics of networks: edges, degrees, triangles, groups and rumours, with edge or node privacy."""

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
