"""The Mersenne Twister backwards: 624 words of MT19937 are its state, and its state is its future.

Citation: Matsumoto, Nishimura 1998, whose generator is linear and was never meant to keep a secret.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

STATE_WORDS = 624


def state_of(words: Words) -> Words:
    """The words as they were in the state, before tempering: each step of it is undone."""
    y = words.astype(np.uint32)
    y ^= y >> np.uint32(18)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y = _undone(y, lambda x: (x << np.uint32(7)) & np.uint32(0x9D2C5680), rounds=5)
    return _undone(y, lambda x: x >> np.uint32(11), rounds=3)


def twin(words: Words) -> np.random.RandomState:
    """A generator that goes on as the one that gave these 624 words in a row."""
    if words.size != STATE_WORDS:
        raise ValueError(words.size)
    generator = np.random.RandomState(0)
    generator.set_state(("MT19937", state_of(words), STATE_WORDS, 0, 0.0))
    return generator


def _undone(tempered: Words, shifted: Callable[[Words], Words], *, rounds: int) -> Words:
    """The x with x ^ shifted(x) = tempered: every round makes as many more bits right as the shift is wide."""
    x = tempered
    for _ in range(rounds):
        x = tempered ^ shifted(x)
    return x
