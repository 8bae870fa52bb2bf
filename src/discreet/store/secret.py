"""The secret of a database: what its keys are hashed with and its checkpoints are signed with.

It lies in a file beside a database that is a file, so that a copy of the database alone neither opens a door nor
signs anything; for any other database it comes from the environment.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from discreet.errors import BadInput
from discreet.store.confided import confided

_LEAST = 32


def secret_of(where: str | Path) -> bytes | None:
    """The secret of the database at a path or URL, made if it is a file's and not there; None where there can be none."""
    if not _is_file(where):
        given = confided("DISCREET_SECRET")
        return given.encode() if given is not None and len(given) >= _LEAST else None
    place = Path(f"{where}.secret")
    try:
        if not place.exists():
            _make(place)
        mode, secret = place.stat().st_mode, place.read_bytes()
    except OSError:
        return None
    if mode & 0o077:
        raise BadInput("The secret of the keys can be read by others.", next_step=f"Run: chmod 600 {place.name}")
    return secret if len(secret) >= _LEAST else None


def needed_secret(where: str | Path) -> bytes:
    """The secret, or a refusal that says how to give one."""
    secret = secret_of(where)
    if secret is None:
        raise BadInput(
            "The ledger's keys need a secret, and there is none.",
            next_step="Make the ledger's folder writable; for a ledger that is no file, set DISCREET_SECRET to at "
            "least 32 random characters.",
        )
    return secret


def _is_file(where: str | Path) -> bool:
    return "://" not in str(where) and str(where) != ":memory:"


def _make(place: Path) -> None:
    """Whole or not at all, and the first one stays: another process may be making it too."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f"{place.name}.{os.getpid()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.urandom(32).hex().encode())
    with suppress(FileExistsError):
        os.link(draft, place)
    draft.unlink()
