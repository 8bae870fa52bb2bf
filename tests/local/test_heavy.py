"""Frequent texts that nobody listed: prefixes (PEM) and Apple's fragments (SFP)."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.local.device.client import Draw, fingerprint
from discreet.local.protocols import protocol_for
from discreet.local.protocols.draws import Draws
from discreet.local.protocols.heavy import beyond_chance, pem_shape
from tests.local.cases import randomizer_for
from tests.local.laws import device_law, numbers_of, reports_of, twin_law
from tests.support.laws import exp_of
from tests.support.sources import SeededBits

NEAR = Fraction(1, 10**9)
VOCABULARY = [hashlib.sha256(str(i).encode()).hexdigest()[:8].encode() for i in range(1000)]
WORDS = [
    b"hello",
    b"world",
    b"privacy",
    b"apple",
    b"banana",
    b"cherry",
    b"dog",
    b"cat",
    b"zebra",
    b"orange",
    b"mountain",
]
TINY = [
    ("pem", "2", {"length": 2, "prefixes": [4, 10, 16], "buckets": 3}),
    ("sfp", "2", {"length": 2, "piece": 1, "rows": 1, "columns": 2}),
    ("sfp", "3", {"length": 3, "piece": 1, "rows": 2, "columns": 2}),
]


def zipf(size, people, seed):
    """Who has which of `size` values: the k-th is 1/k as frequent as the first."""
    shares = 1 / np.arange(1, size + 1)
    return np.random.default_rng(seed).choice(size, people, p=shares / shares.sum())


def prefixes(epsilon, length, *, seed=7):
    lengths, buckets = pem_shape(length, epsilon)
    parameters = {"length": length, "prefixes": list(lengths), "buckets": buckets}
    return protocol_for(randomizer_for("pem", str(epsilon), parameters, seed))


@pytest.mark.parametrize(("protocol", "epsilon", "parameters"), TINY)
def test_the_twin_has_the_devices_law_and_the_law_keeps_its_promise(protocol, epsilon, parameters):
    randomizer = randomizer_for(protocol, epsilon, parameters)
    twin = protocol_for(randomizer)
    worst = Fraction(0)
    for slot in range(3 if protocol == "pem" else 1):
        laws = [device_law(randomizer, text, slot=slot) for text in (b"a", b"ab", b"b", b"zz")]
        for text, law in zip((b"a", b"ab", b"b", b"zz"), laws, strict=True):
            assert sum(law.values()) == 1
            twins = twin_law(twin, [text], slots=np.array([slot]))
            assert twins == {(report,): chance for report, chance in law.items()}
            assert twin.legal(reports_of(twin, sorted(law))).all()
        worst = max(worst, *(one[report] / other[report] for one in laws for other in laws for report in one))
    most = exp_of(Fraction(epsilon))
    assert most * (1 - NEAR) <= worst <= most * (1 + NEAR)


def test_what_no_device_sends_is_refused():
    for protocol, epsilon, parameters in TINY[1:]:
        randomizer = randomizer_for(protocol, epsilon, parameters)
        twin = protocol_for(randomizer)
        possible = set(device_law(randomizer, b"a"))
        others = sorted(set(range(1 << randomizer.bits)) - possible)
        assert not others or not twin.legal(reports_of(twin, others)).any()
    twin = protocol_for(randomizer_for(*TINY[0]))
    assert twin.legal(np.array([0, 2, 3, 4, (1 << 34) - 2, 1 << 34], np.uint64)).tolist() == [
        True,
        True,
        False,
        True,
        True,
        False,
    ]


def test_a_wide_report_of_a_puzzle_has_the_devices_bits():
    """With an epsilon beyond reason nobody ever lies, so that two reports can be compared bit for bit."""
    randomizer = randomizer_for("sfp", "2000", {"length": 2, "piece": 2, "rows": 1, "columns": 64})
    twin = protocol_for(randomizer)
    texts = [b"a", b"ab", b"zq"]
    device = [randomizer.randomize(text, Draw()) for text in texts]
    reports = twin.encode(texts, Draws(), slots=np.arange(3))
    assert twin.wide
    assert numbers_of(twin, reports) == tuple(device)
    assert (reports_of(twin, device) == reports).all()
    assert twin.legal(reports).all()
    for place in range(randomizer.bits, 8 * reports.shape[1]):
        spoiled = reports.copy()
        spoiled[:, place // 8] |= 128 >> place % 8
        assert not twin.legal(spoiled).any()


def test_prefixes_find_the_ten_most_frequent_of_all_texts_of_eight_bytes():
    people = 200_000
    which = zipf(len(VOCABULARY), people, seed=people)
    twin = prefixes(4, 8)
    reports = twin.encode([VOCABULARY[i] for i in which], Draws(SeededBits("pem")), slots=np.arange(people))
    assert twin.legal(reports).all()
    halves = [twin.tally(part) for part in (reports[: people // 3], reports[people // 3 :])]
    found = twin.heavy_hitters(twin.merged(*halves), people, keep=16)
    texts = [text for text, _, _ in found]
    assert set(VOCABULARY[:10]) <= set(texts)
    assert set(texts) <= set(VOCABULARY)
    counts = np.bincount(which, minlength=len(VOCABULARY))
    for text, count, variance in found:
        assert abs(count - counts[VOCABULARY.index(text)]) < 5 * variance**0.5
    assert [count for _, count, _ in found] == sorted((count for _, count, _ in found), reverse=True)


def test_short_texts_and_texts_with_accents_are_found():
    texts = ["é".encode(), b"a", b"ab", "日".encode(), b"abcd"]
    which = np.random.default_rng(2).choice(5, 20_000, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    twin = prefixes(5, 4)
    slots = Draws(SeededBits("slots")).below(1 << 32, which.size)
    reports = twin.encode([texts[i] for i in which], Draws(SeededBits("short")), slots=slots)
    found = twin.heavy_hitters(twin.tally(reports), which.size, keep=8)
    assert [text for text, _, _ in found] == texts
    assert [count for _, count, _ in found] == pytest.approx(np.bincount(which).tolist(), abs=800)


def test_nothing_is_found_where_nothing_is_frequent():
    people = 6_000
    twin = prefixes(4, 4)
    texts = [hashlib.sha256(bytes([i % 256, i // 256])).hexdigest()[:4].encode() for i in range(people)]
    reports = twin.encode(texts, Draws(SeededBits("nothing")), slots=np.arange(people))
    assert twin.heavy_hitters(twin.tally(reports), people, keep=16) == []
    assert twin.heavy_hitters(twin.tally(reports[:0]), 0, keep=2) == []


def test_counts_of_texts_err_as_much_as_their_variance_says_and_intervals_cover():
    people, times = 800, 2300
    texts = [b"aa", b"ab", b"b", b"zz", b"zy", b"c", b"x", b"cc", b"dd"]
    counts = np.array([250, 200, 130, 90, 50, 40, 30, 10, 0])
    parameters = {"length": 2, "prefixes": [8, 16], "buckets": 8}
    twin = protocol_for(randomizer_for("pem", "2", parameters))
    codes = [text for text, count in zip(texts, counts, strict=True) for _ in range(count)]
    draws = Draws(SeededBits("texts"))
    slots = draws.below(1 << 32, people * times).reshape(times, people)
    reports = twin.encode(codes * times, draws, slots=slots.reshape(-1)).reshape(times, people)
    errors, exact, guessed = (np.empty((times, 9)) for _ in range(3))
    for time in range(times):
        tally = twin.tally(reports[time])
        errors[time] = twin.estimate(tally, people, texts) - counts
        exact[time] = twin._variance(counts, people, twin.group(tally, 1).size)
        guessed[time] = twin.estimated_variance(tally, people, texts)
    assert errors.size >= 2e4
    assert 0.97 <= np.mean(errors**2 / exact) <= 1.03
    assert 0.94 <= np.mean(np.abs(errors) <= 1.959964 * np.sqrt(guessed)) <= 0.96
    assert np.abs(errors.mean(axis=0) / np.sqrt(exact.mean(axis=0) / times)).max() < 5
    assert np.allclose(twin.variance(counts, people, texts), exact.mean(axis=0), rtol=0.02)


def test_what_chance_reaches_is_counted_exactly():
    for trials, chance in ((20, Fraction(1, 4)), (60, Fraction(1, 2)), (40, Fraction(1, 100))):
        law = [math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]
        for rare in (0.3, 1e-3, 1e-9):
            least = next(k for k in range(trials + 2) if k >= trials * chance and sum(law[k:]) <= rare)
            assert beyond_chance(trials, chance, rare) == least
    assert beyond_chance(10**7, Fraction(1, 56), 1e-6) == pytest.approx(
        10**7 / 56 + 4.76 * (10**7 * 55 / 56**2) ** 0.5, abs=20
    )
    assert beyond_chance(0, Fraction(1, 3), 0.1) == 1


def test_one_made_up_report_moves_no_text_further_than_its_influence():
    twin = prefixes(1, 2)
    tally = twin.tally(twin.encode([b"ab"] * 50, Draws(SeededBits("fake")), slots=np.arange(50)))
    lone = [abs(twin.estimate(tally[i : i + 1], 1, [b"ab", b"cd"])).max() for i in range(50)]
    assert max(lone) == pytest.approx(twin.influence)


def test_shapes_of_prefixes_end_with_the_whole_text():
    assert pem_shape(1, 1)[0] == (8,)
    assert pem_shape(2, 1)[0] == (16,)
    assert pem_shape(4, 4) == ((16, 24, 32), 56)
    for lengths, problem in (([8, 12], "whole"), ([24], "too much"), ([4, 24], "too much")):
        twin = protocol_for(
            randomizer_for("pem", "1", {"length": 3 if 24 in lengths else 2, "prefixes": lengths, "buckets": 4})
        )
        with pytest.raises(BadInput, match=problem):
            twin.heavy_hitters(twin.tally(np.zeros(0, np.uint64)), 0, keep=4)


def test_the_puzzle_finds_the_frequent_words_of_a_small_world():
    people = 60_000
    which = zipf(len(WORDS), people, seed=3)
    parameters = {"length": 8, "piece": 2, "rows": 256, "columns": 128}
    twin = protocol_for(randomizer_for("sfp", "8", parameters))
    reports = twin.encode([WORDS[i] for i in which], Draws(SeededBits("puzzle")), slots=np.arange(people))
    assert twin.legal(reports).all()
    tally = twin.merged(twin.tally(reports[:20_000]), twin.tally(reports[20_000:]))
    found = twin.heavy_hitters(tally, people, keep=20)
    assert {text for text, _, _ in found} >= set(WORDS[:10])
    assert {text for text, _, _ in found} <= set(WORDS)
    counts = np.bincount(which, minlength=len(WORDS))
    for text, count, variance in found:
        assert abs(count - counts[WORDS.index(text)]) < 5 * variance**0.5
    estimates = twin.estimate(tally, people, [*WORDS, b"absent"])
    errors = np.sqrt(twin.variance(np.append(counts, 0), people, [*WORDS, b"absent"]))
    assert (np.abs(estimates - np.append(counts, 0)) < 5 * errors).all()
    guessed = np.sqrt(twin.estimated_variance(tally, people, [*WORDS, b"absent"]))
    assert np.allclose(guessed / errors, 1, atol=0.1)


def test_the_puzzle_looks_only_where_it_is_told():
    people = 30_000
    texts = [b"0x1f", b"beef"]
    parameters = {"length": 4, "piece": 2, "rows": 64, "columns": 128}
    twin = protocol_for(randomizer_for("sfp", "8", parameters))
    reports = twin.encode([texts[i % 2] for i in range(people)], Draws(SeededBits("where")), slots=np.arange(people))
    tally = twin.tally(reports)
    assert [text for text, _, _ in twin.heavy_hitters(tally, people, keep=5)] == [b"beef"]
    found = twin.heavy_hitters(tally, people, keep=5, alphabet=b"0123456789abcdefx")
    assert {text for text, _, _ in found} == set(texts)
    assert twin.heavy_hitters(twin.tally(reports[:0]), 0, keep=5) == []


def test_the_collector_names_fragments_as_devices_do():
    twin = protocol_for(randomizer_for(*TINY[1]))
    r = twin.randomizer
    own = hashlib.sha256(b"ab").digest()[0]
    assert [r.fragment(b"ab", place) for place in range(2)] == [f"0:61:{own}", f"1:62:{own}"]
    assert twin._word_codes([b"ab"]).tolist() == [fingerprint("word:6162")]


def test_counts_of_words_in_a_puzzle_err_as_much_as_their_variance_says_and_intervals_cover():
    """Over the choice of hash functions too: every trial has other ones."""
    people, words = 240, [b"rain", b"snow", b"hail", b"wind", b"sun", b"fog", b"frost", b"mist"]
    counts = np.array([90, 60, 40, 25, 15, 6, 4, 0], float)
    texts = [word for word, count in zip(words, counts, strict=True) for _ in range(int(count))]
    bits, errors, covered = SeededBits("words of a puzzle"), [], []
    shape = {"length": 6, "piece": 2, "rows": 16, "columns": 16}
    for trial in range(2600):
        twin = protocol_for(randomizer_for("sfp", "4", shape, 1000 + trial))
        tally = twin.tally(twin.encode(texts, Draws(bits), slots=np.arange(people)))
        found = twin.estimate(tally, people, words)
        errors.append((found - counts) ** 2 / twin.variance(counts, people, words))
        covered.append(np.abs(found - counts) <= 1.959964 * np.sqrt(twin.estimated_variance(tally, people, words)))
    assert 0.97 <= np.mean(errors) <= 1.03
    assert 0.94 <= np.mean(covered) <= 0.96
