"""The file of a release: a line with its format, a line of public values in JSON, then the stored transcript.

Reading a file never executes anything in it.
"""

from __future__ import annotations

import hashlib
import json

from discreet.errors import BadRelease

KIND = "discreet-release"
FORMAT = 1
_LONGEST_NUMBER = 9
"""The most digits of a format number."""
MEDIA_TYPE = "application/vnd.discreet.release"


def release_as_bytes(stored: bytes, *, name: str | None, receipt: str) -> bytes:
    """Return the content of the file of a release. `stored` is its transcript."""
    facts = json.dumps({"name": name, "receipt": receipt}, sort_keys=True).encode() + b"\n"
    digest = hashlib.sha256(facts + stored).hexdigest()
    return f"{KIND} {FORMAT} {digest}\n".encode() + facts + stored


def read_release(content: bytes) -> tuple[bytes, str | None, str]:
    """Return the transcript, the name and the receipt of a saved release, or refuse the file."""
    first, _, rest = content.partition(b"\n")
    kind, *details = first.split(b" ")
    if kind != KIND.encode() or len(details) != 2 or not details[0].isdigit() or len(details[0]) > _LONGEST_NUMBER:
        raise not_a_release()
    if int(details[0]) != FORMAT:
        raise BadRelease("This release was saved by another version of Discreet.", next_step="Install that version.")
    if hashlib.sha256(rest).hexdigest().encode() != details[1]:
        raise BadRelease("This release is damaged: its checksum is wrong.", next_step="Use another copy of it.")
    facts, _, stored = rest.partition(b"\n")
    try:
        known = json.loads(facts)
        name, receipt = known["name"], known["receipt"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise not_a_release() from None
    if not isinstance(name, str | None) or not isinstance(receipt, str):
        raise not_a_release()
    return stored, name, receipt


def not_a_release() -> BadRelease:
    """Return the error for a file that is not a release. Its checksum may be right: anyone can compute one."""
    return BadRelease("This file is not a release.", next_step="Give a file that `save` wrote.")
