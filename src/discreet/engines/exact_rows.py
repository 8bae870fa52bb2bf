"""Exact integers on their way from an engine to the noise. Nobody else imports this."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.sql.plan import KeyValue


@dataclass(frozen=True, slots=True, repr=False)
class ExactRows:
    """For each group that has rows, its key and its measures. The repr hides both."""

    groups: dict[tuple[KeyValue, ...], tuple[int, ...]]
    people: dict[tuple[KeyValue, ...], int]
    """How many people each group has, where groups are to be selected; empty otherwise."""

    def __repr__(self) -> str:
        return "ExactRows(hidden)"
