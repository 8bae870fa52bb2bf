"""The generator of SQL writes what DuckDB accepts, mostly: else it would test nothing but refusals."""

import duckdb

from tests.reference.random_sql import TABLES, Texts

_SQL = {"person": "BIGINT", "i": "BIGINT", "t": "VARCHAR", "r": "DOUBLE", "b": "BOOLEAN", "d": "DATE"}


def accepted(texts):
    connection = duckdb.connect()
    for name, columns in TABLES.items():
        connection.execute(
            f"CREATE TABLE {name} ({', '.join(f'{column} {_SQL[kind]}' for column, kind in columns.items())})"
        )
    for text in texts:
        try:
            connection.execute(text)
        except duckdb.Error:
            yield False
        else:
            yield True


def test_nine_of_ten_statements_are_legal_sql():
    texts = Texts(1)
    answers = list(accepted(texts.statement() for _ in range(200)))
    assert sum(answers) >= 0.9 * len(answers)


def test_a_seed_gives_the_same_statements_again():
    first, second = Texts(5), Texts(5)
    assert [first.statement() for _ in range(20)] == [second.statement() for _ in range(20)]
    assert Texts(6).statement() != Texts(5).statement()


def test_every_construct_is_written_now_and_then():
    texts = Texts(2, traps=0.2)
    written = " ".join(texts.statement() for _ in range(500))
    for part in (
        "UNION ALL",
        "EXCEPT",
        "INTERSECT",
        "DISTINCT ON",
        "EXISTS",
        "WITH visits AS",
        "FULL JOIN",
        "ROLLUP",
        "GROUPING SETS",
        "FILTER",
        "OVER (PARTITION",
        '"or"',
        "% 2 AS",
        "HAVING",
        "/* FROM",
    ):
        assert part in written, part
