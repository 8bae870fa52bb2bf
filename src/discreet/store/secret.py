"""The secret of a database: what its entries are sealed with, its checkpoints are signed with and its keys are hashed with.

It lies in a file beside a database that is a file, so that a copy of the database alone neither opens a door nor
seals anything; for any other database it comes from the environment.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from discreet.errors import BadInput, NoSecret
from discreet.store.env_secrets import read_secret

_LEAST = 32
_MEMORY = ":memory:"


def load_secret(where: str | Path, *, make: bool = True) -> bytes | None:
    """The secret of the database at a path or URL; with `make` that of a file is made if it is not there. None where there is none."""
    if str(where) == _MEMORY:
        return os.urandom(_LEAST)
    if "://" in str(where):
        given = read_secret("DISCREET_SECRET")
        return given.encode() if given is not None and len(given) >= _LEAST else None
    place = Path(f"{where}.secret")
    try:
        if make and not place.exists():
            _make(place)
        mode, secret = place.stat().st_mode, place.read_bytes()
    except OSError:
        return None
    if mode & 0o077:
        raise BadInput("The secret of the keys can be read by others.", next_step=f"Run: chmod 600 {place.name}")
    return secret if len(secret) >= _LEAST else None


def require_secret(where: str | Path, *, make: bool = True) -> bytes:
    """The secret, or a refusal that says where it should be."""
    secret = load_secret(where, make=make)
    if secret is not None:
        return secret
    if "://" in str(where):
        raise NoSecret(
            "The ledger needs a secret, and there is none in DISCREET_SECRET.",
            next_step="Set it to what the books are sealed with, or to 32 random characters or more for new books; or name the file with it in DISCREET_SECRET_FILE.",
        )
    raise NoSecret(
        f"The ledger needs a secret, and there is none in {Path(where).name}.secret beside it.",
        next_step="Put it back from where you keep it. If it is lost: `discreet ledger seal --lost`.",
    )


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
