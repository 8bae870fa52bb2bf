"""A plan: what is read, how it is grouped, what is measured and by which mechanism, and what is computed afterwards."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from discreet.catalog import Table
from discreet.ledger.releases import describe
from discreet.mechanisms import Laplace, Mechanism, PartitionSelection

KeyValue: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Source:
    """A table of the question. `on` is the checked join condition; the first source has none."""

    alias: str
    table: Table
    kind: str = "FROM"
    on: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows that each belong to one person, at most `rows_per_person` of them."""

    sources: tuple[Source, ...]
    where: str | None
    rows_per_person: int

    @property
    def owner(self) -> tuple[str, str]:
        """Alias and column that name the person."""
        first = self.sources[0]
        assert first.table.unit is not None  # the planner starts from a protected table  # noqa: S101
        return first.alias, first.table.unit.column


@dataclass(frozen=True, slots=True)
class Key:
    """A group key: its expression, and the values that all appear; None where groups must be selected privately."""

    name: str
    sql: str
    domain: tuple[KeyValue, ...] | None


class Kind(Enum):
    """What the engine is asked for: always an exact integer for each group."""

    ROWS = "rows"
    PRESENT = "present"
    PEOPLE = "people"
    TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Measure:
    """One exact integer a group, and the noise that covers it.

    A TOTAL sums grid steps of `step`, each between `low` and `high`, less `centre`; the mechanism's sensitivity is the
    largest of these times the rows that one person may have.
    """

    kind: Kind
    sql: str | None
    mechanism: Laplace
    step: Fraction = Fraction(1)
    low: int = 0
    high: int = 1
    centre: int = 0


@dataclass(frozen=True, slots=True)
class Post:
    """What is computed from keys and noisy measures: a small tree. `op` is key, measure, average, literal or an operator."""

    op: str
    args: tuple[Post, ...] = ()
    index: int = 0
    other: int = 0
    value: KeyValue = None


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer."""

    name: str
    post: Post


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything the charge, the engine and the answer need; nothing of it depends on data."""

    relation: Relation
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    outputs: tuple[Output, ...]
    selection: PartitionSelection | None = None
    having: Post | None = None
    order: tuple[tuple[Post, bool], ...] = ()
    limit: int | None = None

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """What is charged is what is sampled: every measure, and the selection of keys once for each row of a person."""
        chosen = (self.selection,) * self.relation.rows_per_person if self.selection else ()
        return (*chosen, *(measure.mechanism for measure in self.measures))

    @property
    def groups(self) -> int | None:
        """How many groups appear, where that is public."""
        if any(key.domain is None for key in self.keys):
            return None
        return math.prod(len(key.domain or ()) for key in self.keys)

    def digest(self, *, data_version: int) -> str:
        """The canonical question: equal for equal plans on equal data."""
        facts = {
            "version": data_version,
            "sources": [[s.table.name, s.alias, s.kind, s.on, s.table.max_rows] for s in self.relation.sources],
            "where": self.relation.where,
            "keys": [[key.sql, key.domain] for key in self.keys],
            "measures": [
                [m.kind.value, m.sql, str(m.step), m.low, m.high, m.centre, describe(m.mechanism)]
                for m in self.measures
            ],
            "after": [repr(self.outputs), repr(self.having), repr(self.order), self.limit],
        }
        return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()
