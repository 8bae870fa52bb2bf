"""Discreet: the whole way of a question, from its text through the books to the answer."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import discreet
from benchmarks.peers.serve import DELTA, REGIONS, Action, serve
from discreet.api.operations.ask import priced_plan
from discreet.api.requests.ask import AskRequest

# Per-query bounding is said in the table, and its numbers in the question.
BOUNDS = {"Q1": "max_rows = 1", "Q2": "max_rows = 10", "Q2p": 'bounding = "per-query"', "Q4": "max_rows = 10"}
QUERIES = {
    "Q1": "SELECT region, COUNT(*) FROM flat GROUP BY region",
    "Q2": "SELECT region, COUNT(*), SUM(cost) FROM visits GROUP BY region",
    "Q2p": (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=3, max_rows_per_group=10) "
        "region, COUNT(*), SUM(cost) FROM visits GROUP BY region"
    ),
    "Q4": "SELECT region, COUNT(DISTINCT uid) FROM visits GROUP BY region",
}
CATALOG = """
[source]
path = ".."

[ledger]
path = "ledger.sqlite"

[engine]
memory = "8GB"

[budget]
epsilon = 1e6
delta = {delta}

[tables.{table}]
privacy_unit = "uid"
{bound}
columns.uid = {{ type = "integer" }}
columns.region = {{ type = "text", values = {regions} }}
"""
COST = "columns.cost = { type = 'real', lower = 0, upper = 100 }\n"


def prepare(folder: Path, query: str) -> dict[str, Action]:
    table = "flat" if query == "Q1" else "visits"
    home = folder / query
    home.mkdir()
    catalog = CATALOG.format(table=table, bound=BOUNDS[query], regions=REGIONS, delta=DELTA)
    (home / "discreet.toml").write_text(catalog + (COST if table == "visits" else ""))
    said = "create_ledger" in signature(discreet.open).parameters  # the release before began books unasked
    curator = discreet.open(home / "discreet.toml", **({"create_ledger": True} if said else {}))
    sql = QUERIES[query]

    def ask(epsilon: float) -> list:
        return [list(row.values()) for row in curator.ask(sql, epsilon=epsilon).rows]

    def plan(epsilon: float) -> list:
        priced_plan(AskRequest(sql, epsilon=epsilon), curator.context)
        return []

    return {"ask": ask, "plan": plan}


if __name__ == "__main__":
    serve(prepare)
