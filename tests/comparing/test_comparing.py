"""Real numbers for the owner: exact, marked, free of charge, in the books, and in nobody else's reach."""

import itertools
import json
import logging
import math

import numpy as np
import pytest
from scipy import stats

from discreet.api.operations.compare import DELTA, NOT_PRIVATE
from discreet.comparing.counted_rows import CountedRows
from discreet.comparing.distances import MOST_TABLES, resampled, tables_of
from discreet.core.loss import Neighbours
from discreet.engines.tables.array_tables import CodedArray
from discreet.errors import BadInput, EngineFailure, Forbidden, NameTaken, NotAnswered, UnknownName
from discreet.ledger import verify
from discreet.measurement.domain import Column, Domain
from discreet.pipeline.call import Call
from discreet.workloads import marginals
from tests.synthetic.test_curator import PLANTED, ROWS, WIDE, a_curator, frame

REAL = frame()


@pytest.fixture(scope="module")
def curator():
    with a_curator() as opened:
        opened.as_analyst("alice").synthesize(ROWS, rho=0.5, workload=2, method="fixed", name="v")
        yield opened


def shares(*columns):
    """By hand: the share of each combination of values in the frame."""
    rows = list(zip(*(REAL[name].to_pylist() for name in columns), strict=True))
    return {row: rows.count(row) / len(rows) for row in set(rows)}


def test_real_shares_are_those_of_the_rows_and_synthetic_ones_stand_beside_them(curator):
    facts = curator.compare("v")
    assert facts["rows"] == REAL.num_rows
    assert facts["epsilon"] == curator.release("v").budget.epsilon_at(DELTA)
    for column in facts["columns"]:
        exact = {str(value): share for (value,), share in shares(column["column"]).items()}
        assert {one["label"]: one["real"] for one in column["values"]} == pytest.approx(exact)
        assert sum(one["synthetic"] for one in column["values"]) == pytest.approx(1)
    pair = curator.compare_pair("v", ("age", "ward"))
    assert pair["columns"] == ["ward", "age"]
    exact = shares("ward", "age")
    for (i, ward), (k, age) in itertools.product(enumerate(pair["labels"][0]), enumerate(pair["labels"][1])):
        assert pair["real"][i][k] == pytest.approx(exact.get((ward, int(age)), 0))


def test_distances_and_baselines_are_what_they_say(curator):
    one, two, three = curator.compare("v")["errors"]
    assert [(each["tables"], each["of"]) for each in (one, two, three)] == [(3, 3), (3, 3), (1, 1)]
    assert one["independent"] == 0
    names = ("ward", "sex", "age")
    alone = {name: {value: share for (value,), share in shares(name).items()} for name in names}
    exact = shares(*names)
    every = itertools.product(*(alone[name] for name in names))
    off = [abs(exact.get(row, 0) - math.prod(alone[n][v] for n, v in zip(names, row, strict=True))) for row in every]
    assert three["independent"] == pytest.approx(sum(off))
    assert one["synthetic"] <= two["synthetic"] <= three["synthetic"] < 2
    counts = np.array([[0, 1, 5], [7, 300, 0]])
    by_law = sum(
        stats.binom(counts.sum(), c / counts.sum()).expect(lambda x, c=c: abs(x - c)) for c in counts.ravel() if c
    )
    assert resampled(counts) == pytest.approx(by_law / counts.sum())
    assert resampled(np.zeros((2, 2), np.int64)) == 0


def test_what_is_learned_is_tried_on_rows_that_were_held_out(curator):
    """A ward decides the sex: whoever has learned that is always right."""
    trained = {one["column"]: one for one in curator.compare("v")["trained"]}
    assert set(trained) == {"ward", "sex", "age"}
    assert trained["sex"]["real"] == trained["sex"]["synthetic"] == 1
    assert 0.5 < trained["sex"]["guess"] < 0.8
    assert 200 < trained["sex"]["rows"] < 400
    with a_curator() as other:
        other.synthesize(ROWS, rho=1e-6, workload=1, name="v", method="independent")
        worse = {one["column"]: one for one in other.compare("v")["trained"]}
    assert worse["sex"]["real"] == 1
    assert worse["sex"]["synthetic"] < 1  # of columns that have nothing to do with each other nothing can be learned


