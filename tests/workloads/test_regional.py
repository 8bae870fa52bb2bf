"""Tables by region from a curator: consistent counts, invariants that only the owner declares, early refusals."""

import numpy as np
import pyarrow as pa
import pytest

from discreet import workloads
from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.core.loss import Neighbours
from discreet.errors import BadCatalog, BadInput, BudgetExceeded, DiscreetError, TooLarge, UnknownName
from discreet.ledger import verify
from discreet.measurement.replay import PublicSums
from discreet.measurement.transcript import about
from discreet.workloads.queries.geography import Regions
from discreet.workloads.releases.regional import RegionalRelease
from tests.support.memory_tables import domain_of, measuring
from tests.workloads.test_topdown import small_tree

STATES, COUNTIES, BLOCKS = 3, 4, 5
PLACES = [(f"s{s}", c, f"{s}-{c}-{b}") for s in range(STATES) for c in range(COUNTIES) for b in range(BLOCKS)]
SHUFFLED = [PLACES[(7 * n) % len(PLACES)] for n in range(len(PLACES))]
GEO = pa.table({"state": [p[0] for p in SHUFFLED], "county": [p[1] for p in SHUFFLED], "block": [p[2] for p in SHUFFLED]})  # fmt: skip
PEOPLE = pa.table(
    {
        "person": range(3000),
        "sex": [["F", "M"][n % 2] for n in range(3000)],
        "block": [PLACES[n * n % 47][2] if n % 100 else "nowhere" for n in range(3000)],
    }
)
ROWS = "SELECT sex, block FROM people"


def catalog(tree='levels = ["state", "county", "block"]', *, neighbours="add-remove", name="geo", table="blocks"):
    return f"""
neighbours = "{neighbours}"
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 100
delta = 1e-6
[budget.analysts.alice]
epsilon = 100
delta = 1e-6
[tables.blocks]
public = true
columns.state = {{ type = "text" }}
columns.county = {{ type = "integer" }}
columns.block = {{ type = "text" }}
columns.area = {{ type = "real" }}
[tables.people]
privacy_unit = "person"
columns.person = {{ type = "integer" }}
columns.sex = {{ type = "text", values = ["F", "M"] }}
columns.block = {{ type = "text" }}
[trees.{name}]
table = "{table}"
{tree}
"""


def a_curator(*details, geo=GEO, people=PEOPLE, **more):
    area = geo.append_column("area", pa.array([1.0] * len(geo)))
    return open_curator(catalog=parse_catalog(catalog(*details, **more)), frames={"people": people, "blocks": area})


def exact(level, sex=None):
    """Counts by the names of regions, without the curator."""
    where = {block: (state, county, block)[:level] for state, county, block in PLACES}
    counts = {}
    for one, block in zip(PEOPLE["sex"].to_pylist(), PEOPLE["block"].to_pylist(), strict=True):
        if block in where and sex in (None, one):
            counts[where[block]] = counts.get(where[block], 0) + 1
    return counts


def test_counts_of_all_regions_are_consistent_and_accurate_and_free_when_repeated():
    with a_curator() as curator:
        plan = curator.as_analyst("alice").plan_tables(ROWS, tree="geo", rho=5)
        nothing = curator.budget()
        made = curator.as_analyst("alice").tabulate(ROWS, tree="geo", rho=5, name="regions")
        spent = curator.budget()
        again = curator.as_analyst("alice").tabulate(ROWS, tree="geo", rho=5, name="regions")
        assert (nothing == spent, curator.budget() == spent, again.replayed) == (False, True, True)
        found = curator.as_analyst("alice").release("regions")
        assert verify(curator.ledger).sound
    assert isinstance(found, RegionalRelease)
    assert [found.table(level).shape for level in ("all", "state", "county", "block")] == [
        (1, 2),
        (3, 2),
        (12, 2),
        (60, 2),
    ]
    for above, below in (("all", "state"), ("state", "county"), ("county", "block")):
        names, parents = found.regions(below), found.regions(above)
        for at, parent in enumerate(parents):
            inside = [place for place, name in enumerate(names) if name[: len(parent)] == parent]
            assert (found.table(below)[inside].sum(axis=0) == found.table(above)[at]).all()
    for depth, level in enumerate(("all", "state", "county", "block")):
        assert found.table(level).min() >= 0
        known = exact(depth, "M")
        off = [abs(found.table(level)[at, 1] - known.get(name, 0)) for at, name in enumerate(found.regions(level))]
        assert max(off) <= 6 * plan.tables[depth].within
    assert [table.queries for table in plan.tables] == [2, 6, 24, 120]
    assert [table.within for table in plan.tables] == pytest.approx(list(made.errors(0.95).values()))


