"""Networks behind a curator: one charge before any edge is read, the unit named everywhere, and what is refused before."""

import logging
from dataclasses import replace

import pytest

from discreet.api.graph_api import graph_request
from discreet.api.opening import open_curator
from discreet.api.operations.graph import network_release
from discreet.errors import (
    AccountFrozen,
    BadInput,
    BudgetExceeded,
    DiscreetError,
    NotAllowed,
    OutOfTime,
    TooLarge,
    UnknownAccount,
    UnknownName,
    WrongUnit,
)
from discreet.graphs.network_verbs import VERBS
from discreet.ledger import verify
from discreet.workloads import marginals
from tests.graphs.world import EDGE, EDGES, PEOPLE, PLANTED, SETTINGS, a_curator, written
from tests.support.opening import start_ledger

UNITS = {"node": "person", "edge": "edge"}
ASKED_OF = [(privacy, verb) for privacy in UNITS for verb in VERBS if (privacy, verb) != ("edge", "bound")]
"""A bound on degrees is for persons alone."""
privacies = pytest.mark.parametrize("privacy", ["node", "edge"])


@pytest.fixture(scope="module")
def curators():
    with a_curator("node") as node, a_curator("edge") as edge:
        yield {"node": node, "edge": edge}


@pytest.mark.parametrize(("privacy", "verb"), ASKED_OF)
def test_an_answer_names_its_unit_is_charged_once_and_is_the_same_again_for_nothing(verb, privacy, curators):
    curator = curators[privacy]
    friends, price = curator.graph("friends"), 0.1 + 0.01 * list(VERBS).index(verb)
    plan = friends.explain(verb, epsilon=price, **SETTINGS[verb])
    payer = {"node": "dataset", "edge": "edges of friendships"}[privacy]
    before = {balance.account: balance.spent.epsilon for balance in curator.budget()}
    first = friends.ask(verb, epsilon=price, **SETTINGS[verb])
    after = {balance.account: balance.spent.epsilon for balance in curator.budget()}
    again = friends.ask(verb, epsilon=price, **SETTINGS[verb])
    assert {name: after[name] - before[name] for name in after if after[name] != before[name]} == {
        payer: pytest.approx(price)
    }
    assert (first.replayed, again.replayed) == (False, True)
    assert (again.stored, again.receipt) == (first.stored, first.receipt)
    assert {b.account: b.spent.epsilon for b in curator.budget()} == after
    assert plan.charged == {payer: True}
    assert plan.epsilon == pytest.approx(price)
    assert friends.explain(verb, epsilon=price, **SETTINGS[verb]).asked_before
    assert plan.unit == first.summary["unit"] == curator.history(limit=1)[0].unit == UNITS[privacy]
    assert first.protects in repr(first)
    assert ("k edges" in first.protects) == (privacy == "edge")
    assert first.loss.epsilon == pytest.approx(price)
    assert verify(curator.ledger).sound


@privacies
def test_at_a_large_epsilon_answers_are_what_the_network_says(privacy, curators):
    friends = curators[privacy].graph("friends")
    degrees = [0] * PEOPLE
    for a, b in EDGES:
        degrees[a] += 1
        degrees[b] += 1
    most = {"node": 40, "edge": 200}[privacy]
    assert friends.edges(epsilon=150, max_degree=PEOPLE).value == pytest.approx(len(EDGES), abs=30)
    spread = friends.degrees(epsilon=150).outcome
    small = [degree for degree in degrees if degree < 15]
    assert spread.at_most[14] == pytest.approx(len(small), abs=12 if most == 40 else 1)
    pairs = friends.assortativity("town", epsilon=150, max_degree=PEOPLE).outcome.rows
    within = {(row["one"], row["other"]): row["edges"] for row in pairs}
    assert within["A", "A"] == pytest.approx(sum(a % 2 == b % 2 == 0 for a, b in EDGES), abs=60)


