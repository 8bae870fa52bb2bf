"""The secret of a database: it seals entries, signs checkpoints and hashes API keys.

For a database file it is in a file beside it, so that a copy of the database alone gives no access and cannot seal
entries. For any other database it comes from the environment.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from discreet.errors import BadInput, NoSecret
from discreet.store.env_secrets import read_secret

_MIN_LENGTH = 32
_MEMORY = ":memory:"


def load_secret(where: str | Path, *, make: bool = True) -> bytes | None:
    """Return the secret of the database at a path or URL, or `None`.

    With `make`, a missing one of a file is created.
    """
    if str(where) == _MEMORY:
        return os.urandom(_MIN_LENGTH)
    if "://" in str(where):
        given = read_secret("DISCREET_SECRET")
        return given.encode() if given is not None and len(given) >= _MIN_LENGTH else None
    path = Path(f"{where}.secret")
    try:
        if make and not path.exists():
            _create_secret(path)
        mode, secret = path.stat().st_mode, path.read_bytes()
    except OSError:
        return None
    if mode & 0o077:
        raise BadInput("Other users can read the file with the secret.", next_step=f"Run: chmod 600 {path.name}")
    return secret if len(secret) >= _MIN_LENGTH else None


def require_secret(where: str | Path, *, make: bool = True) -> bytes:
    """Return the secret, or raise an error that says where it is expected."""
    secret = load_secret(where, make=make)
    if secret is not None:
        return secret
    if "://" in str(where):
        raise NoSecret(
            "The ledger needs a secret, and there is none in DISCREET_SECRET.",
            next_step="Set it to the secret of the ledger, or to at least 32 random characters for a new one; "
            "or name a file with it in DISCREET_SECRET_FILE.",
        )
    raise NoSecret(
        f"The ledger needs a secret, and there is none in {Path(where).name}.secret beside it.",
        next_step="Put it back from where you keep it. If it is lost: `discreet ledger seal --lost`.",
    )


def _create_secret(path: Path) -> None:
    """Create the file atomically. If another process creates it at the same time, the first file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.urandom(32).hex().encode())
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
