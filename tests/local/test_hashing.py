"""Local hashing: the hash functions as arrays, and the count of collisions held to brute force."""

import itertools
import math

import numpy as np
import pytest

from discreet.local.device import client
from discreet.local.protocols import protocol_for
from discreet.local.protocols.draws import Draws
from discreet.local.protocols.hashing import bucket, hash_code, mix_bits
from tests.local.cases import randomizer_for
from tests.local.laws import PlayedDraw, law_of
from tests.support.sources import SeededBits

EDGES = [0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 2, 2**64 - 1]
WORDS = [*EDGES, *SeededBits("words").words(500, 64).tolist()]
SEEDS = [0, 7, 2**63 + 11, 2**64 - 1]


def test_the_mixing_of_arrays_is_that_of_the_device():
    assert mix_bits(np.array(WORDS, np.uint64)).tolist() == [client.mix_bits(word) for word in WORDS]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_hashes_of_arrays_are_those_of_the_device(seed):
    rows = [row % 2**32 for row in reversed(WORDS)]
    for codes in (WORDS, [word % 2**32 for word in WORDS]):
        pairs = list(zip(codes, rows, strict=True))
        arrays = np.array(codes, np.uint64), np.array(rows)
        assert hash_code(*arrays, seed).tolist() == [client.hash_code(code, row, seed) for code, row in pairs]
        for size in (2, 3, 56, 1000):
            expected = [client.bucket(code, row, seed, size) for code, row in pairs]
            assert bucket(*arrays, seed, size).tolist() == expected


def test_numbers_of_values_are_hashed_alike_whatever_their_type():
    codes, rows = np.arange(100), np.arange(100)[::-1]
    assert hash_code(codes, rows, 5).tolist() == hash_code(codes.astype(np.uint64), rows, 5).tolist()


@pytest.mark.parametrize("buckets", [2, 3, 7, 56, 1025])
@pytest.mark.parametrize("seed", SEEDS)
def test_support_is_the_number_of_reports_in_the_bucket_of_a_value(buckets, seed):
    randomizer = randomizer_for("olh", "1", {"buckets": buckets}, seed)
    slots = SeededBits("slots").words(300, 32).astype(np.uint64)
    answers = SeededBits("answers").words(300, 64) % np.uint64(buckets)
    reports = slots << np.uint64(randomizer.value_bits) | answers
    for codes in (list(range(20)), [5, 3, 3, 2**32 - 1, 0, 17], WORDS[:40], [9]):
        expected = [
            sum(
                client.bucket(code, slot, seed, buckets) == answer
                for slot, answer in zip(slots.tolist(), answers.tolist(), strict=True)
            )
            for code in codes
        ]
        twin = protocol_for(randomizer)
        assert twin.support(twin.tally(reports), np.array(codes, np.uint64)).tolist() == expected


def test_support_does_not_depend_on_how_reports_are_divided():
    twin = protocol_for(randomizer_for("olh", "2", {"buckets": 8}))
    codes = np.arange(20_000) % 50
    reports = twin.encode(codes, Draws(SeededBits("pieces")), slots=np.arange(codes.size))
    whole = twin.support(reports, np.arange(50))
    parts = [twin.support(reports[at : at + 999], np.arange(50)) for at in range(0, reports.size, 999)]
    np.testing.assert_array_equal(whole, np.sum(parts, axis=0))


def test_other_values_fall_into_the_bucket_by_the_choice_of_the_hash_function():
    slots = np.arange(200_000)
    for one, other in ((0, 1), (1, 2), (3, 2**40)):
        same = bucket(np.full(slots.size, one), slots, 7, 5) == bucket(np.full(slots.size, other), slots, 7, 5)
        assert abs(same.mean() - 1 / 5) < 6.2 * math.sqrt(0.16 / slots.size)


def test_a_bucket_that_does_not_exist_is_not_legal():
    twin = protocol_for(randomizer_for("olh", "1", {"buckets": 5}))
    assert twin.legal(np.array([4, 5, 7, 8 + 4, (2**32 << 3) | 1], np.uint64)).tolist() == [
        True,
        False,
        False,
        True,
        False,
    ]


LOLOHA = randomizer_for("loloha", "2", {"buckets": 3, "first": "0.75"})


def test_the_permanent_answer_of_loloha_costs_epsilon():
    laws = [
        law_of(lambda script, truth=truth: LOLOHA.respond(truth, LOLOHA.keep, PlayedDraw(script))) for truth in range(3)
    ]
    worst = max(one[answer] / other[answer] for one, other in itertools.permutations(laws, 2) for answer in range(3))
    assert math.exp(2) * (1 - 1e-9) <= worst <= math.exp(2) * (1 + 1e-9)


def test_any_number_of_reports_about_one_value_costs_no_more_than_the_permanent_answer():
    def several(script, truth):
        draw = PlayedDraw(script)
        kept = LOLOHA.respond(truth, LOLOHA.keep, draw)
        return tuple(LOLOHA.respond(kept, LOLOHA.keep_again, draw) for _ in range(4))

    laws = [law_of(lambda script, truth=truth: several(script, truth)) for truth in range(3)]
    worst = max(one[told] / other[told] for one, other in itertools.permutations(laws, 2) for told in one)
    assert math.exp(0.75) < worst <= math.exp(2) * (1 + 1e-9)


def test_reports_repeat_the_answer_that_a_device_keeps(monkeypatch):
    monkeypatch.setattr(LOLOHA, "keep_again", client.WORD)
    answer = LOLOHA.answer(5, client.Draw(), slot=3)
    assert {LOLOHA.repeat(answer, client.Draw(), slot=3) for _ in range(50)} == {3 << LOLOHA.value_bits | answer}
