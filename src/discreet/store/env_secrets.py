"""Secrets that whoever starts the process gives it: in the environment, or in a file that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

from discreet.errors import BadInput


def read_secret(name: str) -> str | None:
    """The value of the environment variable `name`, or what is in the file that `name`_FILE names; None without either.

    Files are how containers hand secrets over: what is in the environment is seen by every child process and in many logs.
    """
    place = os.environ.get(f"{name}_FILE")
    if place is None:
        return os.environ.get(name)
    try:
        return Path(place).read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise BadInput(
            f"The file that {name}_FILE names cannot be read.", next_step="Check its place and who may read it."
        ) from None
