"""One face: a curator at hand and one behind a server have the same methods and speak in the same dataclasses."""

import inspect
import math
from dataclasses import is_dataclass
from datetime import date
from typing import get_args, get_type_hints

import pytest

import discreet
from discreet.accounting import open_filter
from discreet.api import base
from discreet.api.local import Curator
from discreet.api.remote import RemoteAnswer, RemoteCurator
from discreet.api.requests.accounts import BudgetRequest, HistoryRequest
from discreet.core.json_codec import from_json, to_json
from discreet.core.loss import Loss
from discreet.errors import BadEpsilon, BudgetExceeded, DiscreetError, JoinsPeople, NoAccess, Unreachable
from discreet.ledger.accounts.account_rows import new_account
from discreet.results import models
from discreet.results.answer import Answer
from discreet.results.answer_base import AnswerBase
from discreet.results.ledger_views import renewal_of
from tests.server.conftest import free_port
from tests.support.opening import open_curator

FACES = {name: kind for kind in (base.Api,) for name in vars(kind) if not name.startswith("_")}
METHODS = list(FACES)
SURFACE = [name for name in vars(AnswerBase) if not name.startswith("_") or name == "_repr_html_"]
NEAR_ONLY = {"analyst", "asking", "label"}
"""Whom a question is for is in the key of a client; how it is taken back is in the connection; the books call it by its text."""
WARDS = "SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY ward"


def parameters(kind, method):
    found = inspect.signature(getattr(kind, method)).parameters.values()
    return [(one.name, one.kind, one.default) for one in found if one.name not in NEAR_ONLY]


def hints(kind, method):
    return {
        name: hint for name, hint in get_type_hints(getattr(kind, method)).items() if name not in {*NEAR_ONLY, "return"}
    }


def returned(kind, method):
    return get_type_hints(getattr(kind, method))["return"]


def test_the_face_is_what_an_analyst_can_do():
    assert {"ask", "explain", "watch", "budget", "history", "catalog", "card", "release", "releases"} <= set(METHODS)
    assert {"synthesize", "plan_synthesis", "tabulate", "plan_tables", "session", "plan_session"} <= set(METHODS)
    assert {"learn", "plan_learning", "moments", "evaluate", "plan_evaluation"} <= set(METHODS)
    assert {"columns", "rows", "half_widths", "intervals", "notes", "to_arrow", "to_pandas", "to_polars"} <= set(
        SURFACE
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [Curator, RemoteCurator])
def test_each_method_has_the_parameters_and_types_of_the_face(kind, method):
    if getattr(kind, method) is getattr(FACES[method], method):
        return  # defined once, for both
    assert parameters(kind, method) == parameters(FACES[method], method)
    assert hints(kind, method) == hints(FACES[method], method)
    promised, given = returned(FACES[method], method), returned(kind, method)
    assert given == promised or issubclass(given, promised)


@pytest.mark.parametrize("method", METHODS)
def test_what_only_a_curator_at_hand_takes_can_be_left_out(method):
    extra = [p for p in inspect.signature(getattr(Curator, method)).parameters.values() if p.name in NEAR_ONLY]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is None for p in extra)


@pytest.mark.parametrize("kind", [Answer, RemoteAnswer])
def test_both_answers_are_the_one_class_with_nothing_left_abstract(kind):
    assert issubclass(kind, AnswerBase)
    assert not inspect.isabstract(kind)
    for name in ("to_arrow", "to_pandas", "to_polars", "plot", "__repr__", "_repr_html_"):
        assert getattr(kind, name) is getattr(AnswerBase, name)


@pytest.fixture(scope="module")
def both(server):
    with discreet.connect(server.url, key=server.alice) as far, open_curator(server.config) as near:
        yield near, far


QUERIES = {
    "groups": (WARDS, {"epsilon": 0.05}),
    "a date and an integer": (
        "SELECT DATE_TRUNC('year', date) AS y, MEDIAN(date) AS d, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY 1",
        {"epsilon": 0.05},
    ),
    "no end": ("SELECT SUM(cost) / (COUNT(*) - COUNT(*)) AS lost, 1 / COUNT(*) AS r FROM visits", {"epsilon": 0.001}),
    "selected groups": ("SELECT zip, COUNT(*) AS n FROM patients GROUP BY zip", {"epsilon": 0.05, "delta": 1e-7}),
    "by accuracy": ("SELECT COUNT(*) AS n FROM visits WHERE cost > 3", {"within": 900, "confidence": 0.9}),
    "gaussian": ("SELECT COUNT(*) AS n FROM visits WHERE cost > 4", {"epsilon": 0.05, "mechanism": "gaussian"}),
    "options": ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.05) COUNT(*) AS n FROM visits WHERE cost > 5", {}),
    "parameters": (
        "SELECT sex, COUNT(*) AS n FROM patients JOIN visits USING (patient_id) WHERE date > :d AND age > :a GROUP BY sex",
        {"epsilon": 0.05, "parameters": {"d": date(2023, 6, 1), "a": 30}},
    ),
    "places": ("SELECT COUNT(*) AS n FROM visits WHERE ward = ? AND cost < ?", {"epsilon": 0.05, "parameters": ("ER", 9.5)}),
}  # fmt: skip


