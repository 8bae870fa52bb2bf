"""Synthetic rows as values: what a code can stand for, and that bins come back from the form they are stored in."""

from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.loss import Neighbours
from discreet.measurement.domain import Bin, Column, Domain, domain_from_json, domain_to_json
from discreet.synthetic.models.labels import values_of
from tests.support.sources import SeededBits

DAY = date(2020, 1, 1)
COLUMNS = [
    Column("ward", ("A", "B", None)),
    Column("flag", (False, True)),
    Column("rate", (0.5, 1.25)),
    Column("income", (Bin(Fraction(0), Fraction(5, 2), is_whole=True), Bin(Fraction(5, 2), Fraction(5), is_whole=True)), is_ordered=True),
    Column("cost", (Bin(Fraction(0), Fraction(1, 3)), Bin(Fraction(1, 3), Fraction(2)), None), is_ordered=True),
    Column("day", (Bin(DAY, DAY + timedelta(3)), Bin(DAY + timedelta(3), DAY + timedelta(4)), None), is_ordered=True),
]  # fmt: skip


def possible(label):
    if not isinstance(label, Bin):
        return lambda value: value == label and type(value) is type(label)
    if label.is_whole:
        return lambda value: type(value) is int and label.lower <= value < label.upper
    return lambda value: label.lower <= value < label.upper


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_every_code_becomes_a_value_that_it_stands_for(column):
    codes = np.tile(np.arange(column.size), 200)
    values = values_of(column, codes, SeededBits(0)).to_pylist()
    assert all(possible(column.labels[code])(value) for code, value in zip(codes, values, strict=True))
    binned = [code for code, label in enumerate(column.labels) if isinstance(label, Bin)]
    for code in binned[:1]:
        assert len({value for at, value in zip(codes, values, strict=True) if at == code}) >= 3


def test_days_are_days_and_whole_numbers_whole():
    kinds = {column.name: values_of(column, np.array([0]), SeededBits(0)).type for column in COLUMNS[3:]}
    assert kinds == {"income": pa.int64(), "cost": pa.float64(), "day": pa.date32()}


def test_a_domain_comes_back_from_what_is_stored_of_it():
    domain = Domain(tuple(COLUMNS), 3, Neighbours.REPLACE_ONE)
    assert domain_from_json(domain_to_json(domain)) == domain


def test_bins_up_to_the_largest_integer_are_drawn_from():
    most = 2**63
    bins = (Bin(Fraction(-most), Fraction(0), is_whole=True), Bin(Fraction(0), Fraction(most), is_whole=True))
    drawn = values_of(Column("n", bins, is_ordered=True), np.array([0, 1]), SeededBits(1)).to_pylist()
    assert -most <= drawn[0] < 0 <= drawn[1] < most
