"""RandomBits: the one door through which randomness enters.

AES-256 in counter mode, keyed by the operating system. Nothing here looks at `numpy.random` or at `random`, so seeding
those changes nothing.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Literal, TypeAlias

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Width: TypeAlias = Literal[8, 16, 32, 64]
Words: TypeAlias = NDArray[np.unsignedinteger[Any]]

_DTYPES: dict[int, type[np.unsignedinteger[Any]]] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_ZEROS = memoryview(bytes(1 << 20))
_BYTES_PER_KEY = 1 << 30

_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603  the one fact a child process must learn: that it is one
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class RandomBits:
    """A stream of uniform words, safe to share between threads; a forked child starts a stream of its own."""

    def __init__(self) -> None:
        self._stream = _Stream(self._fresh_key())

    def words(self, count: int, width: Width) -> Words:
        """`count` independent uniform words of `width` bits."""
        words = np.empty(count, _DTYPES[width])
        out = words.view(np.uint8)
        for start in range(0, out.size, len(_ZEROS)):
            part = out[start : start + len(_ZEROS)]
            # A spent or inherited stream is replaced whole, in one assignment: no thread can draw from half of it, and
            # two threads that replace it at once only waste a key.
            while not self._stream.fill(part):
                self._stream = _Stream(self._fresh_key())
        return words

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _fresh_key(self) -> bytes:
        """32 bytes of key and 16 of counter."""
        return os.urandom(48)


class _Stream:
    """The keystream of one key in one process."""

    __slots__ = ("_born", "_cipher", "_left", "_lock")

    def __init__(self, key: bytes) -> None:
        self._born = _forks
        self._left = _BYTES_PER_KEY
        self._lock = threading.Lock()
        self._cipher = Cipher(algorithms.AES256(key[:32]), modes.CTR(key[32:])).encryptor()

    def fill(self, out: NDArray[np.uint8]) -> bool:
        """Fill `out` with fresh bytes; False, and nothing done, in a forked child or when the key is spent."""
        if self._born != _forks:  # before the lock, which a thread of the parent may have held at the fork
            return False
        with self._lock:
            if self._left < out.size:
                return False
            self._left -= out.size
            self._cipher.update_into(_ZEROS[: out.size], out.data)
        return True


SYSTEM_BITS = RandomBits()
"""What a mechanism draws from unless it is handed others."""
