"""Seals: every entry's hash under the ledger's secret, so that nothing counts which was written without it.

Hashes are for everybody: they show, without a secret, that one entry follows another. Seals are for the curator: who can
write to the database can hash too, and cannot seal.
"""

from __future__ import annotations

import hmac
from typing import NoReturn

from discreet.errors import LedgerEdited, NoSecret
from discreet.ledger.chain.entries import Entry

KIND = "seal"
"""The entry that says that all entries before it were sealed, or sealed anew."""


class Seals:
    """The seals of one ledger. Without a secret its books can be looked at, and nothing can be written.

    Once an edit was noticed everything is refused, until the process is started again.
    """

    def __init__(self, secret: bytes | None) -> None:
        self._key = None if secret is None else hmac.digest(secret, b"discreet ledger seal\n", "sha256")
        self._edit: str | None = None

    @property
    def can_be_checked(self) -> bool:
        """Whether the secret is at hand."""
        return self._key is not None

    def require_key(self) -> bytes:
        """What seals are made with, or a refusal: nobody writes without it."""
        if self._key is None:
            raise NoSecret(
                "Without the secret of the books nothing is written into them.",
                next_step="Open them with the secret that they are sealed with.",
            )
        return self._key

    def of(self, entry: Entry) -> str:
        """The seal that an entry gets."""
        return hmac.digest(self.require_key(), entry.hash.encode(), "sha256").hex()

    def seal_text(self, text: str) -> str:
        """The seal of something that waits to become an entry: no entry's seal, since those are of hashes."""
        return hmac.digest(self.require_key(), b"waits\n" + text.encode(), "sha256").hex()

    def text_fits(self, text: str, seal: object) -> bool:
        """Whether such a text was written, as it is, by somebody who holds the secret; true of all where it is not at hand."""
        return self._key is None or hmac.compare_digest(str(seal).encode(), self.seal_text(text).encode())

    def fits(self, entry: Entry) -> bool:
        """Whether an entry was written, as it is, by somebody who holds the secret; true of all where it is not at hand."""
        return self._key is None or (entry.intact and self.covers(entry))

    def covers(self, entry: Entry) -> bool:
        """The same of an entry whose hash was found right."""
        return self._key is None or hmac.compare_digest((entry.seal or "").encode(), self.of(entry).encode())

    def check(self, entry: Entry) -> Entry:
        """An entry that counts, or a refusal."""
        if not self.fits(entry):
            self.refuse(f"Entry {entry.seq} does not bear the seal of these books")
        return entry

    def check_unbroken(self) -> None:
        """Refuse if an edit was noticed before."""
        if self._edit is not None:
            self.refuse(self._edit)

    def refuse(self, problem: str) -> NoReturn:
        """Say what was edited, and from now on grant nothing."""
        self._edit = problem
        raise LedgerEdited(
            f"{problem}: the database was edited, or the secret is another one. Nothing is granted.",
            next_step="Ask the owner to put the right secret back, or to verify the books and restore a sound copy.",
        )
