"""Random SQL for the catalog of tests/sql/worlds.py: legal but odd nesting, quoted names, shadowing, shifted unions, and traps.

Most statements are well typed, so that many are answered; a `trap` does something that must be refused or must not change the meaning:
people joined under OR, a column that only looks like the owner, a name that looks like a keyword.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

TABLES: dict[str, dict[str, str]] = {
    "visits": {
        "person": "person",
        "visit": "i",
        "ward": "t",
        "zip": "t",
        "cost": "r",
        "age": "i",
        "ok": "b",
        "day": "d",
    },
    "people": {"person": "person", "sex": "t", "height": "r"},
    "events": {"person": "person", "kind": "t", "amount": "i"},
    "notes": {"visit": "i", "score": "i"},
    "wards": {"ward": "t", "floor": "i"},
}
BOUNDED = ("cost", "age", "height", "amount", "score")
_NAMES = [
    '"or"',
    '"select"',
    '"Visits"',
    '"a b"',
    '"x""y"',
    "v",
    "p",
    "q",
    "t1",
    '"--"',
    '"/*"',
    "_x",
    '"NULL"',
    '"person"',
    '"1"',
    '"é"',
]
_CONSTANTS = {
    "i": ["0", "1", "-1", "2", "5", "9223372036854775807", "1000000"],
    "r": ["0.0", "0.5", "-1.5", "1e0", "2.75", ".5", "1e-3"],
    "t": ["'A'", "'B'", "''", "'x'", "'OR 1=1'", "'--'", "'a''b'", "'/*'", "'%'", "'\\'"],
    "d": ["DATE '2020-03-01'", "DATE '2021-12-31'", "DATE '0001-01-01'"],
    "b": ["TRUE", "FALSE", "NULL"],
}
_CALLS = {
    "i": ["ABS({i})", "({i} + {i})", "({i} - {i})", "({i} * {i})", "({i} % {i})", "({i} // {i})", "LENGTH({t})", "YEAR({d})", "EXTRACT(MONTH FROM {d})", "CAST({r} AS BIGINT)", "CAST({b} AS INTEGER)",
          "COALESCE({i}, {i})", "NULLIF({i}, {i})", "CASE WHEN {b} THEN {i} ELSE {i} END", "CASE WHEN {b} THEN {i} END", "CASE {t} WHEN {t} THEN {i} ELSE {i} END", "DATE_DIFF('day', {d}, {d})", "FLOOR({r})", "SIGN({i})", "LEAST({i}, {i})", "GREATEST({i}, {i}, {i})", "STRPOS({t}, {t})"],
    "r": ["({r} + {r})", "({r} / {r})", "({i} / {i})", "({r} * {i})", "SQRT({r})", "LN({r})", "EXP({r})", "POWER({r}, 2)", "ROUND({r}, 1)", "COALESCE({r}, {r})", "CASE WHEN {b} THEN {r} ELSE {r} END", "LEAST(GREATEST({r}, 0.0), 1.0)", "CAST({i} AS DOUBLE)"],
    "t": ["LOWER({t})", "UPPER({t})", "({t} || {t})", "SUBSTRING({t}, 1, 2)", "LEFT({t}, 1)", "TRIM({t})", "CONCAT({t}, {t})", "REPLACE({t}, 'A', 'b')", "CAST({i} AS VARCHAR)", "COALESCE({t}, {t})", "CASE WHEN {b} THEN {t} ELSE {t} END"],
    "d": ["DATE_TRUNC('month', {d})", "({d} + INTERVAL 1 DAY)", "COALESCE({d}, {d})", "CASE WHEN {b} THEN {d} ELSE {d} END", "LEAST({d}, {d})"],
    "b": ["({i} = {i})", "({r} < {r})", "({t} >= {t})", "({d} <> {d})", "({i} BETWEEN {i} AND {i})", "({t} IN ({t}, {t}))", "({t} NOT IN ({t}, {t}))", "({t} LIKE 'a%')", "({t} ILIKE '%B')", "({i} IS NULL)", "({t} IS NOT NULL)", "(NOT {b})",
          "({b} AND {b})", "({b} OR {b})", "({b} AND NOT ({b} OR {b}))", "({i} IS DISTINCT FROM {i})", "({b} IS TRUE)", "({b} = {b})"],
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Something a FROM names: its text, how to call it, its columns with types, and the column that is the owner, if it shows one."""

    text: str
    alias: str
    columns: dict[str, str]
    owner: str | None
    public: bool

    def named(self, kind: str) -> list[str]:
        return [f"{self.alias}.{name}" for name, own in self.columns.items() if own == kind]


