"""Conditions in SQL as queries of a session: equal to DuckDB on every public value, and read without rows."""

import itertools
import random
from datetime import date, timedelta

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.api.opening import open_curator
from discreet.api.operations.run_steps import run_basis
from discreet.catalog import parse_catalog
from discreet.errors import BadInput, NotAllowed, QueryRefused, TooLarge, UnknownName, UnparsableQuery
from discreet.measurement.measurer import Cells, Conjunction
from discreet.measurement.run_budget import budget_of
from discreet.measurement.sparse_vector import count_query_from_json, count_query_to_json
from discreet.sessions import Between
from discreet.sessions.sql_conditions import Conditions

CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 10
delta = 1e-6
[tables.visits]
privacy_unit = "person"
max_rows = 1
columns.person = { type = "integer" }
columns.ward = { type = "text", values = ["A", "Be", "C"], nullable = true }
columns.sex = { type = "text", values = ["F", "M"] }
columns.age = { type = "integer", lower = 0, upper = 11 }
columns.weight = { type = "real", lower = 0, upper = 8, granularity = 0.5 }
columns.seen = { type = "date", lower = 2024-01-01, upper = 2024-01-08 }
columns.ill = { type = "boolean" }
"""
SOURCE = "SELECT ward, sex, age, age AS years, weight, seen, ill FROM visits"
BINS = {"years": 4, "weight": 4, "seen": 4}
DAYS = [date(2024, 1, 1) + timedelta(n) for n in range(8)]
VALUES = {
    "ward": ["A", "Be", "C", None],
    "sex": ["F", "M"],
    "age": list(range(12)),
    "years": list(range(12)),
    "weight": [n / 4 for n in range(33)],
    "seen": DAYS,
    "ill": [False, True],
}
CODES = {
    "ward": [0, 1, 2, 3],
    "sex": [0, 1],
    "age": list(range(12)),
    "years": [n // 3 for n in range(12)],
    "weight": [min(n // 8, 3) for n in range(33)],
    "seen": [n // 2 for n in range(8)],
    "ill": [0, 1],
}
TIMES = 150


def basis_of(curator):
    budget = budget_of(epsilon=None, delta=None, rho=0.1, is_pure_account=False)
    return run_basis(SOURCE, budget, curator.context, bins=BINS)


def conditions_of(curator, basis):
    def planning(cancelled):
        return curator.context.of(cancelled=cancelled).planning()

    return Conditions(
        basis.rows, basis.domain, curator.declared, curator._engine, today=date(2024, 1, 5), planning=planning
    )


@pytest.fixture(scope="module")
def curator():
    with open_curator(catalog=parse_catalog(CATALOG), frames={"visits": visits(300)}) as opened:
        yield opened


def visits(count):
    listed = {name: [values[n * 7 % len(values)] for n in range(count)] for name, values in VALUES.items()}
    columns = {name: listed[name] for name in ("ward", "sex", "age", "weight", "seen", "ill")}
    return pa.table({"person": range(count), **columns})


@pytest.fixture(scope="module")
def conditions(curator):
    basis = basis_of(curator)
    return conditions_of(curator, basis)


def asked(conditions, text):
    return conditions.query(text, most_cells=2**22)


class Oracle:
    """For each cell, the truth values of a condition in DuckDB on all combinations of public values."""

    def __init__(self):
        self._database = duckdb.connect(":memory:")

    def __call__(self, text, columns):
        rows = list(itertools.product(*(VALUES[name] for name in columns)))
        cells = list(itertools.product(*(CODES[name] for name in columns)))
        kinds = {"ward": "VARCHAR", "sex": "VARCHAR", "weight": "DOUBLE", "seen": "DATE", "ill": "BOOLEAN"}
        sides = " CROSS JOIN ".join(
            f"(SELECT unnest(${name}::{kinds.get(name, 'BIGINT')}[]) AS {name}, unnest(range({len(VALUES[name])})) AS n_{name})"
            for name in columns
        )
        order = ", ".join(f"n_{name}" for name in columns)
        found = self._database.execute(
            f"SELECT coalesce({text}, false) FROM {sides} ORDER BY {order}", {name: VALUES[name] for name in columns}
        ).fetchall()
        assert len(found) == len(rows)
        shape = [max(CODES[name]) + 1 for name in columns]
        some, every = np.zeros(shape, bool), np.ones(shape, bool)
        for cell, (is_true,) in zip(cells, found, strict=True):
            some[cell] |= is_true
            every[cell] &= is_true
        return some, every


def atom(chance, name):
    constant = {
        "ward": lambda: repr(chance.choice(["A", "Be", "C", "D"])),
        "sex": lambda: repr(chance.choice(["F", "M"])),
        "age": lambda: str(chance.choice([chance.randint(-1, 13), chance.randint(0, 11) + 0.5])),
        "years": lambda: str(chance.choice([*range(0, 13, 3), 2.5, 5.5, 4])),
        "weight": lambda: str(chance.choice([0, 2.0, 4, 6.0, 8, 2.5, 3.25])),
        "seen": lambda: f"DATE '{chance.choice([*DAYS[::2], *DAYS[1::2]])}'",
        "ill": lambda: chance.choice(["true", "false"]),
    }[name]
    kind = chance.randrange(9)
    if name == "ill" and kind < 4:
        return "ill"
    if kind < 4:
        return f"{name} {chance.choice(['<', '<=', '>', '>=', '=', '<>'])} {constant()}"
    if kind == 4:
        return f"{name} IN ({constant()}, {constant()})"
    if kind == 5:
        return f"{name} BETWEEN {constant()} AND {constant()}"
    if kind == 6:
        return f"{name} IS {chance.choice(['', 'NOT '])}NULL"
    if kind == 7 and name in ("age", "years"):
        return chance.choice([f"{name} % 3 = {chance.randint(0, 2)}", f"{name} // 3 > {chance.randint(0, 3)}"])
    if kind == 8 and name == "ward":
        return chance.choice(["ward LIKE 'B%'", "length(ward) = 1", "coalesce(ward, 'A') = 'A'", "upper(ward) = 'BE'"])
    return f"{constant()} {chance.choice(['<', '>='])} {name}"


def condition(chance, names, depth):
    if depth == 0 or chance.random() < 0.1:
        if {"age", "years"} <= set(names) and chance.random() < 0.1:
            return "age >= years"
        return atom(chance, chance.choice(names))
    if chance.random() < 0.2:
        return f"NOT ({condition(chance, names, depth - 1)})"
    word = chance.choice(["AND", "OR", "OR"])
    return f"({condition(chance, names, depth - 1)} {word} {condition(chance, names, depth - 1)})"


def mask_of(query, columns):
    """A query as a table of true and false, by codes."""
    shape = {name: max(CODES[name]) + 1 for name in columns}
    axes = [shape[name] if name in query.columns else 1 for name in columns]
    if isinstance(query, Cells):
        mask = query.mask(tuple(axes))
    else:
        mask = np.ones(axes, bool)
        for name, runs in zip(query.columns, query.codes, strict=True):
            counts = [any(first <= code <= last for first, last in runs) for code in range(shape[name])]
            mask = mask & np.array(counts).reshape([-1 if other == name else 1 for other in columns])
    return np.broadcast_to(mask, [shape[name] for name in columns])


def test_a_condition_counts_exactly_the_cells_for_which_duckdb_evaluates_it_to_true(conditions):
    chance, oracle = random.Random(2026), Oracle()
    outcomes = {"counts": 0, "cells": 0, "cut": 0, "nobody": 0}
    for _ in range(TIMES):
        names = sorted(chance.sample(list(VALUES), chance.randint(2, 3)), key=list(VALUES).index)
        text = condition(chance, names, chance.randint(1, 3))
        some, every = oracle(text, names)
        if not some.any():
            with pytest.raises(BadInput, match="counts 0"):
                asked(conditions, text)
            outcomes["nobody"] += 1
        elif (some != every).any():
            with pytest.raises(BadInput, match="cuts a bin"):
                asked(conditions, text)
            outcomes["cut"] += 1
        else:
            query = asked(conditions, text)
            assert (mask_of(query, names) == every).all(), text
            assert count_query_from_json(count_query_to_json(query)) == query
            outcomes["cells" if isinstance(query, Cells) else "counts"] += 1
    assert min(outcomes.values()) > 8, outcomes


def test_conditions_of_the_same_meaning_are_the_same_query(conditions):
    same = asked(conditions, "age >= 3 AND sex = 'F'")
    assert same == Conjunction(("sex", "age"), (((0, 0),), ((3, 11),)))
    for text in (
        "NOT (age < 3 OR sex <> 'F')",
        "sex IN ('F') AND age BETWEEN 3 AND 100 AND (ill OR NOT ill)",
        "age > 2.5 AND sex < 'G' -- a comment",
        "visits_age >= 3 AND sex = 'F'".replace("visits_age", '"AGE"'),
    ):
        assert asked(conditions, text) == same
    assert asked(conditions, "true") == Conjunction((), ())
    either = asked(conditions, "age = 0 OR sex = 'F'")
    assert isinstance(either, Cells)
    assert either == asked(conditions, "NOT (sex = 'M' AND age <> 0)")


def test_null_is_neither_true_nor_false(conditions):
    assert asked(conditions, "ward <> 'A'") == Conjunction(("ward",), (((1, 2),),))
    assert asked(conditions, "ward IS NULL OR ward <> 'A'") == Conjunction(("ward",), (((1, 3),),))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("heigth > 3", UnknownName),
        ("age >", UnparsableQuery),
        ("", UnparsableQuery),
        ("age", NotAllowed),
        ("age > 3) GROUP BY (sex", UnparsableQuery),
        ("true) UNION SELECT 1 FROM visits WHERE (true", UnparsableQuery),
        ("true; SELECT 1", UnparsableQuery),
        ("EXISTS (SELECT 1 FROM visits)", NotAllowed),
        ("age > (SELECT MAX(age) FROM visits)", NotAllowed),
        ("COUNT(*) > 3", NotAllowed),
        ("ROW_NUMBER() OVER () = 1", NotAllowed),
        ("person = 1", UnknownName),
        ("age > ?", QueryRefused),
    ],
)
def test_text_that_is_not_a_condition_on_one_row_is_refused(conditions, text, error):
    with pytest.raises(error):
        asked(conditions, text)


def test_a_refusal_has_the_position_of_the_mistake_and_a_next_step(conditions):
    with pytest.raises(UnknownName) as refused:
        asked(conditions, "sex = 'F' AND\n agee > 3")
    assert (refused.value.place.line, refused.value.place.column, refused.value.instead) == (2, 2, ("age",))
    with pytest.raises(BadInput) as cut:
        asked(conditions, "years > 3")
    assert "from 3 to 5" in cut.value.next_step
    with pytest.raises(BadInput, match="compare it with constants"):
        asked(conditions, "weight * 2 > 4")
    with pytest.raises(BadInput, match="cuts a bin of weight"):
        asked(conditions, "weight <= 2")  # a bin begins with 2


def test_a_condition_beyond_the_limits_is_refused(conditions, monkeypatch):
    with pytest.raises(TooLarge):
        conditions.query("age >= 3 AND sex = 'F'", most_cells=8)
    for limit in ("MOST_POINTS", "MOST_CELLS", "MOST_RUNS"):
        with monkeypatch.context() as patched:
            patched.setattr(f"discreet.sessions.sql_conditions.{limit}", 3)
            with pytest.raises(TooLarge):
                asked(conditions, "(age + 1) % 3 = 0 OR sex = 'F'")


def test_a_session_answers_conditions_and_columns_alike(curator):
    with curator.session(SOURCE, rho=1, queries=20, bins=BINS) as session:
        by_column, in_sql, other = session.answer_many(
            [{"age": Between(3, 7)}, "age BETWEEN 3 AND 7", "age < 6 OR ill"]
        )
        assert (by_column, session.left) == (in_sql, 18)
        assert abs(other.count - 225) < 60
        assert session.answer("ill OR 6 > age") == other
        with pytest.raises(BadInput):
            session.answer("years = 4")
        assert session.left == 18


def test_a_condition_is_read_without_reading_rows(monkeypatch):
    """The queries are the same on empty data, and with an engine whose tables cannot be opened."""
    found = []
    for count in (0, 300):
        with open_curator(catalog=parse_catalog(CATALOG), frames={"visits": visits(count)}) as opened:
            monkeypatch.setattr(opened._engine, "tables", None)
            basis = basis_of(opened)
            reading = conditions_of(opened, basis)
            found.append([asked(reading, text) for text in ("age < 6 OR ill", "weight >= 2", "seen < CURRENT_DATE")])
            monkeypatch.undo()
    assert found[0] == found[1]


def test_all_conditions_of_a_call_share_one_slot_and_time_limit_and_each_is_evaluated_once(monkeypatch):
    with open_curator(catalog=parse_catalog(CATALOG), frames={"visits": visits(300)}) as curator:
        session = curator.session(SOURCE, rho=0.1, queries=10, bins=BINS, workload=1)
        tried, places = [], []
        truths, slot = curator._engine.truths, curator.context.planning_slots.slot
        monkeypatch.setattr(curator._engine, "truths", lambda *args: tried.append(args) or truths(*args))
        monkeypatch.setattr(
            curator.context.planning_slots, "slot", lambda *args, **kw: places.append(args) or slot(*args, **kw)
        )
        told = session.answer_many(["age < 6", "age < 3 OR ill", "age < 6", {"sex": "F"}, *["age < 3 OR ill"] * 50])
        assert told[0] == told[2]
        assert (len(tried), len(places)) == (2, 1)
        session.answer_many([{"sex": "M"}])
        assert len(places) == 1
        monkeypatch.setattr(curator._engine._watch, "_seconds", -1.0)
        with pytest.raises(TooLarge):
            session.answer_many(["age < 9", "age < 8"])
