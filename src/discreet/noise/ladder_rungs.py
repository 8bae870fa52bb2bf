"""Exact rungs of a ladder: how far from the value a draw lands when wider rungs are further away.

Rung 0 has weight 1; rung k >= 1 has weight 2 I(k-1) q**k, where I(t) = min(local + t, most). No rung is rejected and
none is looked up: the law is a mixture of three geometric ones. The proof is in `docs/explanation/proofs/choice.md`.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.noise.exp_bounds import exp_minus
from discreet.noise.laplace_sampler import geometric
from discreet.noise.random_bits import RandomBits


def ladder_rung(local: int, most: int, scale: Fraction, bits: RandomBits) -> int:
    """One rung, for q = exp(-1 / scale) and 0 <= local <= most."""
    climbs = most - local
    part = _part(local, climbs, scale, bits)
    first, second = (int(draw) for draw in geometric(scale, 2, bits))  # both are drawn, whichever part it is
    return (0, 1 + first, 2 + second % max(climbs, 1) + first)[part]


def _part(local: int, climbs: int, scale: Fraction, bits: RandomBits) -> int:
    """0, 1 or 2 with weights (1-q)**2, 2 local q (1-q) and 2 q**2 (1 - q**climbs), by inverting their running sums."""
    width = 64
    word = int(bits.words(1, 64)[0])
    while True:
        word, width = word << 64 | int(bits.words(1, 64)[0]), width + 64
        lows, highs = _running(local, climbs, scale, width)
        smallest, largest = word * lows[-1], (word + 1) * highs[-1]
        for part, (low, high) in enumerate(zip(lows, highs, strict=True)):
            if largest <= low << width:
                return part
            if smallest < high << width:
                break  # open at this precision


def _running(local: int, climbs: int, scale: Fraction, width: int) -> tuple[list[int], list[int]]:
    """Bounds below and above the running sums, in units of 2**(-3 width)."""
    one = 1 << width
    q_low, q_high = exp_minus(1 / scale, width)
    end_low, end_high = exp_minus(climbs / scale, width)
    lows: list[int] = []
    highs: list[int] = []
    for q, rest, end, sums in (
        (q_low, one - q_high, one - end_high, lows),
        (q_high, one - q_low, one - end_low, highs),
    ):
        parts = (rest * rest * one, 2 * local * q * rest * one, 2 * q * q * end)
        sums.extend([parts[0], parts[0] + parts[1], sum(parts)])
    return lows, highs