def test_every_count_is_a_row_with_its_region_and_cell():
    with a_curator() as curator:
        made = curator.tabulate(ROWS, tree="geo", rho=5)
    rows = made.to_arrow().to_pylist()
    assert len(rows) == 2 + 6 + 24 + 120
    assert rows[0] | {"count": 0, "within": 0} == {"level": "all", "state": None, "county": None, "block": None, "sex": "F", "count": 0, "within": 0}  # fmt: skip
    assert {row["block"] for row in rows if row["level"] == "block"} == {place[2] for place in PLACES}
    assert sum(row["count"] for row in rows if row["level"] == "county") == made.table("all").sum()


INVARIANT = 'levels = ["state", "county", "block"]\ninvariant = "state"\nof = "people"'


def test_declared_totals_are_exact_in_every_release_and_shown_on_the_card_and_in_the_entry():
    with a_curator(INVARIANT, neighbours="replace-one") as curator:
        made = curator.as_analyst("alice").tabulate(ROWS, tree="geo", rho=0.001)
        assert curator.card().invariants == ("totals of people by state, in geo",)
        assert curator.catalog().trees[0]["invariant"] == "state"
        assert "totals of state exact" in curator.history(limit=1)[0].sql
        assert verify(curator.ledger).sound
    known = exact(1)
    assert [made.table("state")[at].sum() for at, _ in enumerate(known)] == [
        known[name] for name in made.regions("state")
    ]
    assert made.table("all").sum() == sum(known.values())
    assert made.transcript.steps[-1].kind == "invariant"
    assert (made.table("block").sum(axis=1) != 0).any()


WHOLE = ["SELECT block, sex FROM people", "SELECT block, sex = 'F' AS woman FROM people", "people"]
CHOSEN = [
    *WHOLE,
    "SELECT sex, block FROM people WHERE sex = 'F'",
    "SELECT CASE WHEN sex = 'F' THEN '0-0-0' ELSE '1-0-0' END AS block, sex FROM people WHERE person = 17",
    "SELECT CASE WHEN sex = 'F' THEN '0-0-0' ELSE '1-0-0' END AS block, sex FROM people",
    'SELECT sex AS "BLOCK", block AS place FROM people',
    "SELECT block, sex FROM people LIMIT 5",
]


def free_outcomes(source, sex_of_17):
    """All outcomes that are free, for rows that an analyst chooses."""
    sexes = PEOPLE["sex"].to_pylist()
    people = PEOPLE.set_column(1, "sex", pa.array([*sexes[:17], sex_of_17, *sexes[18:]], pa.string()))
    with a_curator(INVARIANT, neighbours="replace-one", people=people) as curator:
        try:
            made = curator.as_analyst("alice").tabulate(source, tree="geo", rho=1e-6)
        except DiscreetError as refusal:
            return refusal.code
        return [step.outcome.tolist() for step in made.transcript.steps if step.about["paid"] is None]


@pytest.mark.parametrize("source", CHOSEN)
def test_no_rows_that_an_analyst_chooses_are_counted_exactly(source):
    """Neighbours that agree on every declared total agree on everything that is free, whatever the analyst chooses.

    This holds also if a value is undeclared, so that a row counts in no table of the run.
    """
    outcomes = [free_outcomes(source, sex) for sex in ("F", "M", "X", None)]
    assert outcomes[1:] == outcomes[:-1]
    assert source not in WHOLE or len(outcomes[0]) == 1


