"""The steps of one trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["known", "asked", "answered", "refused", "guess", "truth", "note"]


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a transcript: what the attacker knows, asks, receives or guesses, or the truth."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.kind:>8}  {self.text}"
