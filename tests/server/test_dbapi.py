"""The client as a database: PEP 249, SQLAlchemy and pandas.read_sql, against a running server."""

import datetime
import tomllib
from contextlib import ExitStack, closing
from pathlib import Path

import pandas
import pytest

from discreet.integrations import dbapi

WARDS = "SELECT ward, COUNT(*) AS n, MEDIAN(date) AS d FROM visits GROUP BY ward ORDER BY ward"
COLUMNS = ["ward", "n", "n_low", "n_high", "d", "d_low", "d_high"]


@pytest.fixture
def connect():
    """dbapi.connect, and all of it closed afterwards."""
    with ExitStack() as stack:
        yield lambda *given, **named: stack.enter_context(closing(dbapi.connect(*given, **named)))


@pytest.fixture
def connection(server, connect):
    return connect(server.url, key=server.alice, epsilon=0.05)


def test_an_answer_is_rows_with_the_ends_of_their_intervals(connection):
    cursor = connection.cursor()
    assert cursor.execute(WARDS) is cursor
    assert [column[0] for column in cursor.description] == COLUMNS
    assert [column[1] for column in cursor.description] == [dbapi.STRING, *[dbapi.NUMBER] * 3, *[dbapi.DATETIME] * 3]
    assert all(len(column) == 7 for column in cursor.description)
    first, second, *rest = [cursor.fetchone(), *cursor.fetchmany(1), *cursor.fetchall()]
    assert [row[0] for row in (first, second, *rest)] == ["ER", "ICU", "Surgery"]
    assert cursor.rowcount == 3
    assert cursor.fetchone() is None
    assert first[2] <= first[1] <= first[3]
    assert isinstance(first[1], int)
    assert isinstance(first[4], datetime.date)
    assert first[5] <= first[4] <= first[6]


def test_parameters_are_named_or_in_order(connection):
    named = connection.cursor().execute("SELECT COUNT(*) AS n FROM visits WHERE ward = :w", {"w": "ER"}).fetchall()
    placed = connection.cursor().execute("SELECT COUNT(*) AS n FROM visits WHERE ward = ?", ["ER"]).fetchall()
    assert named == placed  # the same question: free, and the same answer


def test_no_statement_has_a_price_that_nobody_named(server, connect):
    unpriced = connect(server.url, key=server.alice)
    with pytest.raises(dbapi.ProgrammingError) as caught:
        unpriced.cursor().execute("SELECT COUNT(*) AS n FROM visits")
    assert caught.value.code == "bad-epsilon"
    spent = unpriced.curator.budget()
    for text in ("/* epsilon=0.02 */ SELECT COUNT(*) AS n FROM visits", "-- epsilon: 0.02\nSELECT COUNT(*) AS n FROM visits",
                 "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.02) COUNT(*) AS n FROM visits"):  # fmt: skip
        unpriced.cursor().execute(text)
    more = [after.spent.epsilon - before.spent.epsilon for before, after in zip(spent, unpriced.curator.budget(), strict=True)]  # fmt: skip
    assert more == pytest.approx([0.02] * len(more))  # one question, three times
    with pytest.raises(dbapi.ProgrammingError, match="not a number"):
        unpriced.cursor().execute("/* epsilon=much */ SELECT COUNT(*) AS n FROM visits")


def test_errors_are_those_of_the_standard_and_keep_their_codes(connection, server, connect):
    for sql, kind, code in (
        ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward", dbapi.ProgrammingError, "joins-people"),
        ("SELECT COUNT(*) AS n FROM nowhere", dbapi.ProgrammingError, "unknown-name"),
        ("DELETE FROM visits", dbapi.ProgrammingError, None),
        ("/* epsilon=400 */ SELECT COUNT(*) FROM visits", dbapi.OperationalError, "budget-exceeded"),
    ):
        with pytest.raises(kind) as caught:
            connection.cursor().execute(sql)
        assert code in (None, caught.value.code)
        assert caught.value.next_step
        assert isinstance(caught.value, dbapi.Error)
    with pytest.raises(dbapi.OperationalError):
        connect(server.url, key="dk_nobody", epsilon=1).cursor().execute("SELECT COUNT(*) FROM visits")
    with pytest.raises(dbapi.OperationalError, match="did not answer"):
        connect("http://127.0.0.1:9", key="dk_nobody", epsilon=1).cursor().execute("SELECT COUNT(*) FROM visits")
    with pytest.raises(dbapi.NotSupportedError):
        connection.cursor().executemany(WARDS, [])
    with pytest.raises(dbapi.InterfaceError):
        connection.cursor().fetchall()