class Texts:
    """Draws statements. `traps` is how often something is done that must be refused."""

    def __init__(self, seed: int, *, traps: float = 0.05) -> None:
        self.rng, self.traps, self._names = random.Random(seed), traps, 0
        self._ctes: list[str] = []

    def pick(self, options: Any) -> Any:
        return self.rng.choice(list(options))

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def name(self) -> str:
        self._names += 1
        return self.pick(_NAMES) if self.chance(0.15) else f"s{self._names}"

    # Expressions

    def leaf(self, kind: str, sources: list[Source]) -> str:
        kinds = (kind, "person") if kind == "i" and self.chance(0.1) else (kind,)
        fields = [field for source in sources for own in kinds for field in source.named(own)]
        return self.pick(fields) if fields and self.chance(0.75) else self.pick(_CONSTANTS[kind])

    def expression(self, kind: str, sources: list[Source], depth: int) -> str:
        if depth <= 0 or self.chance(0.2):
            return self.leaf(kind, sources)
        if kind == "b" and self.chance(0.12):
            return self.subquery_condition(sources)
        if kind == "i" and self.chance(0.06):
            return self.scalar(sources)
        parts = {slot: iter([self.expression(slot, sources, depth - 1) for _ in range(3)]) for slot in "irtdb"}
        text = self.pick(_CALLS[kind])
        for slot, drawn in parts.items():
            while "{" + slot + "}" in text:
                text = text.replace("{" + slot + "}", next(drawn), 1)
        return f"({text})" if self.chance(0.1) else text

    def owner_of(self, sources: list[Source]) -> str | None:
        owned = [f"{source.alias}.{source.owner}" for source in sources if source.owner is not None]
        return self.pick(owned) if owned else None

    def subquery_condition(self, sources: list[Source]) -> str:
        """EXISTS or IN, over the same person or over a public table."""
        owner, inner = self.owner_of(sources), self.table()
        more = f" AND {self.expression('b', [inner, *sources], 1)}" if self.chance(0.5) else ""
        if inner.public or (owner is None and self.chance(0.5)):
            return f"{self.leaf('t', sources)} {self.pick(['IN', 'NOT IN'])} (SELECT w.ward FROM wards w WHERE {self.expression('b', [], 1)})"
        if inner.owner is None or owner is None:
            return "EXISTS (SELECT 1 FROM wards WHERE floor > 1)"
        equal = f"{inner.alias}.{inner.owner} = {owner}"
        if self.chance(self.traps):
            equal = f"({equal} OR {self.expression('b', [inner], 1)})"
        return f"{self.pick(['', 'NOT '])}EXISTS (SELECT 1 FROM {inner.text} WHERE {equal}{more})"

    def scalar(self, sources: list[Source]) -> str:
        owner, inner = self.owner_of(sources), self.table(protected=True)
        if owner is None or inner.owner is None:
            return self.pick(["(SELECT MAX(floor) FROM wards)", "(SELECT COUNT(*) FROM wards)"])
        folded = self.pick(
            ["COUNT(*)", *(f"{self.pick(['SUM', 'MAX', 'MIN'])}({field})" for field in inner.named("i"))]
        )
        return f"(SELECT {folded} FROM {inner.text} WHERE {inner.alias}.{inner.owner} = {owner})"

    # Sources

    def table(self, *, protected: bool = False) -> Source:
        name = self.pick([name for name in TABLES if not protected or "person" in TABLES[name]])
        alias = self.name()
        if alias == '"person"' or self.chance(0.5):
            self._names += 1
            alias = f"s{self._names}"
        columns = dict(TABLES[name])
        owner = "person" if "person" in columns else None
        return Source(f"{name} {self.pick(['', 'AS '])}{alias}", alias, columns, owner, name == "wards")

    def source(self, depth: int) -> Source:
        if depth <= 0:
            return self.table()
        return self.pick(
            [
                self.projection,
                self.projection,
                self.grouped,
                self.windowed,
                self.union,
                self.set_operation,
                self.distinct,
            ]
        )(depth - 1)

    def derived(self, query: str, columns: dict[str, str], owner: str | None, *, public: bool) -> Source:
        alias = self.name()
        return Source(f"({query}) AS {alias}", alias, columns, owner, public)

    def where(self, sources: list[Source]) -> str:
        return f" WHERE {self.expression('b', sources, 2)}" if self.chance(0.5) else ""

    def owned_columns(self, source: Source, count: int) -> tuple[list[str], dict[str, str], str | None]:
        """A SELECT list: the owner under some name, and computed columns."""
        items, columns, owner = [], {}, None
        if source.owner is not None:
            owner = self.pick([source.owner, source.owner, "who", '"Owner"'])
            shown = (
                f"{source.alias}.{source.owner}"
                if not self.chance(self.traps)
                else f"{source.alias}.{source.owner} % 2"
            )
            items.append(f"{shown} AS {owner}")
            columns[owner] = "person"
        for _ in range(count):
            kind, name = self.pick("iirtdb"), f"c{len(columns)}"
            items.append(f"{self.expression(kind, [source], 2)} AS {name}")
            columns[name] = kind
        return items, columns, owner

    def projection(self, depth: int) -> Source:
        inner = self.source(depth)
        if self.chance(0.2):
            return self.derived(
                f"SELECT * FROM {inner.text}{self.where([inner])}", inner.columns, inner.owner, public=inner.public
            )
        items, columns, owner = self.owned_columns(inner, self.rng.randint(1, 4))
        return self.derived(
            f"SELECT {', '.join(items)} FROM {inner.text}{self.where([inner])}", columns, owner, public=inner.public
        )

    def grouped(self, depth: int) -> Source:
        inner = self.source(depth)
        if inner.owner is None:
            return inner
        owner, keys = f"{inner.alias}.{inner.owner}", []
        items, columns = [f"{owner} AS person"], {"person": "person"}
        if self.chance(0.4):
            keys.append(self.leaf(self.pick("itd"), [inner]))
            items.append(f"{keys[0]} AS k")
            columns["k"] = "i"
        folds = {
            "n": "COUNT(*)",
            "m": f"MAX({self.expression('i', [inner], 1)})",
            "s": f"SUM({self.leaf('i', [inner])})",
        }
        for name, fold in folds.items():
            items.append(f"{fold} AS {name}")
            columns[name] = "i"
        having = " HAVING COUNT(*) > 1" if self.chance(0.3) else ""
        return self.derived(
            f"SELECT {', '.join(items)} FROM {inner.text}{self.where([inner])} GROUP BY {', '.join([owner, *keys])}{having}",
            columns,
            "person",
            public=False,
        )

    def windowed(self, depth: int) -> Source:
        inner = self.source(depth)
        if inner.owner is None:
            return inner
        over = f"OVER (PARTITION BY {inner.alias}.{inner.owner} ORDER BY {self.leaf(self.pick('itd'), [inner])}{self.pick(['', ' DESC'])})"
        what = self.pick(
            [
                "ROW_NUMBER()",
                "RANK()",
                "DENSE_RANK()",
                f"LAG({self.leaf('i', [inner])})",
                "COUNT(*)",
                f"SUM({self.leaf('i', [inner])})",
                "NTILE(2)",
            ]
        )
        items, columns, owner = self.owned_columns(inner, 2)
        return self.derived(
            f"SELECT {', '.join(items)}, {what} {over} AS w FROM {inner.text}{self.where([inner])}",
            {**columns, "w": "i"},
            owner,
            public=inner.public,
        )

    def union(self, depth: int) -> Source:
        """The names are the first part's; the second may have the owner in another place, which is a trap."""
        kinds = [self.pick("irtdb") for _ in range(self.rng.randint(1, 3))]
        parts = []
        for _ in range(self.pick([2, 2, 3])):
            inner = self.source(self.rng.randint(0, depth))
            if inner.owner is None:
                inner = self.table(protected=True)
            if inner.owner is None:
                return inner
            items = [
                f"{inner.alias}.{inner.owner} AS person",
                *(f"{self.expression(kind, [inner], 1)} AS u{place}" for place, kind in enumerate(kinds)),
            ]
            if self.chance(self.traps):
                items.reverse()
            parts.append(f"SELECT {', '.join(items)} FROM {inner.text}{self.where([inner])}")
        columns = {"person": "person", **{f"u{place}": kind for place, kind in enumerate(kinds)}}
        return self.derived(" UNION ALL ".join(parts), columns, "person", public=False)

    def set_operation(self, depth: int) -> Source:
        a, b = self.table(protected=True), self.table(protected=True)
        operator = self.pick(["EXCEPT", "INTERSECT", "UNION"])
        return self.derived(
            f"SELECT person FROM {a.text}{self.where([a])} {operator} SELECT person FROM {b.text}{self.where([b])}",
            {"person": "person"},
            "person",
            public=False,
        )

    def distinct(self, depth: int) -> Source:
        inner = self.source(depth)
        items, columns, owner = self.owned_columns(inner, self.rng.randint(1, 2))
        if inner.owner is not None and self.chance(0.5):
            on = f"{inner.alias}.{inner.owner}"
            order = f" ORDER BY {on}, {self.leaf(self.pick('itd'), [inner])}"
            return self.derived(
                f"SELECT DISTINCT ON ({on}) {', '.join(items)} FROM {inner.text}{self.where([inner])}{order}",
                columns,
                owner,
                public=inner.public,
            )
        return self.derived(
            f"SELECT DISTINCT {', '.join(items)} FROM {inner.text}{self.where([inner])}",
            columns,
            owner,
            public=inner.public,
        )

    def from_clause(self) -> tuple[str, list[Source], list[str]]:
        """Sources joined in one of the ways there are, and conditions left for WHERE."""
        first = self.source(self.pick([0, 0, 1, 2]))
        text, sources, conditions = first.text, [first], []
        for _ in range(self.pick([0, 0, 1, 1, 2])):
            other = self.source(self.pick([0, 0, 1]))
            if other.alias in {source.alias for source in sources}:
                continue
            on = self._on(sources, other)
            how = self.pick(["JOIN", "LEFT JOIN", "INNER JOIN", "FULL JOIN", "comma", "RIGHT JOIN"])
            if how == "comma":
                text, conditions = f"{text}, {other.text}", [*conditions, on]
            else:
                text = f"{text} {how} {other.text} ON {on}"
            sources.append(other)
        return text, sources, conditions

    def _on(self, sources: list[Source], other: Source) -> str:
        owner, more = (
            self.owner_of(sources),
            f" AND {self.expression('b', [*sources, other], 1)}" if self.chance(0.3) else "",
        )
        if other.owner is not None and owner is not None:
            equal = self.pick([f"{owner} = {other.alias}.{other.owner}", f"{other.alias}.{other.owner} = {owner}"])
            if self.chance(self.traps):
                return f"({equal} OR {self.expression('b', [*sources, other], 1)})"
            return f"{equal}{more}"
        kind = self.pick("it")
        return f"{self.leaf(kind, sources)} = {self.leaf(kind, [other])}{more}"

    # Statements

    def output(self, sources: list[Source]) -> str:
        bounded = [f"{source.alias}.{name}" for source in sources for name in source.columns if name in BOUNDED]
        number = (
            self.pick(bounded)
            if bounded and self.chance(0.7)
            else f"LEAST(GREATEST({self.expression('r', sources, 2)}, 0.0), 10.0)"
        )
        total = self.pick([
            "COUNT(*)", f"COUNT({self.expression(self.pick('irtdb'), sources, 1)})", f"SUM({number})", f"AVG({number})", f"MEDIAN({number})", f"STDDEV({number})", f"MIN({number})",
            f"COUNT(DISTINCT {self.owner_of(sources) or '1'})", f"COUNT(DISTINCT {self.leaf(self.pick('itd'), sources)})", f"SUM({self.expression('i', sources, 2)})",
        ])  # fmt: skip
        if self.chance(0.2):
            total += f" FILTER (WHERE {self.expression('b', sources, 2)})"
        return self.pick(
            [total, total, total, f"{total} + 1", f"ROUND({total}, 1)", f"-({total})", f"{total} * 1.0 / COUNT(*)"]
        )

    def select(self) -> str:
        text, sources, conditions = self.from_clause()
        if self.chance(0.5):
            conditions.append(self.expression("b", sources, 3))
        outputs = [
            f"{self.output(sources)}{self.pick(['', ' AS r' + str(place), ' AS ' + self.pick(_NAMES)])}"
            for place in range(self.rng.randint(1, 3))
        ]
        keys = [
            self.pick([self.leaf(self.pick("tid"), sources), self.expression(self.pick("tibd"), sources, 1)])
            for _ in range(self.pick([0, 0, 1, 1, 2]))
        ]
        query = f"SELECT {', '.join([*keys, *outputs])} FROM {text}"
        if conditions:
            query += f" WHERE {' AND '.join(conditions)}"
        if keys:
            listed = ", ".join(keys)
            query += f" GROUP BY {self.pick([listed, listed, listed, ', '.join(str(place + 1) for place in range(len(keys))), f'ROLLUP ({listed})', f'GROUPING SETS (({listed}), ())'])}"
            if self.chance(0.2):
                query += f" HAVING {self.output(sources)} > 1"
        if self.chance(0.2):
            query += " ORDER BY 1"
        return query + (" LIMIT 3" if self.chance(0.1) else "")

    def statement(self) -> str:
        """A whole statement; CTEs may take the name of a table, which then means something else."""
        self._names = 0
        query = self.select()
        if self.chance(0.25):
            name = self.pick(["visits", "people", "events", "x1"])
            shadowed = name if name in TABLES else "visits"
            condition = self.expression("b", [Source(shadowed, shadowed, TABLES[shadowed], "person", public=False)], 2)
            query = f"WITH {name} AS (SELECT * FROM {shadowed} WHERE {condition}) {query}"
        if self.chance(0.1):
            query = query.replace(" FROM ", self.pick([" /* FROM wards */ FROM ", "\n-- OR 1 = 1\nFROM "]), 1)
        return query + self.pick(["", "", ";"])