@privacies
def test_stars_and_rumours_cost_nothing_beside_degrees(privacy, curators):
    curator, friends = curators[privacy], curators[privacy].graph("friends")
    spread = friends.degrees(epsilon=0.31).outcome
    spent = curator.budget()
    stars, told = friends.stars(3, epsilon=0.31), friends.rumour(0.2, epsilon=0.31)
    assert stars.replayed
    assert told.replayed
    assert stars.value == spread.stars(3)
    assert curator.budget() == spent


def test_an_engine_counts_public_nodes_without_noise_and_no_others(curators):
    for privacy, curator in curators.items():
        engine, friends = curator._engine, curator.declared.graphs["friends"]
        if privacy == "edge":
            assert engine.nodes_of(friends) > 0
        else:
            with pytest.raises(BadInput, match="private"):
                engine.nodes_of(friends)


def test_what_is_spent_on_edges_is_in_no_account_of_people_and_no_analysts(curators):
    with a_curator("edge") as curator:
        first = curator.as_analyst("ada").graph("friends").edges(epsilon=0.5)
        again = curator.as_analyst("bob").graph("friends").edges(epsilon=0.5)
        spent = {balance.account: (balance.unit, balance.spent.epsilon) for balance in curator.budget()}
        assert spent == {
            "dataset": ("person", 0),
            "edges of friendships": ("edge", 0.5),
            "ada": ("person", 0),
            "bob": ("person", 0),
        }
        assert (first.replayed, again.replayed) == (False, True)
        assert [b.account for b in curator.as_analyst("ada").budget()] == ["dataset", "edges of friendships", "ada"]
        card = curator.card()
        assert card.spent.epsilon == 0
        assert not card.totals
        assert [(each.edges, each.spent.epsilon) for each in card.edges] == [("friendships", 0.5)]
        assert "k times" in card.edges[0].in_words
        assert "a given edge" in card.edges[0].in_words
        assert "person is in the data" not in card.edges[0].in_words
        assert card.releases[0].unit == "edge"
        (charge,) = curator.ledger.charges_with(first.receipt)
        assert (charge.body["unit"], charge.body["edges"], charge.body["accounts"]) == (
            "edge",
            "friendships",
            ["edges:friendships"],
        )
        assert verify(curator.ledger).sound


def test_the_card_tells_of_an_account_of_edges_that_renews_what_all_months_come_to():
    renewing = EDGE.replace("budget = { epsilon = 1000 }", 'budget = { epsilon = 1, renews = "monthly" }')
    with a_curator("edge", catalog=renewing) as curator:
        curator.graph("friends").edges(epsilon=0.8)
        (edges,) = curator.card().edges
        assert edges.in_words.endswith("all of it again each month")
        assert (edges.renewal.every, edges.renewal.lifetime_spent.epsilon) == ("month", 0.8)


def test_an_account_of_edges_ends_like_any_other_and_people_still_pay():
    with a_curator("edge", catalog=EDGE.replace("budget = { epsilon = 1000 }", "budget = { epsilon = 1 }")) as curator:
        curator.graph("friends").edges(epsilon=0.8)
        with pytest.raises(BudgetExceeded, match="edges of friendships"):
            curator.graph("friends").edges(epsilon=0.3)
        assert not curator.graph("friends").explain("edges", epsilon=0.3).charged["edges of friendships"]


