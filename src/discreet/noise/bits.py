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

Width: TypeAlias = Literal[8, 16, 64]
Words: TypeAlias = NDArray[np.unsignedinteger[Any]]

_DTYPES: dict[int, type[np.unsignedinteger[Any]]] = {8: np.uint8, 16: np.uint16, 64: np.uint64}
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
        self._rekey()

    def words(self, count: int, width: Width) -> Words:
        """`count` independent uniform words of `width` bits."""
        words = np.empty(count, _DTYPES[width])
        if self._forks != _forks:
            self._rekey()
        with self._lock:
            self._fill(words.view(np.uint8))
        return words

    def _fill(self, out: NDArray[np.uint8]) -> None:
        for start in range(0, out.size, len(_ZEROS)):
            part = out[start : start + len(_ZEROS)]
            if self._left < part.size:
                self._new_stream()
            self._stream.update_into(_ZEROS[: part.size], part.data)
            self._left -= part.size

    def _rekey(self) -> None:
        self._forks = _forks
        self._lock = threading.Lock()  # a lock that another thread held at the fork would never open
        self._new_stream()

    def _new_stream(self) -> None:
        key = self._fresh_key()
        self._stream = Cipher(algorithms.AES256(key[:32]), modes.CTR(key[32:])).encryptor()
        self._left = _BYTES_PER_KEY

    def _fresh_key(self) -> bytes:
        """32 bytes of key and 16 of counter."""
        return os.urandom(48)
