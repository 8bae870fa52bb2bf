"""Noise without accounting: fresh for every answer, or fixed by the text of a query."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]


class FreshNoise:
    """Counts with fresh noise, without any limit on their number."""

    def __init__(self, *, sd: float, rng: np.random.Generator) -> None:
        self._sd, self._rng = sd, rng

    def count(self, chosen: Mask, *, times: int) -> npt.NDArray[np.float64]:
        """Answer the same query several times."""
        return int(chosen.sum()) + self._rng.normal(0, self._sd, times)


class StickyNoise:
    """Counts whose noise depends on the conditions and on who meets them, so repeating a query gives the same answer.

    Every condition adds two layers of noise: one fixed by its text, and one fixed by its text and the chosen people.
    Small counts are suppressed. Modelled on Diffix (Francis, Probst Eide, Munz 2017).
    """

    def __init__(self, *, secret: bytes, sd: float = 1.0, least: int = 4) -> None:
        self._secret, self._sd, self._least = secret, sd, least

    def count(self, chosen: Mask, conditions: Sequence[str]) -> int | None:
        """Return a noisy count of the people chosen by all conditions; None if they are few."""
        people = np.packbits(chosen).tobytes()
        noise = sum(self._layer(text) + self._layer(text, people) for text in conditions)
        size = int(chosen.sum())
        return None if size + self._layer("least", people) < self._least else round(size + self._sd * noise)

    def _layer(self, text: str, people: bytes = b"") -> float:
        digest = hashlib.blake2b(text.encode() + b"|" + people, key=self._secret, digest_size=8).digest()
        return NormalDist().inv_cdf((int.from_bytes(digest, "big") + 0.5) / 2**64)
