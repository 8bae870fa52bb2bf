"""Tables without names: the obvious columns are gone, or hashed, and everything else is as it was."""

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
    """One row a patient, in no order, without a name: zip code, birth date and sex, and what the patient had."""

    quasi_identifiers: Ints
    conditions: Ints


def without_names(voters: State, patients: Ints, conditions: Ints) -> HospitalTable:
    """What the Massachusetts Group Insurance Commission gave to whoever asked."""
    return HospitalTable(voters.quasi_identifiers()[patients], conditions)


def md5_of(identifiers: Iterable[str]) -> list[bytes]:
    """Identifiers replaced by their MD5, as in New York's taxi trips of 2013."""
    return [hashlib.md5(text.encode(), usedforsecurity=False).digest() for text in identifiers]
