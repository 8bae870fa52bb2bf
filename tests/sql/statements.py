"""Statements nobody would write, at random: some answered, most refused."""

import random

COLUMNS = [
    "cost",
    "ward",
    "day",
    "person",
    "age",
    "ok",
    "zip",
    "1",
    "'A'",
    "NULL",
    "1e5",
    ".5",
    "true",
    "v.cost",
    "w.floor",
    "p.sex",
]
STRANGE = ["*", "(SELECT 1)", "COUNT(*)", "random()", "$1", '"$owner"', "\\", "?", ":x"]
OPERATORS = ["+", "-", "*", "/", "%", "//", "=", "<>", "<", ">=", "AND", "OR", "IN", "LIKE", "IS", "||"]
FUNCTIONS = ["ABS", "COALESCE", "ROUND", "FLOOR", "LENGTH", "LOWER", "YEAR", "GREATEST", "NOT", "-", "MAX", "SQRT", "LN", "MONTH", "LEAST", "SIGN", "TRIM"]  # fmt: skip
AGGREGATES = ["SUM", "AVG", "COUNT", "COUNT", "MEDIAN", "STDDEV", "MIN", "VAR_POP"]
FROMS = [
    "visits", "visits v", "visits v", "people p", "events", "notes", "wards w",
    "visits v JOIN wards w ON v.ward = w.ward", "visits v LEFT JOIN wards w USING (ward)",
    "visits v JOIN people p ON v.person = p.person", "visits v FULL JOIN people p ON v.person = p.person",
    "(SELECT * FROM visits WHERE ok) v", "(SELECT person, SUM(cost) AS cost, COUNT(*) AS age FROM visits GROUP BY person) v",
    "(SELECT person, cost, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS age FROM visits) v",
    "(SELECT person, cost FROM visits UNION ALL SELECT person, height FROM people) v",
    "(SELECT DISTINCT person, ward FROM visits) v", "events e JOIN visits v ON e.person = v.person",
]  # fmt: skip
CONDITIONS = [
    "person IN (SELECT person FROM visits)", "EXISTS (SELECT 1 FROM wards WHERE wards.ward = 'A')",
    "cost > (SELECT AVG(cost) FROM visits)", "v.person NOT IN (SELECT person FROM people)",
    "EXISTS (SELECT 1 FROM people q WHERE q.person = v.person)", "day > '2020-05-01'",
]  # fmt: skip


class Writer:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def pick(self, options):
        return self.rng.choice(options)

    def expression(self, depth):
        kind = self.rng.random() if depth else 1.0
        if kind < 0.4:
            return f"({self.expression(depth - 1)} {self.pick(OPERATORS)} {self.expression(depth - 1)})"
        if kind < 0.5:
            return f"CASE WHEN {self.expression(depth - 1)} THEN {self.expression(depth - 1)} ELSE {self.expression(depth - 1)} END"
        if kind < 0.65:
            return f"{self.pick(FUNCTIONS)}({self.expression(depth - 1)})"
        return self.pick(STRANGE) if self.rng.random() < 0.05 else self.pick(COLUMNS)

    def output(self):
        if self.rng.random() < 0.1:
            return self.expression(2)
        total = f"{self.pick(AGGREGATES)}({self.pick(['cost', 'cost', 'age', self.expression(2)])})"
        if self.rng.random() < 0.15:
            total += f" FILTER (WHERE {self.expression(1)})"
        return self.pick([total, "COUNT(*)", f"{total} {self.pick(OPERATORS[:10])} {self.pick(['COUNT(*)', '2', '0', '-1', total])}", f"ROUND({total}, 1)"])  # fmt: skip

    def condition(self):
        return self.pick(CONDITIONS) if self.rng.random() < 0.4 else self.expression(2)

    def statement(self):
        parts = [f"SELECT {', '.join(self.output() for _ in range(self.rng.randint(1, 3)))} FROM {self.pick(FROMS)}"]
        for chance, clause in (
            (0.4, lambda: f"WHERE {self.condition()}"),
            (0.4, lambda: f"GROUP BY {self.pick(['ward', 'v.ward', 'w.floor', 'p.sex', 'ROLLUP (ward)', 'age', 'zip', self.expression(1)])}"),
            (0.2, lambda: f"HAVING {self.output()} > {self.pick(['3', 'COUNT(*)', self.expression(1)])}"),
            (0.2, lambda: f"ORDER BY {self.pick(['1', self.output()])}"),
            (0.1, lambda: f"LIMIT {self.pick(['3', 'x', '-1', '1e3'])}"),
        ):  # fmt: skip
            if self.rng.random() < chance:
                parts.append(clause())
        text = " ".join(parts)
        return text[: self.rng.randint(0, len(text))] if self.rng.random() < 0.05 else text
