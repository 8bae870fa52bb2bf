"""Subset selection."""

import math

import numpy as np
import pytest

from discreet.local.protocols import protocol_for
from discreet.local.protocols.draws import Draws
from tests.local.cases import randomizer_for
from tests.local.laws import device_law, numbers_of, twin_law
from tests.support.sources import SeededBits


def test_wide_reports_have_the_law_of_the_device_too():
    randomizer = randomizer_for("subset", "1", {"size": 64, "width": 2})
    of_twin = twin_law(protocol_for(randomizer), np.array([62]), slots=np.zeros(1, np.int64))
    assert of_twin == {(report,): weight for report, weight in device_law(randomizer, 62).items()}
    assert len(of_twin) == math.comb(64, 2)


@pytest.mark.parametrize(("size", "width"), [(6, 5), (63, 31), (64, 63), (100, 27)])
def test_every_report_is_a_set_of_the_width(size, width):
    twin = protocol_for(randomizer_for("subset", "1", {"size": size, "width": width}))
    codes = np.arange(size).repeat(20)
    reports = twin.encode(codes, Draws(SeededBits("sets")), slots=codes)
    assert twin.legal(reports).all()
    assert {number.bit_count() for number in numbers_of(twin, reports)} == {width}
    assert int(twin.tally(reports).sum()) == width * codes.size


def test_the_chance_of_another_value_is_that_of_the_literature():
    """Ye, Barg 2018: w (e^ε (w - 1) + d - w) / ((d - 1)(e^ε w + d - w))."""
    d, w, odds = 30, 8, math.e
    p, q = protocol_for(randomizer_for("subset", "1", {"size": d, "width": w})).chances
    assert float(p) == pytest.approx(odds * w / (odds * w + d - w), rel=1e-12)
    assert float(q) == pytest.approx(w * (odds * (w - 1) + d - w) / ((d - 1) * (odds * w + d - w)), rel=1e-12)


def test_one_bit_too_many_or_too_few_is_not_legal():
    twin = protocol_for(randomizer_for("subset", "1", {"size": 6, "width": 2}))
    assert twin.legal(np.array([0b110000, 0b000001, 0b111000, 0, 0b1000001], np.uint64)).tolist() == [
        True,
        False,
        False,
        False,
        False,
    ]