def test_looking_charges_nothing_stores_nothing_and_is_in_the_books_with_who_did_it(curator):
    before, bill, names = len(curator.ledger.history()), curator.budget(), curator.releases()
    owner = curator.with_call(Call(actor="key 7"))
    facts = [owner.compare("v"), owner.compare_pair("v", ("ward", "sex")), owner.compare_price("v", epsilon=3)]
    assert [each["not_private"] for each in facts] == [NOT_PRIVATE] * 3
    assert facts[2]["epsilon"] == pytest.approx(3)
    assert len(facts[2]["errors"]) == 3
    entries = curator.ledger.history()[before:]
    assert [(entry.kind, entry.body["by"], entry.body["name"]) for entry in entries] == [("compare", "key 7", "v")] * 3
    assert [entry.body["what"] for entry in entries] == ["columns", "a pair of columns", "what epsilon 3 would do"]
    assert (curator.budget(), curator.releases()) == (bill, names)
    assert verify(curator.ledger).sound


def test_a_higher_price_is_nearer_and_a_pure_release_is_tried_at_pure_prices():
    pure = WIDE.replace("delta = 1e-6\n", "")
    assert pure != WIDE
    with a_curator(pure) as curator:
        curator.synthesize(ROWS, epsilon=0.5, workload=2, name="v")
        cheap, dear = (curator.compare_price("v", epsilon=epsilon) for epsilon in (0.001, 50))
    assert (cheap["delta"], cheap["epsilon"]) == (None, 0.001)
    assert dear["errors"][1]["synthetic"] < cheap["errors"][1]["synthetic"]


def test_rows_are_coded_as_the_release_has_them_found_values_and_bins_too():
    with a_curator() as curator:
        curator.synthesize(
            "SELECT note, age FROM visits WHERE age >= :least",
            rho=0.5, workload=2, name="v", discover={"note": 2}, bins={"age": 5}, parameters={"least": 2},
        )  # fmt: skip
        with pytest.raises(UnknownName):  # the books have no parameters
            curator.compare("v")
        facts = curator.compare("v", parameters={"least": 2})
    note, age = facts["columns"]
    assert [one["label"] for one in note["values"]] == [PLANTED]
    assert [one["real"] for one in age["values"]] == pytest.approx([0, 0.25, 0.25, 0.25, 0.25])


def test_what_cannot_be_compared_is_refused_and_not_looked_at():
    with a_curator(WIDE + "[budget.analysts.bob]\nepsilon = 1\ndelta = 1e-6\n") as curator:
        curator.tabulate(ROWS, marginals(1), rho=0.01, name="tables")
        for analyst, workload in (("alice", 1), ("bob", 2)):
            curator.as_analyst(analyst).synthesize(ROWS, rho=0.01, workload=workload, name="same")
        before = len(curator.ledger.history())
        for name, error in (("none", NotAnswered), ("tables", BadInput), ("same", NameTaken)):
            with pytest.raises(error):
                curator.compare(name)
        assert len(curator.ledger.history()) == before
        assert curator.compare("same", given_by="bob")["rows"] == REAL.num_rows
        before = len(curator.ledger.history())
        for columns, error in ((("ward", "ward"), BadInput), (("ward", "none"), UnknownName)):
            with pytest.raises(error):
                curator.compare_pair("same", columns, given_by="bob")
        for forbidden in (lambda alice: alice.compare("v"), lambda alice: alice.publish("tables")):
            with pytest.raises(Forbidden):
                forbidden(curator.as_analyst("alice"))
        assert len(curator.ledger.history()) == before


def test_a_failure_is_one_sentence_without_a_row_after_the_books_say_who_looked(curator, monkeypatch, caplog):
    def failing(*_, **__):
        raise RuntimeError(f"cannot cast {PLANTED}")

    monkeypatch.setattr(curator._engine, "parted_tables", failing)
    caplog.set_level(logging.DEBUG)
    before = len(curator.ledger.history())
    with pytest.raises(EngineFailure) as refused:
        curator.compare("v")
    assert PLANTED not in f"{refused.value} {caplog.text}"
    assert refused.value.__cause__ is None
    assert [entry.kind for entry in curator.ledger.history()[before:]] == ["compare"]


def test_counted_rows_show_nothing_by_themselves_and_tables_are_spread_out(curator):
    domain = curator.release("v").domain
    rows = CountedRows(domain, CodedArray(np.zeros((5, 3), np.int64), (3, 2, 10)).tables())
    assert (repr(rows), rows.number) == ("CountedRows(hidden)", 5)
    json.dumps(curator.compare("v"), allow_nan=False)
    wide = Domain(tuple(Column(f"c{at}", (0, 1)) for at in range(20)), 1, Neighbours.ADD_REMOVE)
    chosen, every = tables_of(wide, 3)
    assert (len(set(chosen)), every) == (MOST_TABLES, math.comb(20, 3))
    assert {name for columns in chosen[:30] for name in columns} == set(wide.names)
    huge = Domain(tuple(Column(f"c{at}", tuple(range(1_001))) for at in range(3)), 1, Neighbours.ADD_REMOVE)
    assert tables_of(huge, 2) == ([], 3)