READERS = {
    "ask": lambda c: c.ask("SELECT COUNT(*) FROM friendships", epsilon=1),
    "join": lambda c: c.ask("SELECT COUNT(*) FROM people p JOIN Friendships f ON p.person = f.a", epsilon=1),
    "subquery": lambda c: c.ask("SELECT COUNT(*) FROM people WHERE person IN (SELECT a FROM friendships)", epsilon=1),
    "with": lambda c: c.ask("WITH f AS (SELECT a FROM friendships) SELECT COUNT(*) FROM f", epsilon=1),
    "explain": lambda c: c.explain("SELECT COUNT(*) FROM friendships", epsilon=1),
    "synth": lambda c: c.synthesize("friendships", epsilon=0.1),
    "tabulate": lambda c: c.plan_tables("SELECT a FROM friendships", marginals(1), epsilon=0.1),
    "session": lambda c: c.plan_session("friendships", queries=3, epsilon=0.1),
    "watch": lambda c: c.watch("SELECT COUNT(*) FROM friendships", threshold=5, epsilon=1),
    "bounds": lambda c: c.estimate_bounds("friendships", "a", epsilon=1),
}


@privacies
@pytest.mark.parametrize("reader", READERS)
def test_no_question_reads_the_edges_and_the_refusal_names_the_verb(reader, privacy, curators):
    spent = curators[privacy].budget()
    with pytest.raises(NotAllowed, match=r"discreet graph friends edges"):
        READERS[reader](curators[privacy])
    assert curators[privacy].budget() == spent
    assert "friendships" not in {table["name"] for table in curators[privacy].catalog().tables}
    assert curators[privacy].catalog().graphs[0]["privacy"] == privacy


@pytest.mark.parametrize(
    ("verb", "given"),
    [
        ("edges", {}),
        ("edges", {"epsilon": 0}),
        ("edges", {"epsilon": 1, "max_degree": 0}),
        ("edges", {"epsilon": 1, "per_node": 3}),
        ("nothing", {"epsilon": 1}),
        ("stars", {"epsilon": 1}),
        ("rumour", {"epsilon": 1, "transmission": 2}),
        ("assortativity", {"epsilon": 1, "attribute": "note"}),
        ("assortativity", {"epsilon": 1}),
        ("degrees", {"epsilon": 1, "max_degree": 500_000}),
    ],
)
def test_a_refusal_comes_before_anything_is_charged_or_read(verb, given, curators, monkeypatch):
    curator = curators["node"]
    monkeypatch.setattr(type(curator._engine), "network", lambda *_, **__: pytest.fail("edges were read"))
    spent, entries = curator.budget(), curator.ledger.head()
    for call in (curator.graph("friends").ask, curator.graph("friends").explain):
        with pytest.raises(DiscreetError):
            call(verb, **given)
    assert (curator.budget(), curator.ledger.head()) == (spent, entries)


def test_a_plan_reads_no_edge(curators, monkeypatch):
    for privacy, verb in ASKED_OF:
        monkeypatch.setattr(type(curators[privacy]._engine), "network", lambda *_, **__: pytest.fail("edges were read"))
        plan = curators[privacy].graph("friends").explain(verb, epsilon=0.77, **SETTINGS[verb])
        assert not plan.asked_before
        known = {"edges", "degrees", "assortativity"} | ({"triangles"} if privacy == "node" else set())
        assert (plan.within is not None) == (verb in known)


def test_a_network_that_is_not_there_is_refused_by_name(curators):
    with pytest.raises(UnknownName, match="friends"):
        curators["node"].graph("enemies")
    with pytest.raises(BadInput):
        curators["node"].graph("friends").edges(epsilon=None)


@privacies
def test_nothing_that_was_planted_is_ever_told(privacy, curators, caplog):
    caplog.set_level(logging.DEBUG)
    friends, told = curators[privacy].graph("friends"), []
    for verb in (verb for unit, verb in ASKED_OF if unit == privacy):
        answer = friends.ask(verb, epsilon=0.9, **SETTINGS[verb])
        told += [repr(answer), str(answer.summary), answer.stored.decode()]
    told += [repr(friends), str(curators[privacy].card()), str(curators[privacy].history()), caplog.text]
    assert PLANTED not in "".join(told)


