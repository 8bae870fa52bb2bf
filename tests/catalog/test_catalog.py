"""discreet.toml: the file of the documentation works as it stands; every mistake is told with its line."""

from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting import open_filter
from discreet.catalog import Reference, Type, load_catalog, parse_catalog
from discreet.catalog.catalog_warnings import warnings_of
from discreet.catalog.toml_lines import key_lines, line_of
from discreet.core.loss import Neighbours
from discreet.errors import BadCatalog
from discreet.samples.clinic import CATALOG
from tests.graphs.world import CATALOGS as NETWORKS


def test_the_example_is_read_as_it_stands():
    catalog = parse_catalog(CATALOG, base=Path("/data"))
    assert (catalog.source, catalog.ledger) == ("/data", "/data/ledger.sqlite")
    assert (catalog.cap.kind, catalog.cap.cap.epsilon, catalog.cap.cap.delta) == ("hybrid", 5.0, 1e-6)
    assert catalog.analysts["alice"].cap.delta == 1e-6  # inherited
    assert catalog.neighbours is Neighbours.ADD_REMOVE
    visits = catalog.tables["visits"]
    assert (visits.unit.column, visits.max_rows, visits.is_public) == ("patient_id", 20, False)
    assert visits.columns["ward"].values == ("ER", "ICU", "Surgery")
    assert visits.columns["date"].upper == date(2025, 12, 31)
    assert catalog.tables["patients"].max_rows == 1
    assert catalog.tables["patients"].columns["zip"].values is None
    assert catalog.tables["wards"].is_public


def test_a_column_knows_its_grid_and_what_a_stored_value_can_be():
    cost = parse_catalog(CATALOG).tables["visits"].columns["cost"]
    assert cost.grid_step == Fraction(1, 128)  # 10,000 / 2**20 is 0.0095; the power of two below it
    assert cost.steps == (0, 1_280_000)
    age = parse_catalog(CATALOG).tables["patients"].columns["age"]
    assert (age.grid_step, age.steps) == (1, (0, 110))
    declared = parse_catalog(CATALOG.replace("upper = 10000", "upper = 10000.3, granularity = 0.25"))
    assert declared.tables["visits"].columns["cost"].steps == (0, 40_001)


def test_a_delta_of_zero_makes_pure_accounts_and_the_kind_can_be_named():
    assert parse_catalog(CATALOG.replace("delta = 1e-6", "delta = 0")).cap.kind == "pure"
    assert parse_catalog(CATALOG.replace("delta = 1e-6", 'delta = 1e-6\naccount = "renyi"')).cap.kind == "renyi"


def test_a_cap_renews_where_its_own_section_says_so_and_the_owner_hears_what_a_year_comes_to():
    catalog = parse_catalog(CATALOG.replace("epsilon = 5.0", 'epsilon = 1.0\nrenews = "monthly"'))
    assert catalog.cap == open_filter(1, 1e-6, renews="monthly")
    assert catalog.analysts["alice"].renews is None
    assert any("after a year, epsilon 12" in warning for warning in warnings_of(catalog))


PATHS = """
[source]
path = "."
[budget]
epsilon = 1
[tables.patients]
privacy_unit = "patient_id"
columns.patient_id = { type = "integer" }
[tables.visits]
privacy_unit = { column = "patient_id", references = "patients.patient_id" }
columns.patient_id = { type = "integer" }
columns.visit_id = { type = "integer" }
[tables.tests]
privacy_unit = { column = "visit_id", references = "visits.visit_id" }
columns.visit_id = { type = "integer" }
"""


def test_a_path_is_followed_to_the_person():
    unit = parse_catalog(PATHS).tables["tests"].unit
    assert unit.column == "patient_id"
    assert unit.path == (Reference("visit_id", "visits", "visit_id"), Reference("patient_id", "patients", "patient_id"))


@pytest.mark.parametrize("kind", ["real", "date", "boolean"])
def test_a_key_that_leads_to_a_person_compares_exactly(kind):
    wrong = PATHS.replace('columns.visit_id = { type = "integer" }', f'columns.visit_id = {{ type = "{kind}" }}', 1)
    with pytest.raises(BadCatalog, match=r"compare exactly.*integer or text"):
        parse_catalog(wrong)


