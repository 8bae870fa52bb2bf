"""Invert the Mersenne Twister: 624 output words of MT19937 give its state, and the state gives all future output.

Citation: Matsumoto, Nishimura 1998, whose generator is linear and was never meant to keep a secret.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

STATE_WORDS = 624


def untemper(words: Words) -> Words:
    """Return the state words of output words, by inverting each step of the tempering."""
    y = words.astype(np.uint32)
    y ^= y >> np.uint32(18)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y = _invert(y, lambda x: (x << np.uint32(7)) & np.uint32(0x9D2C5680), rounds=5)
    return _invert(y, lambda x: x >> np.uint32(11), rounds=3)


def clone_generator(words: Words) -> np.random.RandomState:
    """Return a generator that continues like the one whose output these 624 consecutive words are."""
    if words.size != STATE_WORDS:
        raise ValueError(words.size)
    generator = np.random.RandomState(0)
    generator.set_state(("MT19937", untemper(words), STATE_WORDS, 0, 0.0))
    return generator


def _invert(tempered: Words, shifted: Callable[[Words], Words], *, rounds: int) -> Words:
    """Return the x with x ^ shifted(x) = tempered. Each round fixes as many more bits as the width of the shift."""
    x = tempered
    for _ in range(rounds):
        x = tempered ^ shifted(x)
    return x