@pytest.mark.parametrize("name", QUERIES)
def test_the_same_question_has_the_same_explanation_and_the_same_answer_near_and_far(name, both):
    near, far = both
    sql, details = QUERIES[name]
    assert far.explain(sql, **details) == near.as_analyst("alice").explain(sql, **details)
    first, remote = far.ask(sql, **details), far.ask(sql, **details)
    at_hand = near.as_analyst("alice").ask(sql, **details)
    assert (first.replayed, remote.replayed, at_hand.replayed) == (False, True, True)
    for fact in ("columns", "rows", "loss", "receipt", "notes"):
        assert getattr(remote, fact) == getattr(at_hand, fact), fact
    for level in (0.95, 0.8):
        assert remote.intervals(level) == at_hand.intervals(level)
        assert remote.half_widths(level) == at_hand.half_widths(level)
    assert remote.to_arrow().equals(at_hand.to_arrow())
    assert remote.to_polars().equals(at_hand.to_polars())
    assert remote._repr_html_() == at_hand._repr_html_()
    assert remote.plot() == at_hand.plot()
    assert repr(remote) == repr(at_hand)
    assert len(remote) == len(at_hand)
    assert far.explain(sql, **details).asked_before
    assert far.explain(sql, **details) == near.as_analyst("alice").explain(sql, **details)


def test_books_catalog_and_card_are_the_same_near_and_far(both):
    near, far = both
    far.ask(WARDS, epsilon=0.05)
    assert far.budget() == near.as_analyst("alice").budget()
    assert far.history() == near.as_analyst("alice").history()
    assert far.catalog() == near.catalog()
    assert far.card() == near.card()
    assert WARDS in [release.sql for release in far.history()]
    newest = far.history(limit=1)
    assert newest == far.history()[:1]
    assert far.history(before=newest[0].number) == far.history()[1:]
    assert sum(total.releases for total in far.card().totals) >= len(far.card().releases)
    assert not any(release.sql or release.analyst or release.paid_by for release in far.card().releases)
    assert {table["name"] for table in far.catalog().tables} == {"patients", "visits", "wards"}
    assert str(far.table("visits").count("n")) == str(near.table("visits").count("n"))


def test_intervals_at_another_level_are_free_and_at_no_level_refused(both):
    _, far = both
    answer = far.ask(WARDS, epsilon=0.05)
    spent = far.budget()
    narrow, wide = answer.half_widths(0.5)[0]["n"], answer.half_widths(0.99)[0]["n"]
    assert narrow < wide
    assert far.budget() == spent
    for level in (0, 1, 1.5, math.nan):
        with pytest.raises(DiscreetError):
            answer.intervals(level)


def test_refusals_are_the_same_errors_near_and_far(both, server):
    near, far = both
    for sql, details, kind in (
        ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward", {"epsilon": 0.1}, JoinsPeople),
        ("SELECT COUNT(*) FROM visits", {"epsilon": 400}, BudgetExceeded),
        ("SELECT COUNT(*) FROM visits", {}, BadEpsilon),
    ):
        said = []
        for curator in (near.as_analyst("alice"), far):
            with pytest.raises(kind) as caught:
                curator.ask(sql, **details)
            said.append((type(caught.value), str(caught.value)))
        assert said[0] == said[1]
    with discreet.connect(server.url, key="dk_no_body") as stranger, pytest.raises(NoAccess):
        stranger.budget()


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "nonsense", "ftp://127.0.0.1", "http://[::1", ""])
def test_a_server_that_is_not_there_is_an_error_by_name_with_a_next_step(url):
    with pytest.raises(Unreachable, match="Check its address"):
        discreet.connect(url.format(port=free_port()), key="dk_no_body").budget()


@pytest.mark.parametrize(
    "name", [name for name, kind in vars(models).items() if is_dataclass(kind) and kind.__module__ == models.__name__]
)
def test_every_dataclass_of_the_face_is_read_back_as_it_was_written(name, both):
    near, _ = both
    near.ask(WARDS, epsilon=0.05)
    explanation = near.explain(WARDS, epsilon=0.05)
    watched = near.watch("SELECT COUNT(*) FROM visits", threshold=10**9, epsilon=0.05)
    watched.evaluate()
    examples = {
        "Balance": near.budget()[0],
        "Card": near.card(),
        "CatalogFacts": near.catalog(),
        "Explanation": explanation,
        "GroupFacts": explanation.keys[0],
        "MeasureFacts": explanation.measures[0],
        "PastRelease": near.history()[0],
        "ReleaseTotals": near.card().totals[0],
        "PublishedRelease": models.PublishedRelease("visits", "2026-11-16"),
        "EdgeBalance": models.EdgeBalance("friendships", Loss(3), Loss(0.5), "k times"),
        "Evaluation": models.Evaluation(1, above=False),
        "WatchStatus": watched.status,
        "Renewal": renewal_of(new_account("dataset", open_filter(1, 1e-6, renews="monthly"), date(2026, 11, 16))),
    }
    kind = getattr(models, name)
    assert from_json(kind, to_json(examples[name])) == examples[name]
    assert from_json(kind, {**to_json(examples[name]), "of a newer server": 1}) == examples[name]


def test_the_lists_are_of_the_faces_dataclasses():
    (budget,), (history,) = (kind.__orig_bases__ for kind in (BudgetRequest, HistoryRequest))
    assert [get_args(kind)[0].__forward_arg__ for kind in (budget, history)] == ["list[Balance]", "list[PastRelease]"]