def test_books_remember_what_a_network_promised_and_refuse_another_promise(tmp_path):
    place = written(tmp_path)
    start_ledger(place)
    text = place.read_text()
    as_edge = text.replace(
        'privacy = "node"\nmax_degree = 40\nper_node = 30', 'privacy = "edge"\nkey = "person"\nbudget = { epsilon = 1 }'
    )
    as_edge = as_edge.replace('privacy_unit = "person"\nrows_about = 300', "public = true")
    as_table = text.partition("[graphs.friends]")[0].replace("rows_about = 1500", 'privacy_unit = "a"')
    for changed in (as_edge, as_table):
        place.write_text(changed)
        with pytest.raises(WrongUnit):
            open_curator(place)
    place.write_text(
        text.partition("[graphs.wires]")[0]
        .replace("[tables.links]\n", "[tables.links]\npublic = true\n")
        .replace("rows_about = 600\n", "")
    )
    with pytest.raises(WrongUnit, match="each edge of links"):
        open_curator(place)


@privacies
def test_an_analyst_who_is_frozen_or_not_there_is_refused_and_edges_cost_nobody(privacy):
    with a_curator(privacy) as curator:
        curator.as_analyst("ada").graph("friends").edges(epsilon=0.5)
        curator.ledger.freeze("ada")
        with pytest.raises(AccountFrozen):
            curator.as_analyst("ada").graph("friends").edges(epsilon=0.5)
        with pytest.raises(UnknownAccount):
            curator.as_analyst("nobody").graph("friends").edges(epsilon=0.5)
        assert curator.as_analyst("bob").graph("friends").edges(epsilon=0.5).replayed == (privacy == "edge")


@privacies
def test_what_an_answer_is_expected_to_take_follows_from_declared_sizes_alone(privacy, curators):
    """So the class of time in which it leaves says nothing of the network."""
    with a_curator(privacy, edges=EDGES[:40]) as small:
        graph = small.declared.graphs["friends"]
        for verb, said in ((verb, SETTINGS[verb]) for unit, verb in ASKED_OF if unit == privacy):
            request = graph_request("friends", verb, epsilon=1, **said)
            one, other = (
                network_release(request, graph, curator.context).seconds for curator in (small, curators[privacy])
            )
            assert one == other
            larger = replace(graph, edges=replace(graph.edges, rows_about=graph.edges.rows_about * 100))
            assert network_release(request, larger, small.context).seconds > 5 * one


def test_triangles_that_take_too_long_are_told_so_and_a_retry_costs_nothing_more(monkeypatch):
    with a_curator("node") as curator:
        with monkeypatch.context() as patched:
            patched.setattr("discreet.graphs.network_release.time_for", lambda _: -1.0)
            for epsilon in (0.5, 0.5):
                with pytest.raises(OutOfTime):
                    curator.as_analyst("ada").graph("friends").triangles(epsilon=epsilon)
        answer = curator.as_analyst("ada").graph("friends").triangles(epsilon=0.5)
        assert answer.value >= 0
        assert {b.account: b.spent.epsilon for b in curator.budget()} == {"dataset": 0.5, "ada": 0.5, "bob": 0}


def test_stars_that_no_number_can_tell_are_refused_before_they_are_paid_for(curators):
    spent = curators["edge"].budget()
    with pytest.raises(TooLarge):
        curators["edge"].graph("friends").stars(100, epsilon=1, max_degree=100_000)
    assert curators["edge"].budget() == spent


def test_a_network_under_another_name_goes_on_with_the_account_of_its_edges(tmp_path):
    place = written(tmp_path)
    start_ledger(place)
    with open_curator(place) as curator:
        curator.graph("wires").edges(epsilon=0.5)
    place.write_text(place.read_text().replace("[graphs.wires]", "[graphs.cables]"))
    with open_curator(place) as curator:
        curator.graph("cables").edges(epsilon=0.25)
        spent = {balance.account: balance.spent.epsilon for balance in curator.budget() if balance.unit == "edge"}
        assert spent == {"edges of links": 0.75}
