"""Synthetic data of a frame alone: any frame of the schema's columns is fitted, and what is seen of it is alike for neighbours."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import BadCatalog, BadInput, DiscreetError, NeedsValues

SCHEMA = {
    "sex": {"type": "text", "values": ["F", "M"]},
    "age": {"type": "integer", "lower": 0, "upper": 9},
    "cost": {"type": "real", "lower": 0, "upper": 100},
}
PRICE = {"epsilon": 1, "delta": 1e-9}


def a_frame(rows):
    """So many rows that fit."""
    return pd.DataFrame({"sex": ["F", "M", "M"] * (rows // 3), "age": [n % 10 for n in range(rows)], "cost": [n % 100 + 0.5 for n in range(rows)]})  # fmt: skip


def made(frame, **details):
    return discreet.Synthesizer(schema=SCHEMA, **{**PRICE, **details}).fit(frame)


def test_a_frame_is_fitted_for_its_price_and_rows_come_as_it_came():
    fitted = made(a_frame(900))
    assert fitted.release.budget.rho == pytest.approx(0.0147, abs=0.001)
    rows = fitted.sample(50)
    assert isinstance(rows, pd.DataFrame)
    assert (list(rows.columns), len(rows)) == (["sex", "age", "cost"], 50)
    assert set(rows["sex"]) <= {"F", "M"}
    assert rows["age"].between(0, 9).all()
    assert fitted.release.total == pytest.approx(900, abs=250)
    assert isinstance(made(pl.from_pandas(a_frame(30)), method="independent").sample(3), pl.DataFrame)
    assert isinstance(made(pa.Table.from_pandas(a_frame(30)), method="independent").sample(3), pa.Table)


WHOLE = a_frame(30)
ODD = {
    "nobody": WHOLE.iloc[:0],
    "one row": WHOLE.iloc[:1],
    "a missing number": pd.concat([WHOLE, pd.DataFrame({"sex": ["F"], "age": [np.nan], "cost": [1.0]})]),
    "a missing word": pd.concat([WHOLE, pd.DataFrame({"sex": [None], "age": [1], "cost": [1.0]})]),
    "a word that is no number": pd.concat([WHOLE, pd.DataFrame({"sex": ["F"], "age": ["old"], "cost": [1.0]})]),
    "a value that is not declared": pd.concat([WHOLE, pd.DataFrame({"sex": ["X"], "age": [1], "cost": [1.0]})]),
    "a list in a cell": pd.concat([WHOLE, pd.DataFrame({"sex": [["F"]], "age": [1], "cost": [1.0]})]),
    "numbers without end": pd.concat([WHOLE, pd.DataFrame({"sex": ["F"], "age": [10**30], "cost": [np.inf]})]),
}


@pytest.mark.parametrize("odd", ODD)
def test_frames_with_odd_rows_or_hardly_any_are_fitted_like_all_others(odd):
    rows, usual = made(ODD[odd], method="mst").sample(20), made(WHOLE, method="mst").sample(20)
    assert (list(rows.columns), list(rows.dtypes), len(rows)) == (list(usual.columns), list(usual.dtypes), 20)


def test_what_people_are_and_how_many_rows_of_one_count_is_said_by_who_fits():
    frame = a_frame(300).assign(person=[n // 10 for n in range(300)])
    schema = {**SCHEMA, "person": {"type": "integer"}}
    details = {
        "schema": schema,
        "person": "person",
        "max_rows": 2,
        "method": "independent",
        "neighbours": "replace-one",
    }
    domain = discreet.Synthesizer(**PRICE, **details).fit(frame).release.domain
    assert (domain.rows_per_person, domain.names, domain.neighbours.value) == (2, ("sex", "age", "cost"), "replace-one")


@pytest.mark.parametrize(
    ("details", "error"),
    [
        ({"epsilon": None, "delta": None}, BadInput),
        ({"rho": 0.1}, BadInput),
        ({"epsilon": None}, BadInput),
        ({"schema": {"sex": {"type": "word"}}}, BadCatalog),
        ({"schema": {"sex": {"type": "text"}}}, NeedsValues),
        ({"workload": 9}, BadInput),
        ({"method": "magic"}, BadInput),
        ({"schema": {**SCHEMA, "absent": {"type": "boolean", "values": [True]}}}, DiscreetError),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_name(details, error):
    with pytest.raises(error):
        made(a_frame(30), **details) if "schema" not in details else discreet.Synthesizer(**PRICE, **details).fit(
            a_frame(30)
        )


def test_other_prices_and_what_is_not_fitted_yet():
    with pytest.raises(BadInput, match="fitted"):
        discreet.Synthesizer(schema=SCHEMA, **PRICE).sample(1)
    assert made(a_frame(30), delta=None, method="independent").release.budget.pure_epsilon == 1
    assert made(a_frame(30), epsilon=None, delta=None, rho=0.1, method="independent").release.budget.rho == 0.1
