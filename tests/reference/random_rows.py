"""Random SELECTs that stay rows: joins of every kind, subqueries of every kind, groups and windows of one person.

Wherever both sides have a column that names the person it is equated, so that most are read; the others are refused.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

TABLES = {
    "visits": {"person": "p", "visit": "i", "ward": "t", "zip": "t", "cost": "r", "age": "i", "ok": "b", "day": "d"},
    "people": {"person": "p", "sex": "t", "height": "r"},
    "events": {"person": "p", "kind": "t", "amount": "i"},
    "notes": {"visit": "i", "score": "i"},
    "wards": {"ward": "t", "floor": "i"},
}
_CALLS = {
    "i": ["({i} + {i})", "COALESCE({i}, {i})", "CASE WHEN {b} THEN {i} END", "LEAST({i}, {i})", "LENGTH({t})"],
    "r": ["({r} * {i})", "({r} + {r})", "COALESCE({r}, {i})"],
    "t": ["COALESCE({t}, {t})", "CASE WHEN {b} THEN {t} ELSE {t} END", "LEFT({t}, 1)"],
    "b": ["({i} = {i})", "({i} < {i})", "({i} >= {i})", "({i} <> {i})", "({t} = {t})", "({r} < {i})", "({b} OR {b})", "({b} AND {b})", "(NOT {b})", "({t} IS NULL)",
          "({i} IN (1, 2, {i}))", "({t} IS DISTINCT FROM {t})"],
    "d": ["{d}"],
}  # fmt: skip
_JOINS = ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", ",", "SEMI JOIN", "ANTI JOIN")
Source = tuple[str, dict[str, str]]
"""What a FROM calls something, and the kinds of its columns: p the person, i whole, r real, t text, b truth, d day."""


def _columns(sources: Sequence[Source], kind: str) -> list[str]:
    return [
        f"{called}.{name}"
        for called, own in sources
        for name, other in own.items()
        if other == kind or (kind == "i" and other == "p")
    ]


def _persons(*sources: Source) -> list[str]:
    return [f"{called}.{name}" for called, own in sources for name, kind in own.items() if kind == "p"]


def _all(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


class Selects:
    """Draws SELECTs; each text has names of its own."""

    def __init__(self, seed: int) -> None:
        self.rng, self._names = random.Random(seed), 0

    def draw(self) -> str:
        return self.select(self.rng.choice([0, 1, 1, 2]))[0]

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _source(self, depth: int) -> tuple[str, Source]:
        self._names += 1
        name = f"t{self._names}"
        if depth > 0 and self._chance(0.35):
            text, columns = self.select(depth - 1)
            return f"({text}) AS {name}", (name, columns)
        table = self.rng.choice(["visits", "visits", "people", "events", "wards", "wards", "notes"])
        return f"{table} AS {name}", (name, TABLES[table])

    # Expressions

    def _constant(self, kind: str) -> str:
        constants = {"i": [str(self.rng.randint(-1, 5))], "r": ["0.5", "1.0", "-1.0"], "t": ["'A'", "'x'", "'B'"]}
        return self.rng.choice({**constants, "b": ["TRUE", "FALSE"], "d": ["DATE '2020-06-01'"]}[kind])

    def expression(self, sources: Sequence[Source], kind: str, depth: int = 2) -> str:
        columns = _columns(sources, kind)
        if columns and (depth == 0 or self._chance(0.5)):
            return self.rng.choice(columns)
        if depth == 0 or self._chance(0.25):
            return self._constant(kind)
        text = self.rng.choice(_CALLS[kind])
        for slot in "irtbd":
            while "{" + slot + "}" in text:
                text = text.replace("{" + slot + "}", self.expression(sources, slot, depth - 1), 1)
        return text

    def _equal(self, ours: Sequence[Source], theirs: Sequence[Source], *, less: bool = False) -> list[str]:
        """An equality of two columns, or now and then an inequality."""
        kind = self.rng.choice("it")
        pair = _columns(ours, kind), _columns(theirs, kind)
        if not all(pair):
            return []
        sign = "<" if less and kind == "i" and self._chance(0.25) else "="
        return [f"{self.rng.choice(pair[0])} {sign} {self.rng.choice(pair[1])}"]

    # Subqueries

    def _subquery(self, outer: Sequence[Source], depth: int) -> tuple[str, str]:
        """EXISTS, IN or an aggregate over what is around it, and its kind."""
        text, inner = self._source(max(0, depth - 1))
        where, own = self._link(outer, inner), [inner]
        kind = self.rng.random()
        if kind < 0.4:
            return "b", f"{self.rng.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM {text}{where})"
        chosen = self.rng.choice("it")
        mine, theirs = _columns(own, chosen), _columns(outer, chosen)
        if kind < 0.6 and mine and theirs:
            return "b", f"({self.rng.choice(theirs)} IN (SELECT {self.rng.choice(mine)} FROM {text}{where}))"
        whole, word = self.expression(own, "i", 1), self.expression(own, "t", 0)
        fold = self.rng.choice(
            ["COUNT(*)", f"MAX({whole})", f"SUM({whole})", f"COUNT({word})", f"COALESCE(MIN({whole}), 7) + COUNT(*)", f"COUNT(DISTINCT {word})"]
        )  # fmt: skip
        return "i", f"(SELECT {fold} FROM {text}{where})"

    def _link(self, outer: Sequence[Source], inner: Source) -> str:
        """What ties a subquery to the row outside: the person where both name one, then anything."""
        ours, theirs = _persons(*outer), _persons(inner)
        link = [f"{self.rng.choice(theirs)} = {self.rng.choice(ours)}"] if ours and theirs else []
        if self._chance(0.6):
            link += self._equal([inner], outer, less=True)
        for sources, probability in (([inner], 0.4), ([inner, *outer], 0.25), (list(outer), 0.15)):
            if self._chance(probability):
                link.append(self.expression(sources, "b", 1))
        return _all(link)

    def _condition(self, sources: Sequence[Source], depth: int) -> str:
        kind, text = self._subquery(sources, depth)
        if kind == "b":
            return text
        return f"{text} {self.rng.choice('<=>')} {self.expression(sources, 'i', 1)}"

    # FROM and SELECT

    def _from(self, depth: int) -> tuple[str, list[Source], list[str]]:
        text, first = self._source(depth)
        sources, where = [first], []
        for _ in range(self.rng.choice([0, 0, 1, 1, 2])):
            other_text, other = self._source(depth)
            how = self.rng.choice(_JOINS)
            conditions = self._on(sources, other, depth if how != "," else None)
            if how == ",":
                text, where = f"{text}, {other_text}", [*where, *conditions]
            else:
                text = f"{text} {how} {other_text} ON {' AND '.join(conditions)}"
            if how not in ("SEMI JOIN", "ANTI JOIN"):
                sources.append(other)
        return text, sources, where

    def _on(self, sources: list[Source], other: Source, depth: int | None) -> list[str]:
        ours, theirs = _persons(*sources), _persons(other)
        conditions = [f"{self.rng.choice(ours)} = {self.rng.choice(theirs)}"] if ours and theirs else []
        if not conditions and "visit" in other[1]:
            conditions = [f"{other[0]}.visit = {called}.visit" for called, own in sources if "visit" in own][:1]
        if self._chance(0.6):
            conditions += self._equal([other], sources)
        if self._chance(0.3):
            conditions.append(self.expression([*sources, other], "b", 1))
        if self._chance(0.2):
            conditions.append(self.expression([other], "b", 1))
        if depth is not None and self._chance(0.12):
            conditions.append(self._condition(self.rng.choice([sources, [other]]), 0))
        return conditions or [self.expression([*sources, other], "b", 1)]

    def select(self, depth: int) -> tuple[str, dict[str, str]]:
        """A SELECT and the kinds of its columns."""
        text, sources, where = self._from(depth)
        if self._chance(0.4):
            where.append(self.expression(sources, "b"))
        if self._chance(0.35):
            where.append(self._condition(sources, depth))
        people = _persons(*sources)
        person = self.rng.choice(people) if people else None
        rest = f"FROM {text}{_all(where)}"
        if self._chance(0.3):
            return self._grouped(sources, person, rest)
        return self._plain(sources, person, rest, depth)

    def _grouped(self, sources: list[Source], person: str | None, rest: str) -> tuple[str, dict[str, str]]:
        parts, keys = ({"pp": ("p", person)}, [person]) if person else ({}, [])
        if self._chance(0.5):
            key = self.expression(sources, "t", 1)
            parts["k1"] = ("t", key)
            keys.append(key)
        parts |= {"n1": ("i", "COUNT(*)"), "n2": ("i", f"MAX({self.expression(sources, 'i', 1)})")}
        if self._chance(0.4):
            folded, where = self.expression(sources, "i", 1), self.expression(sources, "b", 1)
            parts["n3"] = ("i", f"SUM({folded}) FILTER (WHERE {where})")
        behind = f" GROUP BY {', '.join(keys)}" if keys else ""
        behind += " HAVING COUNT(*) > 1" if keys and self._chance(0.3) else ""
        return self._written(parts, f"{rest}{behind}")

    def _plain(self, sources: list[Source], person: str | None, rest: str, depth: int) -> tuple[str, dict[str, str]]:
        parts = {"pp": ("p", person)} if person else {}
        for number in range(self.rng.randint(1, 3)):
            kind = self.rng.choice("ittb")
            parts[f"c{number}"] = (kind, self.expression(sources, kind))
        if self._chance(0.25):
            parts["s1"] = self._subquery(sources, depth)
        if person and self._chance(0.2):
            within = f"{person}, {self.expression(sources, 't', 1)}"
            parts["w1"] = ("i", f"COUNT(*) OVER (PARTITION BY {within})")
        if person and self._chance(0.15):
            order = self.expression(sources, "i", 1)
            parts["w2"] = ("i", f"RANK() OVER (PARTITION BY {person} ORDER BY {order} DESC)")
        return self._written(parts, rest, distinct=self._chance(0.2))

    def _written(
        self, parts: dict[str, tuple[str, str]], rest: str, *, distinct: bool = False
    ) -> tuple[str, dict[str, str]]:
        shown = ", ".join(f"{text} AS {name}" for name, (_, text) in parts.items())
        return f"SELECT {'DISTINCT ' if distinct else ''}{shown} {rest}", {n: kind for n, (kind, _) in parts.items()}
