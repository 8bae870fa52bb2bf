"""A disk that fails: the kernel itself refuses to sync, for the rest of this process's life."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

_SYNCS = {"x86_64": (0xC000003E, (74, 75)), "aarch64": (0xC00000B7, (82, 83))}
"""The architecture as audits name it, and its numbers of fsync and fdatasync."""
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000 | errno.EIO
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def syncs_fail() -> None:
    """From here on fsync and fdatasync return EIO, in all threads that this one begins: a filter of system calls."""
    audit, (first, second) = _SYNCS[platform.machine()]
    load, equal, leave = 0x20, 0x15, 0x06
    code = b"".join(
        struct.pack("HBBI", *step)
        for step in (
            (load, 0, 0, 4),  # the architecture
            (equal, 0, 3, audit),
            (load, 0, 0, 0),  # the number of the call
            (equal, 2, 0, first),
            (equal, 1, 0, second),
            (leave, 0, 0, _ALLOW),
            (leave, 0, 0, _ERROR),
        )
    )
    held = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(held, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    assert libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program)) == 0, ctypes.get_errno()
