"""What can be known before anything is paid is refused then: small prices, odd bounds, and all that is wrong beside values to be found."""

from datetime import date
from itertools import combinations

import pyarrow as pa
import pytest

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog
from discreet.errors import (
    BadInput,
    BudgetExceeded,
    Cancelled,
    NameTaken,
    NeedsValues,
    ScaleOutOfRange,
    TooLarge,
    UnknownName,
)
from discreet.pipeline.call import Call
from discreet.synthetic.methods.affordability import work_of
from discreet.synthetic.methods.method_registry import METHODS
from tests.synthetic.memory import domain_of

DAYS = [date(2000, 1, 1), date(2001, 1, 1)]
FRAME = pa.table({"person": range(300), "note": ["x", "y"] * 150, "day": DAYS * 150, "sex": ["F", "M"] * 150, "other": ["o"] * 300})  # fmt: skip


def a_curator(
    column='columns.sex = { type = "text", values = ["F", "M"] }', *, budget="epsilon = 6\ndelta = 1e-6", rows=1
):
    text = f"""
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
{budget}
[budget.analysts.eve]
{budget}
[tables.t]
privacy_unit = "person"
max_rows = {rows}
columns.person = {{ type = "integer" }}
columns.note = {{ type = "text" }}
columns.day = {{ type = "date" }}
columns.other = {{ type = "text" }}
{column}
"""
    return open_curator(catalog=parse_catalog(text), frames={"t": FRAME})


NOTES = {"source": "SELECT note, sex FROM t", "rho": 0.05, "workload": 2, "discover": {"note": 1}}
REFUSED = [
    ({"workload": 7}, BadInput),
    ({"method": "magic"}, BadInput),
    ({"source": "SELECT note, other FROM t"}, NeedsValues),
    ({"rho": 0.5}, BudgetExceeded),
    ({"rho": 1e-22}, ScaleOutOfRange),
    ({"discover": {"note": 1, "person": 1}}, UnknownName),
    ({"discover": {"note": 1, "nothing": 1}}, UnknownName),
    ({"discover": {"note": 1, "sex": -1}}, BadInput),
    ({"discover": {"note": 3, "sex": 3}}, BudgetExceeded),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "error"), REFUSED, ids=str)
def test_values_are_not_found_for_a_price_where_the_rest_is_refused(asked, error):
    with a_curator() as curator:
        with pytest.raises(error):
            curator.as_analyst("eve").synthesize(**{**NOTES, **asked})
        assert [entry for entry in curator.ledger.history() if entry.kind == "charge"] == []


def test_a_plan_tells_what_finding_values_costs_beside_the_rest_and_whether_caps_allow_both():
    with a_curator() as curator:
        plan = curator.as_analyst("eve").plan_synthesis(**NOTES)
        assert (plan.columns, plan.finding, plan.asked_before) == ({"sex": 2}, {"note": 1.0}, False)
        assert plan.predicted is None
        assert any("the values of note" in note for note in plan.notes)
        assert all(plan.charged.values())
        dear = curator.as_analyst("eve").plan_synthesis(**{**NOTES, "discover": {"note": 3, "sex": 3}})
        assert not all(dear.charged.values())
        with pytest.raises(UnknownName):
            curator.plan_synthesis(**{**NOTES, "discover": {"nothing": 1}})
        assert [entry for entry in curator.ledger.history() if entry.kind == "charge"] == []
        curator.as_analyst("eve").synthesize(**NOTES)
        after = curator.as_analyst("eve").plan_synthesis(**NOTES)
        assert (after.finding, after.asked_before, after.charged) == ({}, True, {})
        assert len(after.predicted.columns) == 2
        assert set(after.columns) == {"note", "sex"}


def test_days_that_were_found_are_days_and_whoever_takes_it_back_pays_for_no_values():
    with a_curator() as curator:
        made = curator.as_analyst("eve").synthesize("SELECT day, sex FROM t", rho=0.05, workload=2, discover={"day": 1})
        assert made.domain.column("day").labels == tuple(DAYS)
        assert set(made.sample(20)["day"].to_pylist()) <= set(DAYS)
        spent = curator.budget()
        curator.as_analyst("eve").synthesize("SELECT day, sex FROM t", rho=0.05, workload=2, discover={"day": 1})
        call = Call()
        call.cancelled.set()
        with pytest.raises(Cancelled):
            curator.with_call(call).synthesize(**NOTES)
        assert curator.budget() == spent


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("budget", "price"), [("epsilon = 6\ndelta = 1e-6", "rho"), ("epsilon = 6", "epsilon")], ids=["rho", "epsilon"]
)
def test_a_price_that_is_taken_is_large_enough_to_the_last_look(budget, price, method):
    with a_curator(budget=budget, rows=1000) as curator:
        amount, refused = 0.1, 0
        while not refused:
            try:
                curator.as_analyst("eve").synthesize("SELECT sex FROM t", **{price: amount}, workload=1, method=method)
            except ScaleOutOfRange:
                refused += 1
            amount /= 1000
        assert not any(account.frozen for account in curator.ledger.accounts())
        assert amount < 1e-9


def test_a_last_day_that_has_none_after_it_is_refused_by_name():
    column = 'columns.sex = { type = "date", lower = 1900-01-01, upper = 9999-12-31 }'
    with a_curator(column) as curator, pytest.raises(BadInput, match="The last bin"):
        curator.synthesize("SELECT sex FROM t", rho=0.1, workload=1)


def test_values_are_not_found_for_a_price_where_the_name_is_taken():
    with a_curator() as curator:
        curator.as_analyst("eve").synthesize("SELECT sex FROM t", rho=0.05, workload=1, name="mine")
        spent = curator.budget()
        with pytest.raises(NameTaken):
            curator.as_analyst("eve").synthesize(**NOTES, name="mine")
        assert curator.budget() == spent


def test_tables_that_are_too_many_for_memory_are_refused_before_the_charge():
    """Each is small enough, and there are fewer than may be chosen among: together a round would hold gigabytes of them."""
    domain = domain_of({f"c{n}": 60 for n in range(38)})
    marginals = dict.fromkeys(combinations(domain.names, 3), 1)
    for name in ("mwem", "aim"):
        with pytest.raises(TooLarge, match="cells together"):
            work_of(METHODS[name], domain, marginals)


def test_what_a_method_is_expected_to_take_follows_what_it_chooses_among():
    """So that a service refuses what would keep its places for minutes, and small runs leave soon."""
    small, wide = domain_of({"a": 3, "b": 2}), domain_of({f"c{n}": 12 for n in range(24)})
    for name in ("aim", "mwem"):
        few, many = (
            work_of(METHODS[name], domain, dict.fromkeys(combinations(domain.names, size), 1))
            for domain, size in ((small, 2), (wide, 3))
        )
        assert few.seconds < 0.1
        assert few.measurements < 40
        assert many.seconds > 20
    assert work_of(METHODS["independent"], wide, {("c0",): 1}).seconds == 0
