"""Synthetic data from the curator: one charge, one transcript, whatever dies; what is refused before anything is charged."""

import hashlib
import itertools
import json
import logging
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.errors import (
    BadDelta,
    BadInput,
    BudgetExceeded,
    NameTaken,
    NeedsDelta,
    NeedsValues,
    NotAnswered,
    ScaleOutOfRange,
    TooLarge,
    UnknownName,
)
from discreet.ledger import verify
from discreet.pipeline.call import Call
from discreet.synthetic.methods.method_registry import METHODS
from tests.synthetic.dying import ASKED, CATALOG, prepared

PLANTED = "planted-b7f3"
WIDE = CATALOG.replace('path = "ledger.sqlite"', 'path = ":memory:"') + 'columns.note = { type = "text" }\n'


def frame(count=1200, *, planted=()):
    wards = ["ABC"[n % 3] for n in range(count)]
    sexes = ["FM"[n % 3 % 2] for n in range(count)]
    for at in planted:
        wards[at] = PLANTED
    owners = [n // 2 for n in range(count)]
    ages = [(n * 7) % 10 for n in range(count)]
    columns = {"person": pa.array(owners, pa.int64()), "ward": pa.array(wards, pa.string()), "sex": pa.array(sexes, pa.string()),
               "age": pa.array(ages, pa.int64()), "note": pa.array([PLANTED] * count, pa.string())}  # fmt: skip
    return pa.table(columns)


def a_curator(text=WIDE, **options):
    return open_curator(catalog=parse_catalog(text), frames={"visits": frame(**options)})


ROWS = "SELECT ward, sex, age FROM visits"


@pytest.mark.parametrize("method", [name for name in METHODS if name != "smalldb"])
def test_synthetic_rows_come_from_one_charge_and_are_there_again_for_free(method):
    with a_curator() as curator:
        made = curator.as_analyst("alice").synthesize(ROWS, epsilon=1, delta=1e-9, workload=2, method=method, name="v")
        spent = curator.budget()
        again = curator.as_analyst("alice").synthesize(ROWS, epsilon=1, delta=1e-9, workload=2, method=method, name="v")
        assert curator.budget() == spent
        assert again.transcript.encoded() == made.transcript.encoded()
        assert made.budget.rho == pytest.approx(0.014973, rel=1e-3)
        rows = made.sample(50)
        assert rows.num_rows == 50
        assert rows.column_names == ["ward", "sex", "age"]
        assert set(rows["ward"].to_pylist()) <= {"A", "B", "C"}
        assert made.table("sex", "ward").shape == (3, 2)
        assert made.table("ward").sum() == pytest.approx(made.total)
        assert verify(curator.ledger).sound


def test_a_release_is_seen_by_who_paid_and_by_the_owner():
    with a_curator(WIDE + "[budget.analysts.bob]\nepsilon = 1\ndelta = 1e-6\n") as curator:
        made = curator.as_analyst("alice").synthesize(ROWS, rho=0.01, workload=2, name="mine")
        assert curator.releases() == curator.as_analyst("alice").releases() == ["mine"]
        assert curator.as_analyst("bob").releases() == []
        assert curator.release("mine").transcript.encoded() == made.transcript.encoded()
        for name, analyst in (("mine", "bob"), ("none", None)):
            with pytest.raises(NotAnswered):
                curator.as_analyst(analyst).release(name)
        curator.as_analyst("bob").synthesize(ROWS, rho=0.01, workload=2, name="mine")  # paid for, and not drawn again
        assert curator.as_analyst("bob").release("mine").transcript.encoded() == made.transcript.encoded()


REFUSED = [
    ({"rho": 0.1, "workload": 4}, BadInput),
    ({"rho": 0.1, "workload": 0}, BadInput),
    ({"rho": 0.1, "workload": "ward"}, BadInput),
    ({"rho": 0.1, "workload": [("ward", "nothing")]}, UnknownName),
    ({"rho": 0.1, "workload": []}, BadInput),
    ({"rho": 0.1, "method": "magic"}, BadInput),
    ({"rho": 0.1, "bins": {"nothing": 3}}, UnknownName),
    ({}, BadInput),
    ({"rho": 0.1, "epsilon": 1}, BadInput),
    ({"rho": 0.1, "delta": 1e-9}, BadInput),
    ({"epsilon": 1}, NeedsDelta),
    ({"rho": -1}, BadInput),
    ({"epsilon": 1, "delta": "x"}, BadDelta),
    ({"rho": 1e-22}, ScaleOutOfRange),
    ({"rho": 1000}, BudgetExceeded),
    ({"rho": 0.1, "source": "visits"}, NeedsValues),
    ({"rho": 0.1, "source": "SELECT wards FROM visits"}, UnknownName),
    ({"rho": 0.1, "name": "taken"}, NameTaken),
    ({"rho": 0.1, "name": ""}, BadInput),
]  # fmt: skip


def test_what_cannot_be_is_refused_before_any_charge():
    with a_curator() as curator:
        curator.as_analyst("alice").synthesize(ROWS, rho=0.001, workload=1, name="taken", method="independent")
        spent = curator.budget()
        for asked, error in REFUSED:
            with pytest.raises(error):
                curator.as_analyst("alice").synthesize(**{"source": ROWS, "workload": 2, **asked})
        assert curator.budget() == spent


def test_what_it_would_cost_is_said_without_spending_or_reading(monkeypatch):
    with a_curator() as curator:
        monkeypatch.setattr(curator._engine, "tables", None)
        plan = curator.as_analyst("alice").plan_synthesis(ROWS, epsilon=1, delta=1e-9, workload=2)
        assert plan.columns == {"ward": 3, "sex": 2, "age": 10}
        assert (plan.tables, plan.rows_per_person, plan.epsilon, plan.asked_before) == (3, 2, None, False)
        assert plan.rho == pytest.approx(0.014973, rel=1e-3)
        assert set(plan.charged.values()) == {True}
        assert any("2 rows" in note for note in plan.notes)
        assert any("Gaussian" in note for note in plan.notes)
        assert plan.predicted.rows_about == 10**6  # what a catalog says that says nothing
        assert curator.budget()[0].spent.epsilon == 0
        monkeypatch.undo()
        curator.as_analyst("alice").synthesize(ROWS, epsilon=1, delta=1e-9, workload=2)
        assert curator.as_analyst("alice").plan_synthesis(ROWS, epsilon=1, delta=1e-9, workload=2).asked_before
        with pytest.raises(BadInput):
            curator.plan_synthesis(ROWS, rho=1, workload=9)


def test_a_table_that_is_too_large_is_named():
    wide = "SELECT age * 1000 AS x, age * 2000 AS y, age * 3000 AS z FROM visits"
    with a_curator() as curator, pytest.raises(TooLarge, match="x, y, z"):
        curator.synthesize(wide, rho=0.1, workload=3, bins=dict.fromkeys("xyz", 256))


def test_an_account_without_delta_takes_an_epsilon_and_laplace_noise():
    pure = WIDE.replace("delta = 1e-6", "")
    with a_curator(pure) as curator:
        made = curator.as_analyst("alice").synthesize(ROWS, epsilon=1, workload=2)
        assert made.budget.pure_epsilon == 1
        assert curator.budget()[0].spent.epsilon == 1
        for asked in ({"rho": 0.1}, {"epsilon": 1, "delta": 1e-9}):
            with pytest.raises(NeedsDelta):
                curator.synthesize(ROWS, workload=2, **asked)
        assert verify(curator.ledger).sound


@pytest.mark.parametrize("count", [0, 1, 2])
def test_nobody_and_one_person_are_treated_as_anybody(count):
    with a_curator(count=count) as curator:
        made = curator.synthesize(ROWS, rho=0.01, workload=2)
        assert made.sample(5).num_rows == 5


def test_rows_that_are_people_and_one_row_a_person_of_many_are_measured_with_the_least_noise():
    """Noise follows the rows of a person that count, whoever a person is."""
    rows_are_people = WIDE.replace('privacy_unit = "person"\nmax_rows = 2', 'privacy_unit = "row"')
    once = "SELECT person, COUNT(*) > 1 AS often, MAX(age) AS oldest FROM visits GROUP BY person"
    with a_curator(rows_are_people) as people, a_curator() as curator:
        made = [
            people.synthesize("SELECT ward, sex FROM visits", rho=0.01, workload=1, method="independent"),
            curator.synthesize(once, rho=0.01, workload=1, method="independent"),
            curator.synthesize("SELECT ward, sex FROM visits", rho=0.01, workload=1, method="independent"),
        ]
    assert [release.domain.rows_per_person for release in made] == [1, 1, 2]
    assert [release.domain.l2 for release in made] == [1, 1, 2]
    assert made[1].domain.names == ("often", "oldest")


def test_values_that_nobody_declared_are_found_for_a_price_of_their_own_or_refused():
    with a_curator() as curator:
        made = curator.as_analyst("alice").synthesize(
            "SELECT note, sex FROM visits", rho=0.05, workload=2, discover={"NOTE": 0.5}
        )
        assert [len(column.labels) for column in made.domain.columns] == [1, 2]
        spent = curator.budget()
        assert spent[0].spent.epsilon > 0.5
        assert [past.sql for past in curator.history()][1] == "values of NOTE, for synthetic data"
        curator.as_analyst("alice").synthesize(
            "SELECT note, sex FROM visits", rho=0.05, workload=2, discover={"NOTE": 0.5}
        )
        assert curator.budget() == spent
        with pytest.raises(NeedsValues):  # one person is too few to name what they have
            curator.synthesize("SELECT note FROM visits WHERE person = 1", rho=0.05, workload=1, discover={"note": 0.1})


def test_a_planted_string_is_in_no_row_step_log_or_error(caplog):
    caplog.set_level(logging.DEBUG)
    with a_curator(planted=range(0, 1200, 7)) as curator:
        made = curator.as_analyst("alice").synthesize(ROWS, rho=0.05, workload=2, name="visits")
        with pytest.raises(NeedsValues) as refused:
            curator.synthesize("SELECT note, ward FROM visits", rho=0.05, workload=2)
        with curator.ledger._store.transaction() as t:
            stored = [repr([bytes(cell) if isinstance(cell, memoryview) else cell for cell in row]) for table in ("steps", "entries", "questions")
                      for row in t.run(f"SELECT * FROM ledger_{table}")]  # fmt: skip
        seen = [repr(made), str(made.sample(1000).to_pylist()), caplog.text, str(refused.value), *stored]
    assert len(stored) >= 10
    assert not [text for text in seen if PLANTED in text]


def test_no_look_of_a_run_moves_the_public_card():
    """Else a stranger hears how long rows are read between two looks."""
    with a_curator() as curator:
        heads = []
        call = Call(
            on_step=lambda _: heads.append(curator.card().head),
            on_measurement=lambda _: heads.append(curator.card().head),
        )
        curator.with_call(call).synthesize("SELECT ward, sex, age FROM visits", rho=0.05, workload=2)
        planned, *since = heads
        assert len(since) > 5
        assert set(since) == {since[0]} != {planned}
        assert curator.card().head != since[0]


def die_and_go_on(folder, deaths):
    """Processes killed with signal 9, one after another, until one has come to the end; then another: one transcript, one charge.

    How many were killed.
    """
    place = prepared(folder)
    command = [
        sys.executable,
        "-m",
        "tests.synthetic.dying",
        str(place),
        *(f"{label}/{count}" for label, count in deaths),
    ]
    told = [json.loads(line) for line in subprocess.check_output(command, timeout=60 + 10 * len(deaths)).splitlines()]
    histories = [death["steps"] for death in told]
    assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(histories))
    killed = [death["signal"] == signal.SIGKILL for death in told]
    assert killed == sorted(killed, reverse=True)
    with open_curator(place) as curator:
        made = curator.as_analyst("alice").synthesize("visits", **ASKED)
        stored = [hashlib.sha256(step.encoded()).hexdigest() for step in made.transcript.steps]
        assert stored[: len(histories[-1])] == histories[-1]
        assert curator.as_analyst("alice").release("visits").transcript.encoded() == made.transcript.encoded()
        one_charge(curator)
    return sum(killed)


