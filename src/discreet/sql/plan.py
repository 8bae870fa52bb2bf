"""A plan: what is read, how it is grouped, what is measured and by which mechanism, and what is computed afterwards."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.ledger.releases import describe
from discreet.mechanisms import Mechanism, PartitionSelection, Quantile
from discreet.sql.scope import KeyValue

_QUANTILE_POINTS = 2**13
QUANTILE_LEVEL = Fraction(95, 100)
"""How often the interval of a quantile covers: fixed when it is drawn."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A person's rows are cut once more just before the release, by an order that depends on their own rows only."""

    rows: int | None
    groups: int | None
    rows_per_group: int | None
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows that each belong to one person. `sql` stands behind FROM, `owner` names the person.

    One person has at most `rows_per_person` rows; and, where `cut` limits groups, at most so many groups of so many rows.
    """

    sql: str
    owner: str
    unit: str
    tables: tuple[str, ...]
    rows_per_person: int
    cut: Cut | None = None

    @property
    def limits_groups(self) -> bool:
        return self.cut is not None and self.cut.groups is not None


@dataclass(frozen=True, slots=True)
class Key:
    """A group key: its expression, and the values that all appear; None where groups must be selected privately."""

    name: str
    sql: str
    domain: tuple[KeyValue, ...] | None


class Kind(Enum):
    """What the engine is asked for: exact integers for each group."""

    ROWS = "rows"
    PRESENT = "present"
    PEOPLE = "people"
    DISTINCT = "distinct"
    TOTAL = "total"
    SQUARES = "squares"
    QUANTILE = "quantile"


@dataclass(frozen=True, slots=True)
class Measure:
    """One exact integer a group, or a histogram for a quantile.

    TOTAL sums grid steps of `step`, each between `low` and `high`, less `centre`. SQUARES sums the squares of these,
    each divided by 2**`coarser` and rounded. QUANTILE counts rows at each candidate.
    """

    kind: Kind
    sql: str | None = None
    where: str | None = None
    step: Fraction = Fraction(1)
    low: int = 0
    high: int = 1
    centre: int = 0
    coarser: int = 0
    q: Fraction | None = None

    @property
    def largest(self) -> int:
        """The most that one row can add, in absolute value."""
        reach = max(abs(self.low - self.centre), abs(self.high - self.centre), 1)
        if self.kind is Kind.SQUARES:
            return max((reach * reach + self.half) >> self.coarser, 1)
        return reach if self.kind is Kind.TOTAL else 1

    @property
    def half(self) -> int:
        """Half of what squares are divided by, to round to the nearest."""
        return (1 << self.coarser) >> 1


@dataclass(frozen=True, slots=True)
class GroupSet:
    """One way of grouping: which keys, the mechanisms of each measure, and the selection of keys that are not public.

    A quantile has three mechanisms, for itself and for the ends of its interval.
    """

    keys: tuple[int, ...]
    mechanisms: tuple[tuple[Mechanism, ...], ...]
    selection: PartitionSelection | None = None
    selections: int = 0
    """How many groups one person can be in: so many times the selection is paid for."""


@dataclass(frozen=True, slots=True)
class Post:
    """What is computed from keys and noisy measures: a small tree.

    `op` is key, grouping, measure, average, variance, quantile, literal, or an operator or function over `args`.
    """

    op: str
    args: tuple[Post, ...] = ()
    index: int = 0
    others: tuple[int, ...] = ()
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
    sets: tuple[GroupSet, ...]
    outputs: tuple[Output, ...]
    having: Post | None = None
    order: tuple[tuple[Post, bool], ...] = ()
    limit: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """What is charged is what is sampled: every measure of every grouping, and the selections of keys."""
        made: list[Mechanism] = []
        for one in self.sets:
            made += [one.selection] * one.selections if one.selection else []
            made += [mechanism for several in one.mechanisms for mechanism in several]
        return tuple(made)

    def groups_in(self, one: GroupSet) -> int | None:
        """How many groups appear, where that is public."""
        domains = [self.keys[index].domain for index in one.keys]
        if any(domain is None for domain in domains):
            return None
        return math.prod(len(domain or ()) for domain in domains)

    @property
    def groups(self) -> int | None:
        counts = [self.groups_in(one) for one in self.sets]
        return None if None in counts else sum(count or 0 for count in counts)

    def digest(self, *, data_version: int) -> str:
        """The canonical question: equal where the same is measured at the same price on the same data.

        What is computed afterwards is not part of it: names, arithmetic, HAVING and ORDER BY read the same stored numbers.
        """
        relation = self.relation
        facts = {
            "version": data_version,
            "relation": [relation.sql, relation.owner, relation.rows_per_person, repr(relation.cut)],
            "keys": [[key.sql, key.domain] for key in self.keys],
            "measures": [repr(measure) for measure in self.measures],
            "sets": [[one.keys, [[describe(m) for m in several] for several in one.mechanisms]] for one in self.sets],
        }
        return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


def quantile_of(measure: Measure, *, epsilon: Fraction, rows: int) -> Quantile:
    """The mechanism for a measured histogram, in grid steps; its candidates are what the engine counts at."""
    return Quantile(
        q=measure.q or 0,
        lower=measure.low,
        upper=measure.high,
        epsilon=epsilon,
        whole=True,
        points=_QUANTILE_POINTS,
        rows=rows,
    )
