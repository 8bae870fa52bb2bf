"""What happened in one trial, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["known", "asked", "answered", "refused", "guess", "truth", "note"]


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a transcript: what the attacker knew, asked, was told, guessed; and how it was."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.kind:>8}  {self.text}"