def everywhere():
    """Every labelled point of every step, for more steps than there are."""
    begin, end = ["reserve: begun", "reserve: written", "reserve: committed"], ["finish: begun", "finish: written"]
    steps = ["step: begun", "step: written", "step: committed"] * 12
    return [(label, 0) for label in (*begin, *steps, *end)]


def one_charge(curator):
    assert curator.as_analyst("alice").budget()[1].spent == curator.budget()[0].spent
    assert curator.ledger.account().total.rho == pytest.approx(ASKED["rho"] * 1e24, rel=1e-9)
    assert verify(curator.ledger).sound


def test_a_process_killed_at_its_steps_leaves_one_transcript_and_one_charge(tmp_path):
    deaths = [("reserve: committed", 0), ("step: written", 1), ("step: committed", 2), ("finish: begun", 0)]
    assert die_and_go_on(tmp_path, deaths) == 4  # `make soak` kills at every step, twenty times


def test_two_curators_at_the_same_time_make_one_transcript(tmp_path):
    place = prepared(tmp_path)
    with open_curator(place) as one, open_curator(place) as other, ThreadPoolExecutor(2) as both:
        made = list(both.map(lambda curator: curator.as_analyst("alice").synthesize("visits", **ASKED), (one, other)))
        assert made[0].transcript.encoded() == made[1].transcript.encoded()
        one_charge(one)
