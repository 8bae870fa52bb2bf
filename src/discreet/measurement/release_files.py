"""The file of a release: a line that says what it is, a line of public facts in JSON, then the transcript as it is stored. Nothing is ever run
that was read.
"""

from __future__ import annotations

import hashlib
import json

from discreet.errors import BadRelease

KIND = "discreet-release"
FORMAT = 1
_LONGEST_NUMBER = 9
"""Digits of a format."""
MEDIA_TYPE = "application/vnd.discreet.release"


def release_as_bytes(stored: bytes, *, name: str | None, receipt: str) -> bytes:
    """What is in the file of a release.

    Args:
        stored: Its transcript.
        name: Under which it was made.
        receipt: Of its charge.
    """
    facts = json.dumps({"name": name, "receipt": receipt}, sort_keys=True).encode() + b"\n"
    digest = hashlib.sha256(facts + stored).hexdigest()
    return f"{KIND} {FORMAT} {digest}\n".encode() + facts + stored


def read_release(content: bytes) -> tuple[bytes, str | None, str]:
    """The transcript, the name and the receipt of a saved release; anything else is refused.

    Args:
        content: Of the file.
    """
    first, _, rest = content.partition(b"\n")
    kind, *details = first.split(b" ")
    if kind != KIND.encode() or len(details) != 2 or not details[0].isdigit() or len(details[0]) > _LONGEST_NUMBER:
        raise no_release()
    if int(details[0]) != FORMAT:
        raise BadRelease("This release was saved by another version of Discreet.", next_step="Install that version.")
    if hashlib.sha256(rest).hexdigest().encode() != details[1]:
        raise BadRelease("This release is damaged: its checksum does not fit.", next_step="Take another copy of it.")
    facts, _, stored = rest.partition(b"\n")
    try:
        known = json.loads(facts)
        name, receipt = known["name"], known["receipt"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise no_release() from None
    if not isinstance(name, str | None) or not isinstance(receipt, str):
        raise no_release()
    return stored, name, receipt


def no_release() -> BadRelease:
    """The refusal of a file whose checksum fits, which anybody can work out, and which says what no release says."""
    return BadRelease("This file is no release.", next_step="Give a file that `save` wrote.")
