"""Apple's sequence fragment puzzle: frequent words from sketches of their fragments.

The collector finds fragments that are frequent at their position together with a hash of the whole word, joins
fragments of all positions that have the same hash, and estimates the frequency of each joined word from a second
sketch, of whole words.

Citation: Apple 2017, "Learning with Privacy at Scale", sequence fragment puzzle.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.client import Puzzle, fingerprint
from discreet.local.protocols.bitmaps import no_reports, no_stray_bits, packed_reports, people_at_once, unpacked_reports
from discreet.local.protocols.draws import Draws, Flags
from discreet.local.protocols.hashing import Words
from discreet.local.protocols.protocol import Floats, HeavyHitter, Reports, Tally, TextProtocol
from discreet.local.protocols.sketches import CountMeanSketch

LOWERCASE = b"abcdefghijklmnopqrstuvwxyz"
_HASHES = 256


def _reach(rare: float) -> float:
    """Return the number of standard errors that an estimate of zero exceeds with probability `rare`."""
    return NormalDist().inv_cdf(1 - rare)


class FragmentPuzzle(TextProtocol[Puzzle]):
    """A tally is one sketch of fragments for each position, then one of words."""

    def __init__(self, randomizer: Puzzle) -> None:
        super().__init__(randomizer)
        self.sketch = CountMeanSketch(randomizer.sketch)

    def encode(self, codes: Sequence[bytes], draws: Draws, *, slots: NDArray[np.int64]) -> Reports:
        r = self.randomizer
        numbers: dict[bytes, int] = {}
        which = np.fromiter((numbers.setdefault(text, len(numbers)) for text in codes), np.int64, len(codes))
        words = self._word_codes(list(numbers))
        fragments = np.array(
            [[fingerprint(r.fragment(text, position)) for position in range(r.pieces)] for text in numbers], np.uint64
        ).reshape(-1, r.pieces)
        reports, step = no_reports(r.bits, which.size), people_at_once(r.bits)
        for start in range(0, which.size, step):
            own = which[start : start + step]
            positions = draws.below(r.pieces, own.size)
            parts = [
                (positions[:, None] >> np.arange(r.position_bits - 1, -1, -1) & 1).astype(np.bool_),
                self.sketch.flags_of(fragments[own, positions], draws),
                self.sketch.flags_of(words[own], draws),
            ]
            reports[start : start + step] = packed_reports(np.concatenate(parts, axis=1))
        return reports

    @staticmethod
    def _word_codes(texts: Sequence[bytes]) -> Words:
        return np.array([fingerprint("word:" + text.hex()) for text in texts], np.uint64)

    def _parts(self, reports: Reports) -> tuple[NDArray[np.int64], Reports, Reports]:
        """Return the position in each report, and its two sketch reports."""
        r = self.randomizer
        positions = np.empty(len(reports), np.int64)
        fragments, words = (no_reports(r.sketch.bits, len(reports)) for _ in range(2))
        step = people_at_once(r.bits)
        for start in range(0, len(reports), step):
            part = slice(start, start + step)
            flags = unpacked_reports(reports[part], r.bits)
            position, fragment, word = np.split(flags, [r.position_bits, r.position_bits + r.sketch.bits], axis=1)
            positions[part] = position.astype(np.int64) @ (1 << np.arange(r.position_bits - 1, -1, -1))
            fragments[part], words[part] = (packed_reports(one.astype(np.bool_)) for one in (fragment, word))
        return positions, fragments, words

    def legal(self, reports: Reports) -> Flags:
        positions, fragments, words = self._parts(reports)
        sound = no_stray_bits(reports, self.randomizer.bits) & (positions < self.randomizer.pieces)
        return np.asarray(sound & self.sketch.legal(fragments) & self.sketch.legal(words))

    def tally(self, reports: Reports) -> Tally:
        positions, fragments, words = self._parts(reports)
        sketches = [self.sketch.tally(fragments[positions == position]) for position in range(self.randomizer.pieces)]
        return np.concatenate([*sketches, self.sketch.tally(words)])

    def _sketches(self, tally: Tally) -> NDArray[np.int64]:
        """Return one sketch per row: those of the positions, then that of the words."""
        return tally.astype(np.int64, copy=False).reshape(self.randomizer.pieces + 1, -1)

    def estimate(self, tally: Tally, reports: int, codes: Any) -> Floats:
        """Estimate how many people have each text, for any texts."""
        return self.sketch.estimate(self._sketches(tally)[-1], reports, self._word_codes(codes))

    def variance(self, counts: Floats, reports: int, codes: Any) -> Floats:
        return self.sketch.variance(counts, reports, self._word_codes(codes))

    def estimated_variance(self, tally: Tally, reports: int, codes: Any) -> Floats:
        return self.sketch.estimated_variance(self._sketches(tally)[-1], reports, self._word_codes(codes))

    @property
    def influence(self) -> float:
        return self.sketch.influence

    def heavy_hitters(
        self, tally: Tally, reports: int, *, keep: int, confidence: float = 0.95, alphabet: bytes = LOWERCASE
    ) -> list[HeavyHitter]:
        """Return at most `keep` words, the most frequent first, with estimated counts and their variances.

        Words are searched over a public alphabet. With the given confidence all that are found exist: their estimates
        are above what any joined word reaches by chance, and words are sketched independently of fragments.
        """
        *positions, words = self._sketches(tally)
        fragments = [self._frequent(sketch, position, keep, alphabet) for position, sketch in enumerate(positions)]
        texts = sorted(set(self._joined(fragments)))
        counts = self.estimate(tally, reports, texts)
        variances = self.sketch.estimated_variance(words, reports, self._word_codes(texts))
        real = counts > _reach((1 - confidence) / max(len(texts), 1)) * np.sqrt(variances)
        best = [i for i in np.argsort(-counts, kind="stable").tolist() if real[i]][:keep]
        return [(texts[i], float(counts[i]), float(variances[i])) for i in best]

    def _frequent(
        self, sketch: NDArray[np.int64], position: int, keep: int, alphabet: bytes
    ) -> list[tuple[bytes, int]]:
        """Return fragments with hashes that are significant at a position; about `keep` may be false positives.

        False positives are acceptable, since the join and the sketch of words remove them.
        """
        parts = list(self._possible(position, alphabet))
        names = [(part, number) for part in parts for number in range(_HASHES)]
        codes = np.array([fingerprint(f"{position}:{part.hex()}:{number}") for part, number in names], np.uint64)
        people = int(sketch.reshape(self.randomizer.sketch.rows, -1)[:, -1].sum())
        counts = self.sketch.estimate(sketch, people, codes)
        best = np.argsort(-counts, kind="stable")[: 4 * keep]
        errors = np.sqrt(self.sketch.estimated_variance(sketch, people, codes[best]))
        standing_out = counts[best] > _reach(min(keep / len(names), 0.5)) * errors
        return [names[i] for i in best[standing_out].tolist()]

    def candidates(self) -> int:
        """Return how many pieces with hashes are evaluated at all positions together, over the default alphabet."""
        r = self.randomizer
        return r.pieces * _HASHES * sum(len(LOWERCASE) ** letters for letters in range(1, r.piece + 1))

    def _possible(self, position: int, alphabet: bytes) -> Iterator[bytes]:
        """Yield all fragments: letters, then padding; the first letter of a word is not padding."""
        piece = self.randomizer.piece
        for letters in range(0 if position else 1, piece + 1):
            for part in itertools.product(alphabet, repeat=letters):
                yield bytes(part).ljust(piece, b"\0")

    @staticmethod
    def _joined(by_position: Sequence[Sequence[tuple[bytes, int]]]) -> Iterator[bytes]:
        """Yield words whose fragments were all found with the same hash, which equals the word's hash."""
        for number in range(_HASHES):
            at_positions = [[part for part, hash_of in fragments if hash_of == number] for fragments in by_position]
            for parts in itertools.product(*at_positions):
                text = b"".join(parts).rstrip(b"\0")
                if b"\0" not in text and hashlib.sha256(text).digest()[0] == number:
                    yield text
