"""Seals: the hash of every entry under the ledger's secret, so that entries written without the secret do not count.

Hashes show without a secret that one entry follows another. But anyone who can write to the database can compute
hashes; only a holder of the secret can compute seals.
"""

from __future__ import annotations

import hmac
from typing import NoReturn

from discreet.errors import LedgerEdited, NoSecret
from discreet.ledger.chain.entries import Entry

KIND = "seal"
"""The entry that records that all entries before it were sealed with a new secret."""


class Seals:
    """The seals of one ledger. Without the secret the ledger is read-only.

    After an edit was noticed, everything is refused until the process is restarted.
    """

    def __init__(self, secret: bytes | None) -> None:
        self._key = None if secret is None else hmac.digest(secret, b"discreet ledger seal\n", "sha256")
        self._edit: str | None = None

    @property
    def can_be_checked(self) -> bool:
        """Whether the secret is known."""
        return self._key is not None

    def require_key(self) -> bytes:
        """Return the key of the seals, or raise `NoSecret`."""
        if self._key is None:
            raise NoSecret(
                "The ledger cannot be written without its secret.",
                next_step="Open it with the secret that it is sealed with.",
            )
        return self._key

    def of(self, entry: Entry) -> str:
        """Return the seal of an entry."""
        return hmac.digest(self.require_key(), entry.hash.encode(), "sha256").hex()

    def seal_text(self, text: str) -> str:
        """Return the seal of a pending step.

        It never equals the seal of an entry, because the input has a prefix that no hash has.
        """
        return hmac.digest(self.require_key(), b"waits\n" + text.encode(), "sha256").hex()

    def text_fits(self, text: str, seal: object) -> bool:
        """Return whether the seal of a text is right; always true if the secret is unknown."""
        return self._key is None or hmac.compare_digest(str(seal).encode(), self.seal_text(text).encode())

    def fits(self, entry: Entry) -> bool:
        """Return whether hash and seal of an entry are right; always true if the secret is unknown."""
        return self._key is None or (entry.intact and self.covers(entry))

    def covers(self, entry: Entry) -> bool:
        """Return whether the seal is right, for an entry whose hash was checked already."""
        return self._key is None or hmac.compare_digest((entry.seal or "").encode(), self.of(entry).encode())

    def check(self, entry: Entry) -> Entry:
        """Return the entry if hash and seal are right; otherwise refuse."""
        if not self.fits(entry):
            self.refuse(f"Entry {entry.seq} does not have the seal of this ledger")
        return entry

    def check_unbroken(self) -> None:
        """Refuse if an edit was noticed before."""
        if self._edit is not None:
            self.refuse(self._edit)

    def refuse(self, problem: str) -> NoReturn:
        """Raise `LedgerEdited`, now and on every later check."""
        self._edit = problem
        raise LedgerEdited(
            f"{problem}: the database was edited, or this is the wrong secret. Nothing is granted.",
            next_step="Ask the data owner to restore the right secret, or to verify the ledger and restore a sound copy.",
        )