def test_a_key_comes_from_the_environment_or_not_at_all(server, connect, monkeypatch):
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    with pytest.raises(dbapi.InterfaceError, match="DISCREET_KEY"):
        dbapi.connect(server.url)
    monkeypatch.setenv("DISCREET_KEY", server.alice)
    assert connect(server.url).catalog().tables


@pytest.fixture
def engine(server):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    sqlalchemy.dialects.registry.register("discreet", "discreet.integrations.sqlalchemy_dialect", "DiscreetDialect")
    made = sqlalchemy.create_engine(
        f"discreet://:{server.alice}@127.0.0.1:{server.port}/?epsilon=0.05", pool_pre_ping=True
    )
    yield made
    made.dispose()


def test_pandas_reads_an_answer_with_its_ends(engine):
    frame = pandas.read_sql(WARDS, engine)
    assert list(frame.columns) == COLUMNS
    assert (frame["n_low"] <= frame["n"]).all()
    assert frame.equals(pandas.read_sql(WARDS, engine))  # replayed
    assert list(pandas.read_sql_query(WARDS, engine, params=None)["ward"]) == ["ER", "ICU", "Surgery"]


def test_the_catalog_is_what_sqlalchemy_sees(engine):
    import sqlalchemy

    inspector = sqlalchemy.inspect(engine)
    assert set(inspector.get_table_names()) == {"patients", "visits", "wards"}
    assert inspector.has_table("visits")
    assert not inspector.has_table("nothing")
    kinds = {column["name"]: type(column["type"]) for column in inspector.get_columns("visits")}
    assert kinds["cost"] is sqlalchemy.Float
    assert kinds["date"] is sqlalchemy.Date
    assert kinds["ward"] is sqlalchemy.String
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    assert inspector.get_foreign_keys("visits") == inspector.get_indexes("visits") == inspector.get_view_names() == []
    with pytest.raises(sqlalchemy.exc.NoSuchTableError):
        inspector.get_columns("nothing")


def test_statements_that_sqlalchemy_writes_are_questions_too(engine):
    import sqlalchemy as sa

    visits = sa.Table("visits", sa.MetaData(), autoload_with=engine)
    counted = (
        sa.select(visits.c.ward, sa.func.count().label("n"), sa.func.avg(visits.c.cost).label("m"))
        .where(visits.c.date > datetime.date(2021, 1, 1))
        .group_by(visits.c.ward)
    )
    with engine.connect() as held:
        rows = held.execute(counted).mappings().all()
        assert {row["ward"] for row in rows} == {"ER", "ICU", "Surgery"}
        assert all(row["m_low"] <= row["m"] <= row["m_high"] for row in rows)
        with pytest.raises(sa.exc.ProgrammingError, match="SELECT"):
            held.execute(sa.text("DROP TABLE visits"))


def test_the_price_of_one_statement_is_an_execution_option(server, engine):
    import sqlalchemy as sa

    free = sa.create_engine(f"discreet://:{server.alice}@127.0.0.1:{server.port}/")
    query = sa.text("SELECT COUNT(*) AS n FROM visits WHERE cost > 17")
    with free.connect() as held:
        with pytest.raises(sa.exc.ProgrammingError, match="epsilon"):
            held.execute(query)
        held.rollback()
        wide = held.execute(query, execution_options={"epsilon": 0.01}).one()
        near = held.execute(query, execution_options={"epsilon": 0.1}).one()
    assert wide.n_high - wide.n_low == pytest.approx(10 * (near.n_high - near.n_low), rel=0.02)
    free.dispose()


def test_an_address_says_whom_to_ask_and_machines_elsewhere_are_asked_by_https():
    sqlalchemy = pytest.importorskip("sqlalchemy")
    from discreet.integrations.sqlalchemy_dialect import DiscreetDialect

    def args(text):
        return DiscreetDialect().create_connect_args(sqlalchemy.make_url(text))

    assert args("discreet://:k@localhost:8000/?epsilon=0.5") == (
        ["http://localhost:8000"],
        {"key": "k", "epsilon": 0.5},
    )
    assert args("discreet://:k@data.example/?level=0.9") == (["https://data.example"], {"key": "k", "level": 0.9})
    assert args("discreet://data.example:80/?tls=false") == (["http://data.example:80"], {"key": None})
    assert args("discreet://[::1]:8000/") == (["http://[::1]:8000"], {"key": None})
    for wrong in (
        "discreet://localhost/?epsilonn=1",
        "discreet:///",
        "discreet://h/?epsilon=much",
        "discreet://h/?tls=perhaps",
    ):
        with pytest.raises(sqlalchemy.exc.ArgumentError):
            args(wrong)


def test_sqlalchemy_finds_the_dialect_by_its_name():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["sqlalchemy.dialects"] == {
        "discreet": "discreet.integrations.sqlalchemy_dialect:DiscreetDialect"
    }
