"""Apple's sketches, held to the algorithms as they were published."""

import math

import numpy as np
import pytest

from discreet.local.device import client
from discreet.local.protocols import protocol_for
from discreet.local.protocols.draws import Draws
from tests.local.cases import randomizer_for
from tests.local.laws import numbers_of
from tests.support.sources import SeededBits

CODES = np.array([client.fingerprint(value) for value in range(12)], np.uint64)
SHAPE = {"rows": 8, "columns": 16}


def sketch(protocol, epsilon="2", seed=7, **shape):
    return protocol_for(randomizer_for(protocol, epsilon, {**SHAPE, **shape}, seed))


def reports_about(twin, codes, seed="sketch"):
    return twin.encode(codes, Draws(SeededBits(seed)), slots=np.arange(codes.size))


def test_columns_are_the_buckets_of_the_device():
    twin = sketch("cms", rows=16, columns=1024)
    found = twin.columns_of(CODES, np.arange(16)[:, None])
    expected = [[client.bucket(code, row, 7, 1024) for code in CODES.tolist()] for row in range(16)]
    assert found.tolist() == expected


def test_coordinates_are_flipped_as_often_as_in_the_lecture():
    assert float(1 - (1 + sketch("cms", "4").contrast) / 2) == pytest.approx(1 / (1 + math.exp(2)), rel=1e-12)
    assert float(1 - (1 + sketch("hcms", "4").contrast) / 2) == pytest.approx(1 / (1 + math.exp(4)), rel=1e-12)


@pytest.mark.parametrize("columns", [4, 64, 128])
def test_the_estimate_of_cms_is_that_of_the_published_server(columns):
    """Learning with Privacy at Scale, algorithms 5 and 6, report by report."""
    twin = sketch("cms", columns=columns)
    codes, k, m = CODES.repeat(7), 8, columns
    reports = reports_about(twin, codes)
    c = (math.e + 1) / (math.e - 1)
    table = np.zeros((k, m))
    for number in numbers_of(twin, reports):
        row, signs = number >> m, np.array([1 if number >> m - 1 - at & 1 else -1 for at in range(m)])
        table[row] += k * (c / 2 * signs + 1 / 2)
    assert_estimates_are(twin, table, reports)


@pytest.mark.parametrize("columns", [4, 64, 128])
def test_the_estimate_of_hcms_is_that_of_the_published_server(columns):
    """Learning with Privacy at Scale, algorithms 7 and 8, report by report."""
    twin = sketch("hcms", columns=columns)
    codes, k, m = CODES.repeat(7), 8, columns
    reports = reports_about(twin, codes)
    c = (math.exp(2) + 1) / (math.exp(2) - 1)
    table = np.zeros((k, m))
    for number in numbers_of(twin, reports):
        place, sign = number >> 1, 1 if number & 1 else -1
        table[place // m, place % m] += k * c * sign
    at = np.arange(m)
    hadamard = 1 - 2 * (np.bitwise_count(at[:, None] & at).astype(np.int64) % 2)
    assert_estimates_are(twin, table @ hadamard.T, reports)


def assert_estimates_are(twin, table, reports):
    k, m = table.shape
    columns = twin.columns_of(CODES, np.arange(k)[:, None])
    means = table[np.arange(k)[:, None], columns].mean(axis=0)
    published = m / (m - 1) * (means - len(reports) / m)
    np.testing.assert_allclose(twin.estimate(twin.tally(reports), len(reports), CODES), published, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("columns", [16, 64, 100])
def test_the_tally_of_cms_counts_rows_and_set_bits(columns):
    if columns == 100:
        with pytest.raises(client.ClientRefused):
            sketch("cms", columns=columns)
        return
    twin = sketch("cms", columns=columns)
    reports = reports_about(twin, CODES.repeat(20))
    table = np.zeros((8, columns + 1), np.int64)
    for number in numbers_of(twin, reports):
        row = number >> columns
        table[row, :-1] += [number >> columns - 1 - at & 1 for at in range(columns)]
        table[row, -1] += 1
    assert twin.tally(reports).tolist() == table.reshape(-1).tolist()


@pytest.mark.parametrize("protocol", ["cms", "hcms"])
def test_the_pairs_who_have_the_same_value_can_be_read_from_the_tally(protocol):
    counts = np.array([300, 100, 50, 20, 10, 5, 5, 5, 2, 2, 1, 0])
    truth = int((counts * (counts - 1)).sum())
    found = []
    for seed in range(400):
        twin = sketch(protocol, seed=10**6 * seed)
        tally = twin.tally(reports_about(twin, CODES.repeat(counts), seed))
        found.append(twin._pairs(tally, int(counts.sum())))
    assert abs(np.mean(found) - truth) < 5 * np.std(found) / math.sqrt(len(found))
    assert 0 not in found, "a cut at zero would bias the mean"


@pytest.mark.parametrize("protocol", ["cms", "hcms"])
def test_a_row_that_does_not_exist_is_not_legal(protocol):
    twin = sketch(protocol, rows=1)
    reports = reports_about(twin, CODES)
    assert twin.legal(reports).all()
    first_bit = np.uint64(1 << twin.randomizer.bits - 1)
    assert not twin.legal(reports | first_bit).any()


def test_many_values_are_looked_up_as_one_by_one():
    twin = sketch("hcms")
    tally = twin.tally(reports_about(twin, CODES.repeat(50)))
    many = SeededBits("values").words(20_000, 64)
    together = twin.estimate(tally, 600, many)
    for at in (0, 1, 8191, 8192, 19_999):
        assert twin.estimate(tally, 600, many[at : at + 1])[0] == together[at]
