"""Secrets from the environment, or from a file named in the environment."""

from __future__ import annotations

import os
from pathlib import Path

from discreet.errors import BadInput


def read_secret(name: str) -> str | None:
    """Return the environment variable `name`, or the content of the file named by `name`_FILE; `None` without either.

    Containers pass secrets in files, because every child process and many logs see the environment.
    """
    path = os.environ.get(f"{name}_FILE")
    if path is None:
        return os.environ.get(name)
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise BadInput(
            f"The file that {name}_FILE names cannot be read.", next_step="Check its path and its permissions."
        ) from None
