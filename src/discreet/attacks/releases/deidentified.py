"""De-identified tables: names are removed or hashed, and everything else is unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.samples.state import State

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HospitalTable:
    """One unordered row per patient without name: zip code, birth date, sex and condition."""

    quasi_identifiers: Ints
    conditions: Ints


def without_names(voters: State, patients: Ints, conditions: Ints) -> HospitalTable:
    """Return the table as the Massachusetts Group Insurance Commission released it."""
    return HospitalTable(voters.quasi_identifiers()[patients], conditions)


def md5_of(identifiers: Iterable[str]) -> list[bytes]:
    """Return the MD5 of identifiers, as in New York's taxi trips of 2013."""
    return [hashlib.md5(text.encode(), usedforsecurity=False).digest() for text in identifiers]