@pytest.mark.parametrize(
    ("tree", "more"),
    [
        (INVARIANT, {}),  # add-remove
        ('levels = ["state"]\ninvariant = "town"', {"neighbours": "replace-one"}),
        ('levels = ["state", "block"]\ninvariant = "state"', {"neighbours": "replace-one"}),
        ('levels = ["state", "block"]\ninvariant = "state"\nof = "blocks"', {"neighbours": "replace-one"}),
        ('levels = ["state"]\ninvariant = "state"\nof = "people"', {"neighbours": "replace-one"}),
        ('levels = ["state", "block"]\nof = "people"', {"neighbours": "replace-one"}),
        ('levels = ["state", "state"]', {}),
        ('levels = ["all", "state"]', {}),
        ('levels = ["town"]', {}),
        ('levels = ["area"]', {}),
        ("levels = []", {}),
        ('levels = "state"', {}),
        ('levels = ["state"]', {"table": "people"}),
        ('levels = ["state"]', {"table": "none"}),
        ('levels = ["state"]\nexact = true', {}),
    ],
    ids=str,
)
def test_an_impossible_tree_is_refused_with_the_catalog(tree, more):
    with pytest.raises(BadCatalog, match=r"trees\.geo"):
        parse_catalog(catalog(tree, **more))


def test_what_cannot_be_is_refused_before_any_charge():
    with a_curator() as curator:
        nothing = curator.budget()
        for error, source, details in (
            (UnknownName, ROWS, {"tree": "town", "rho": 1}),
            (UnknownName, "SELECT sex FROM people", {"tree": "geo", "rho": 1}),
            (BadInput, ROWS, {"tree": "geo", "rho": 1, "workload": workloads.marginals(1)}),
            (BadInput, ROWS, {"rho": 1}),
            (BadInput, ROWS, {"tree": "geo"}),
            (BudgetExceeded, ROWS, {"tree": "geo", "rho": 10**6}),
            (TypeError, ROWS, {"tree": "geo", "rho": 1, "invariant": "state"}),
            (TooLarge, f"SELECT block, {', '.join(f'sex AS sex{n}' for n in range(15))} FROM people", {"tree": "geo", "rho": 1}),
        ):  # fmt: skip
            with pytest.raises(error):
                curator.as_analyst("alice").tabulate(source, **details)
        assert curator.budget() == nothing


def test_a_public_table_whose_blocks_lack_distinct_names_is_refused():
    for spoiled in (None, PLACES[1][2]):
        blocks = [spoiled, *GEO["block"].to_pylist()[1:]] if spoiled is None else [spoiled] * len(GEO)
        with a_curator(geo=GEO.set_column(2, "block", pa.array(blocks, pa.string()))) as curator, pytest.raises(DiscreetError, match="name"):  # fmt: skip
            curator.tabulate(ROWS, tree="geo", rho=1)


@pytest.mark.parametrize("neighbours", list(Neighbours), ids=lambda relation: relation.value)
def test_a_measurer_returns_exact_sums_only_for_the_invariants_of_its_run(neighbours):
    """The run determines which, whatever the method asks for; under add-remove there are none."""
    tree = small_tree()
    domain = domain_of(20, 2, neighbours=neighbours)
    rows, totals = [(n % 20, n % 2) for n in range(50)], Regions(tree, 1, 1)
    measurer = measuring(rows, domain)
    with pytest.raises(BadInput, match="owner"):
        measurer.invariant(("a",), totals)
    asked = about("invariant", paid=None, columns=("a",), combination=totals.described)
    measurer._run.invariant = PublicSums(asked, lambda: np.bincount([n % 20 for n in range(50)]))
    for other in (Regions(tree, 2, 1), Regions(tree, 3, 1)):
        with pytest.raises(BadInput, match="owner"):
            measurer.invariant(("a",), other)
    if neighbours is Neighbours.ADD_REMOVE:
        with pytest.raises(BadInput, match="owner"):
            measurer.invariant(("a",), totals)
    else:
        left = measurer.left
        assert np.array_equal(
            measurer.invariant(("a",), totals), totals.before(np.bincount([n % 20 for n in range(50)]))
        )
        assert measurer.left == left
