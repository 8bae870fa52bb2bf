"""One suite that both faces pass: a curator at hand, as one analyst has it, and the same behind a server. Not a word of it knows which one it asks."""

from datetime import date
from itertools import count

import pytest

import discreet
from discreet.errors import DiscreetError
from discreet.results.answer_base import AnswerBase
from tests.server.conftest import Server
from tests.support.opening import open_curator

NUMBERS = count(1)
"""Of questions: each is about another cost, so that none was asked before."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("both"), epsilon="20.0").start()
    yield made
    made.stop()


@pytest.fixture(scope="module", params=["near", "far"])
def face(request, served):
    if request.param == "near":
        with open_curator(served.config) as curator:
            yield curator.as_analyst("alice")
    else:
        with discreet.connect(served.url, key=served.alice) as curator:
            yield curator


@pytest.fixture
def query():
    """One that was never asked."""
    return f"SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE cost <> {next(NUMBERS)} GROUP BY ward"


def spent(face):
    return {account.account: account.spent.epsilon for account in face.budget()}


def test_an_answer_has_values_intervals_and_a_price(face, query):
    answer = face.ask(query, epsilon=0.5)
    assert isinstance(answer, AnswerBase)
    assert answer.columns == ["ward", "n", "m"]
    assert [row["ward"] for row in answer.rows] == ["ER", "ICU", "Surgery"]
    assert answer.loss.epsilon == 0.5
    assert not answer.replayed
    for row, ends, widths in zip(answer.rows, answer.intervals(0.9), answer.half_widths(0.9), strict=True):
        assert ends["ward"] is widths["ward"] is None
        for name in ("n", "m"):
            low, high = ends[name]
            assert low <= row[name] <= high
            assert widths[name] == pytest.approx(max(high - row[name], row[name] - low))
    assert answer.half_widths(0.5)[0]["n"] < answer.half_widths(0.99)[0]["n"]


def test_an_answer_shows_itself_and_becomes_a_table(face, query):
    answer = face.ask(query, epsilon=0.5)
    columns = ["ward", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert answer.to_arrow().column_names == list(answer.to_pandas().columns) == answer.to_polars().columns == columns
    assert "paid ε 0.5" in repr(answer)
    assert f"{answer.rows[0]['n']:,}" in repr(answer)
    assert "<svg" in answer._repr_html_()
    assert answer.plot().svg.startswith("<svg")


def test_the_same_question_is_free_and_has_the_same_answer(face, query):
    first, before = face.ask(query, epsilon=0.3), spent(face)
    again = face.ask(query.lower(), epsilon=0.3)
    assert again.replayed
    assert (again.rows, again.receipt) == (first.rows, first.receipt)
    assert spent(face) == before


def test_a_price_is_told_before_it_is_paid_and_then_paid(face, query):
    before = spent(face)
    told = face.explain(query, epsilon=0.25)
    assert spent(face) == before
    assert (told.loss.epsilon, told.asked_before, told.columns) == (0.25, False, ("ward", "n", "m"))
    answer = face.ask(query, epsilon=0.25)
    assert told.half_widths["n"] == answer.half_widths(0.95)[0]["n"]
    assert all(0 < total - before[name] <= 0.26 for name, total in spent(face).items())
    assert face.explain(query, epsilon=0.25).asked_before


def test_accuracy_can_be_asked_for_instead(face, query):
    counted = query.replace(", AVG(cost) AS m", "")
    told = face.explain(counted, within=500, confidence=0.9)
    answer = face.ask(counted, within=500, confidence=0.9)
    assert answer.loss == told.loss
    assert answer.half_widths(0.9)[0]["n"] <= 500


def test_what_was_asked_is_in_the_history_newest_first(face, query):
    face.ask(query, epsilon=0.1)
    newest, *_ = face.history(limit=1)
    assert (newest.sql, newest.epsilon, newest.replayed, newest.analyst) == (
        query,
        pytest.approx(0.1),
        False,
        "alice",
    )
    assert set(newest.paid_by) == {"dataset", "alice"}
    assert all(past.number < newest.number for past in face.history(before=newest.number))


def test_the_catalog_and_the_card_are_for_everybody(face, query):
    answer = face.ask(query, epsilon=0.1)
    assert {table["name"] for table in face.catalog().tables} == {"patients", "visits", "wards"}
    card = face.card()
    assert card.releases[0].receipt == answer.receipt
    assert not any(release.sql or release.analyst for release in card.releases)
    assert card.spent.epsilon == pytest.approx(spent(face)["dataset"])


def test_a_question_can_be_built_and_have_parameters(face, query):
    built = face.table("visits").where("ward = :w AND date > :d").count("n")
    details = {"epsilon": 0.1, "parameters": {"w": "ER", "d": date(2021, 5, 6)}}
    assert face.ask(built, **details).rows == face.ask(str(built), **details).rows
    placed = face.ask("SELECT COUNT(*) AS n FROM visits WHERE ward = ?", epsilon=0.1, parameters=("ICU",))
    assert list(placed.rows[0]) == ["n"]


def test_a_request_is_paid_for_once_and_its_name_is_good_for_one_question(face, query):
    first, before = face.ask(query, epsilon=0.1, request_id=query), spent(face)
    assert face.ask(query, epsilon=0.1, request_id=query).rows == first.rows
    assert spent(face) == before
    with pytest.raises(DiscreetError) as caught:
        face.ask(query.replace("COUNT(*)", "SUM(cost)"), epsilon=0.1, request_id=query)
    assert caught.value.code == "request-conflict"


# Watches

FAR = 10**9
"""So far from any count that noise never reaches it."""


def counted(query):
    return query.replace("ward, ", "").replace(", AVG(cost) AS m", "").replace(" GROUP BY ward", "")


def test_a_watch_is_paid_once_and_says_one_bit_for_a_data_version(face, query):
    before = spent(face)
    watch = face.watch(counted(query), threshold=FAR, epsilon=0.25)
    paid = spent(face)
    # An account may show its total as rho converted, which can grow by a little more than the epsilon of one charge.
    assert all(0 < paid[name] - before[name] <= 0.26 for name in before)
    assert (watch.answers, watch.ended) == ({}, None)
    assert watch.evaluate() is watch.evaluate() is False
    again = face.watch(counted(query), threshold=FAR, epsilon=0.25)
    assert again.receipt == watch.receipt
    assert again.answers == watch.answers == {face.catalog().version: False}
    assert face.watch(counted(query), threshold=FAR + 1, epsilon=0.25).receipt != watch.receipt
    newest, joined, first, *_ = face.history()
    assert [release.replayed for release in (newest, joined, first)] == [False, True, False]
    assert first.sql == f"watch for {FAR}: {counted(query)}"
    assert first.mechanisms == ("AboveThreshold",)


def test_a_watch_ends_with_the_first_above_and_the_next_run_is_paid_anew(face, query):
    sql, details = (
        f"{counted(query)} AND ward = :w",
        {"threshold": -FAR - 0.5, "epsilon": 0.1, "parameters": {"w": "ER"}},
    )
    watch = face.watch(sql, **details)
    assert watch.evaluate() is True
    assert (watch.ended, watch.answers) == ("above", {face.catalog().version: True})
    before = spent(face)
    assert face.watch(sql, run=2, **details).ended is None
    assert all(total > before[name] for name, total in spent(face).items())


WATCH_REFUSALS = {
    "not-allowed": ("SELECT ward, COUNT(*) FROM visits GROUP BY ward", {}),
    "budget-exceeded": ("SELECT COUNT(*) FROM visits", {"epsilon": 400}),
    "bad-epsilon": ("SELECT COUNT(*) FROM visits", {"epsilon": None}),
    "bad-input": ("SELECT COUNT(*) FROM visits", {"threshold": 2**200}),
    "joins-people": ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward", {}),
}


@pytest.mark.parametrize("code", WATCH_REFUSALS)
def test_a_watch_that_is_refused_has_its_code_and_costs_nothing(face, code):
    sql, details = WATCH_REFUSALS[code]
    before = spent(face)
    with pytest.raises(DiscreetError) as caught:
        face.watch(sql, **{"threshold": 5, "epsilon": 0.1, **details})
    assert caught.value.code == code
    assert caught.value.next_step
    assert spent(face) == before


REFUSALS = {
    "joins-people": ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward", {"epsilon": 0.1}),
    "budget-exceeded": ("SELECT COUNT(*) FROM visits", {"epsilon": 400}),
    "bad-epsilon": ("SELECT COUNT(*) FROM visits", {}),
    "bad-input": ("SELECT COUNT(*) FROM visits", {"epsilon": 1, "within": 3, "confidence": 0.9}),
    "unknown-name": ("SELECT COUNT(*) FROM visitors", {"epsilon": 0.1}),
    "unparsable": ("SELECT COUNT(* FROM visits", {"epsilon": 0.1}),
    "not-allowed": ("SELECT cost FROM visits", {"epsilon": 0.1}),
}


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("method", ["ask", "explain"])
def test_a_refusal_has_its_code_and_a_next_step_and_costs_nothing(face, method, code):
    sql, details = REFUSALS[code]
    before = spent(face)
    if (method, code) == ("explain", "budget-exceeded"):
        assert face.explain(sql, **details).loss.epsilon == 400  # a price can be told that nobody could pay
        return
    with pytest.raises(DiscreetError) as caught:
        getattr(face, method)(sql, **details)
    assert caught.value.code == code
    assert caught.value.next_step
    assert spent(face) == before


@pytest.mark.parametrize("level", [0, 1, 1.5, "much"])
def test_a_level_that_is_none_is_refused(face, query, level):
    with pytest.raises(DiscreetError) as caught:
        face.ask(query, epsilon=0.01).intervals(level)
    assert caught.value.code == "bad-probability"
