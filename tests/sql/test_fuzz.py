"""Statements nobody would write: an answer or a refusal by name, a refusal is free, and the engine never fails."""

import random

import pytest

from discreet.curator import open_curator
from discreet.errors import DiscreetError
from discreet.samples import write_clinic

COLUMNS = ["cost", "ward", "date", "patient_id", "1", "'ER'", "NULL", "1e5", ".5", "true", "v.cost", "w.floor", "p.age"]
STRANGE = ["*", "(SELECT 1)", "COUNT(*)", "random()", "$1", '"$owner"', "\\"]
OPERATORS = ["+", "-", "*", "/", "%", "=", "<>", "<", ">=", "AND", "OR", "IN", "LIKE", "IS", "||"]
FUNCTIONS = ["ABS", "COALESCE", "ROUND", "FLOOR", "LENGTH", "LOWER", "YEAR", "GREATEST", "NOT", "-", "MAX"]
FROMS = [
    "visits",
    "visits v",
    "visits v JOIN wards w ON v.ward = w.ward",
    "visits v LEFT JOIN wards w USING (ward)",
    "visits v JOIN patients p ON v.patient_id = p.patient_id",
    "patients p",
    "wards w",
]


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
        total = f"{self.pick(['SUM', 'AVG', 'COUNT', 'COUNT'])}({self.pick(['cost', 'cost', self.expression(2)])})"
        return self.pick(
            [total, "COUNT(*)", f"{total} {self.pick(OPERATORS[:9])} {self.pick(['COUNT(*)', '2', '0', total])}"]
        )

    def statement(self):
        parts = [f"SELECT {', '.join(self.output() for _ in range(self.rng.randint(1, 3)))} FROM {self.pick(FROMS)}"]
        for chance, clause in (
            (0.4, lambda: f"WHERE {self.expression(2)}"),
            (0.4, lambda: f"GROUP BY {self.pick(['ward', 'v.ward', 'w.floor', 'p.sex', self.expression(1)])}"),
            (0.2, lambda: f"HAVING {self.output()} > {self.pick(['3', 'COUNT(*)', self.expression(1)])}"),
            (0.2, lambda: f"ORDER BY {self.pick(['1', self.output()])}"),
            (0.1, lambda: f"LIMIT {self.pick(['3', 'x', '-1', '1e3'])}"),
        ):
            if self.rng.random() < chance:
                parts.append(clause())
        text = " ".join(parts)
        return text[: self.rng.randint(0, len(text))] if self.rng.random() < 0.05 else text


def fuzz(curator, *, statements, seed):
    """How often each thing happened."""
    writer, seen = Writer(seed), {}
    for _ in range(statements):
        sql = writer.statement()
        before = curator.ledger.account().total
        try:
            answer = curator.ask(sql, epsilon=0.1, delta=1e-12)
            assert answer._repr_html_()
            assert len(answer.intervals(0.9)) == len(answer.rows)
            code = "answered"
        except DiscreetError as refusal:
            code = refusal.code
            assert curator.ledger.account().total == before, sql
            assert code != "engine-failure", sql
        seen[code] = seen.get(code, 0) + 1
    return seen


@pytest.mark.slow
def test_any_statement_is_answered_or_refused_by_name_and_a_refusal_is_free(tmp_path):
    catalog = write_clinic(tmp_path, patients=200, visits=1000)
    catalog.write_text(catalog.read_text().replace("epsilon = 5.0", "epsilon = 1e6"))
    with open_curator(catalog) as curator:
        seen = fuzz(curator, statements=1500, seed=11)
    assert seen["answered"] > 100
    assert set(seen) - {"answered"} <= {
        "not-allowed",
        "unknown-name",
        "unparsable",
        "needs-bounds",
        "needs-delta",
        "too-large",
    }


@pytest.mark.parametrize("condition", ["date", "ward", "cost", "NULL"])
def test_a_condition_that_is_no_truth_value_never_fails_in_the_engine(tmp_path, condition):
    with open_curator(write_clinic(tmp_path, patients=50, visits=200)) as curator:
        plan = curator.plan(f"SELECT COUNT(*) FROM visits WHERE {condition}", epsilon=0.1)
        assert len(curator._engine.run(plan).groups) == 1