def test_urls_stay_as_they_are():
    catalog = parse_catalog(CATALOG.replace('path = "ledger.sqlite"', 'path = "postgresql://host/books"'))
    assert catalog.ledger == "postgresql://host/books"


def change(old, new):
    assert old in CATALOG
    return CATALOG.replace(old, new)


MISTAKES = {
    "no TOML": ("[source", None, "not valid TOML"),
    "an unknown section": (CATALOG + "\n[colour]\n", "[colour]", "unknown section"),
    "an unknown key": (change("max_rows = 20", "max_row = 20"), "max_row = 20", "max_row"),
    "no budget": (change("[budget]  ", "[budget_]"), "[budget_]", "unknown section"),
    "no epsilon": (change("epsilon = 5.0", "# epsilon"), "[budget] ", "has no epsilon"),
    "a negative epsilon": (change("epsilon = 2.0", "epsilon = -2.0"), "[budget.analysts.alice]", "positive"),
    "a wrong account": (change("delta = 1e-6", 'delta = 0\naccount = "hybrid"'), "[budget] ", "pure"),
    "a period that is none": (change("delta = 1e-6", 'renews = "hourly"'), "[budget] ", "calendar periods"),
    "neither public nor owned": (
        change('privacy_unit = "patient_id"\ncolumns.patient_id = { type = "integer" }\ncolumns.age', "columns.age"),
        "[tables.patients]",
        "either public or have",
    ),
    "public and owned": (
        change("public = true", 'public = true\nprivacy_unit = "ward"'),
        "[tables.wards]",
        "either public or have",
    ),
    "no such unit column": (
        change('privacy_unit = "patient_id"\nmax_rows', 'privacy_unit = "person"\nmax_rows'),
        'privacy_unit = "person"',
        "does not name a declared column",
    ),
    "a limit of zero": (change("max_rows = 20", "max_rows = 0"), "max_rows = 0", "at least 1"),
    "no type": (change('{ type = "text" }         #', "{ nullable = true }  #"), "columns.zip", "no valid type"),
    "reversed bounds": (change("lower = 0, upper = 110", "lower = 110, upper = 0"), "columns.age", "lower below upper"),
    "one bound": (change("lower = 0, upper = 110", "lower = 0"), "columns.age", "lower below upper"),
    "an infinite bound": (change("upper = 10000", "upper = inf"), "columns.cost", "lower below upper"),
    "bounds of text": (change('values = ["F", "M"]', "lower = 0, upper = 1"), "columns.sex", "lower below upper"),
    "repeated values": (change('["F", "M"]', '["F", "F"]'), "columns.sex", "repeated"),
    "values of another type": (change('["F", "M"]', "[1, 2]"), "columns.sex", "another type"),
    "a crooked granularity": (
        change("upper = 10000", "upper = 10000, granularity = 0.3"),
        "columns.cost",
        "power of two",
    ),
    "a name that is ours": (change("columns.zip", 'columns."zip$steps"'), "zip$steps", "control character"),
    "names alike but for case": (change("columns.zip", "columns.AGE"), "[tables.patients]", "differ only in case"),
    "another version": ("version = 2\n" + CATALOG, "version = 2", "must be 1"),
    "an unknown neighbour relation": ('neighbours = "friends"\n' + CATALOG, "neighbours =", "neighbour relation"),
    "a path to nowhere": (
        PATHS.replace("visits.visit_id", "stays.visit_id"),
        "stays.visit_id",
        "does not lead to a declared column",
    ),
    "a circle": (
        PATHS.replace('"patients.patient_id"', '"tests.visit_id"').replace(
            'column = "patient_id", ref', 'column = "visit_id", ref'
        ),
        "tests.visit_id",
        "circle",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_line_and_a_next_step(name):
    text, line, words = MISTAKES[name]  # the line is named by what is written on it
    with pytest.raises(BadCatalog) as caught:
        parse_catalog(text)
    assert words in str(caught.value)
    assert caught.value.next_step
    if line is not None:
        number = next(i for i, written in enumerate(text.splitlines(), start=1) if line in written)
        assert f"Line {number}:" in str(caught.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(BadCatalog, match="discreet init"):
        load_catalog(tmp_path / "none.toml")


def test_lines_are_found_in_every_way_of_writing_a_key():
    lines = key_lines('a = 1\n[b]\nc.d = 2\n"e f" = 3\n[[g]]\nh = 4\n[ i . j ]\nk = 5')
    assert lines == {"a": 1, "b": 2, "b.c.d": 3, "b.e f": 4, "g": 5, "g.h": 6, "i.j": 7, "i.j.k": 8}
    assert line_of(lines, "b.c.d.x.y") == 3
    assert line_of(lines, "nothing") is None


def test_every_type_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "catalog.md").read_text()
    assert all(f"`{kind.value}`" in page for kind in Type)


@pytest.mark.parametrize("privacy", ["node", "edge"])
def test_a_network_is_read_and_its_edges_are_no_table(privacy):
    catalog = parse_catalog(NETWORKS[privacy])
    graph = catalog.graphs["friends"]
    assert (graph.nodes, graph.key, graph.edges.name, graph.ends, graph.privacy) == (
        "people", "person", "friendships", ("a", "b"), privacy,
    )  # fmt: skip
    assert list(catalog.tables) == ["people"]
    assert set(catalog.all_tables) == {"people", "friendships"}
    assert not graph.edges.is_public
    assert (graph.cap is None) == (privacy == "node")


@pytest.mark.parametrize(
    ("privacy", "found", "put", "named"),
    [
        ("node", 'privacy = "node"', 'privacy = "people"', "graphs.friends.privacy"),
        ("node", 'nodes = "people"', 'nodes = "persons"', "graphs.friends.nodes"),
        ("node", 'nodes = "people"', 'nodes = "friendships"', "graphs.friends.nodes"),
        ("node", 'edges = "friendships"', 'edges = "enemies"', "graphs.friends.edges"),
        ("node", 'ends = ["a", "b"]', 'ends = ["a", "a"]', "graphs.friends.ends"),
        ("node", 'ends = ["a", "b"]', 'ends = ["a", "c"]', "graphs.friends.ends"),
        ("node", 'columns.b = { type = "integer" }', 'columns.b = { type = "text" }', "graphs.friends.ends"),
        ("node", "max_degree = 40", "max_degree = 0", "graphs.friends.max_degree"),
        ("node", "max_degree = 40", "budget = { epsilon = 1 }", "graphs.friends.budget"),
        ("node", "max_degree = 40", "most = 3", "graphs.friends.most"),
        ("node", "rows_about = 1500", 'privacy_unit = "a"', "tables.friendships.privacy_unit"),
        ("node", "rows_about = 1500", "public = true", "tables.friendships.public"),
        ("node", 'privacy_unit = "person"', 'privacy_unit = "person"\nmax_rows = 2', "graphs.friends.nodes"),
        ("node", 'privacy_unit = "person"\nrows_about = 300', "public = true", "graphs.friends.nodes"),
        ("node", "[source]", 'neighbours = "replace-one"\n[source]', "graphs.friends.privacy"),
        ("edge", "public = true", 'privacy_unit = "person"', "graphs.friends.nodes"),
        ("edge", 'key = "person"', 'key = "somebody"', "graphs.friends.key"),
        ("edge", 'key = "person"', "", "graphs.friends.key"),
        ("edge", "budget = { epsilon = 1000 }", "", "graphs.friends.budget"),
        ("edge", "budget = { epsilon = 1000 }", "budget = { epsilon = -1 }", "graphs.friends.budget"),
        ("edge", "max_degree = 200", "per_node = 5", "graphs.friends.per_node"),
    ],
)  # fmt: skip
def test_a_network_that_promises_nothing_sound_is_refused_by_its_key(privacy, found, put, named):
    assert found in NETWORKS[privacy]
    with pytest.raises(BadCatalog, match=named):
        parse_catalog(NETWORKS[privacy].replace(found, put))


def test_two_networks_do_not_share_their_edges():
    again = NETWORKS["node"].partition("[graphs.friends]")[2]
    with pytest.raises(BadCatalog, match="another graph"):
        parse_catalog(f"{NETWORKS['node']}\n[graphs.again]{again}")
