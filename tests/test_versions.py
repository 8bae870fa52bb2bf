"""Snapshots and data versions: what is kept on disk, who can read it, and when a changed source is noticed."""

import stat
import time
from functools import partial

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.api.opening import refresh
from discreet.catalog import parse_catalog
from discreet.catalog.catalog_editing import with_bounds
from discreet.errors import AccountFrozen, BadInput, DiscreetError, EngineFailure, SourceChanged
from discreet.ledger import Ledger
from discreet.ledger.chain.verify import verify
from discreet.samples import clinic, write_clinic
from tests.support import commands
from tests.support.inside import exact_groups, read_forever
from tests.support.opening import open_curator
from tests.support.sources import SeededBits

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def config(tmp_path):
    return write_clinic(tmp_path, patients=200, visits=1500)


def ask(config, sql=COUNT, **details):
    with open_curator(config) as curator:
        return curator.ask(sql, **{"epsilon": 0.5, **details})


def test_a_snapshot_is_made_once_and_only_its_owner_can_read_it(config):
    ask(config)
    snapshot = config.parent / "ledger.sqlite.snapshot"
    assert stat.S_IMODE(snapshot.stat().st_mode) == 0o600
    made = snapshot.stat().st_mtime_ns
    ask(config)
    assert snapshot.stat().st_mtime_ns == made
    assert sorted(file.name for file in config.parent.glob("*.new*")) == []


def test_a_deleted_snapshot_is_made_again_with_the_same_rows(config):
    with open_curator(config) as curator:
        before = exact_groups(curator, "SELECT SUM(cost) FROM visits")
    (config.parent / "ledger.sqlite.snapshot").unlink()
    with open_curator(config) as curator:
        assert exact_groups(curator, "SELECT SUM(cost) FROM visits") == before


def test_a_changed_source_is_refused_until_the_owner_refreshes(config):
    first = ask(config)
    pq.write_table(clinic(patients=200, visits=3000, seed=1)["visits"], config.parent / "visits.parquet")
    with pytest.raises(SourceChanged):
        open_curator(config)
    assert refresh(config) == 2
    again = ask(config)
    assert not again.replayed  # the same words, but a question about other data
    assert again.receipt != first.receipt
    ledger = Ledger.open(config.parent / "ledger.sqlite")
    assert ledger.data_version() == 2
    assert ledger.account().spent.epsilon == 1.0  # accounts span versions
    assert verify(ledger).sound
    ledger.close()


def test_a_changed_catalog_makes_a_new_snapshot_of_the_same_version(config):
    with open_curator(config) as curator:
        before = exact_groups(curator, COUNT)[()][0]
    config.write_text(config.read_text().replace("max_rows = 20", "max_rows = 1"))
    with open_curator(config) as curator:
        assert exact_groups(curator, COUNT)[()][0] < before
        assert curator.version == 1


def test_a_snapshot_in_memory_leaves_nothing_behind(config):
    config.write_text(config.read_text().replace('path = "."', 'path = "."\nsnapshot = ":memory:"'))
    ask(config)
    assert not (config.parent / "ledger.sqlite.snapshot").exists()


def test_a_duckdb_file_is_a_source(tmp_path):
    config = write_clinic(tmp_path, patients=200, visits=1500)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        for name, table in clinic(patients=200, visits=1500).items():
            database.register("given", table)
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    config.write_text(config.read_text().replace("max_rows = 20", "max_rows = 2000"))  # every version cuts others
    by_files = exact(config)
    for file in tmp_path.glob("*.parquet"):
        file.unlink()
    config.write_text(config.read_text().replace('path = "."', 'path = "clinic.duckdb"'))
    refresh(config)
    assert exact(config) == by_files


def exact(config):
    with open_curator(config) as curator:
        return exact_groups(curator, "SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward")


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_frames_are_a_source(config, kind):
    import pandas as pd
    import polars as pl

    kinds = {"arrow": lambda t: t, "pandas": pa.Table.to_pandas, "polars": pl.from_arrow}
    frames = {name: kinds[kind](table) for name, table in clinic(patients=200, visits=1500).items()}
    with discreet.open(frames=frames, catalog=config, create_ledger=True) as curator:
        answer = curator.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=5)
    assert [row["ward"] for row in answer.rows] == ["ER", "ICU", "Surgery"]
    assert isinstance(answer.to_pandas(), pd.DataFrame)
    assert isinstance(answer.to_polars(), pl.DataFrame)
    with pytest.raises(BadInput):
        discreet.open(frames={"strangers": frames["visits"]}, catalog=config)
    with pytest.raises(BadInput):
        discreet.open(frames={"visits": frames["visits"]}, catalog=config)


def test_the_engine_reads_nothing_but_its_snapshot_and_cannot_be_opened_again(config):
    with open_curator(config) as curator:
        connection = curator._engine._data
        for sql in (
            "SELECT * FROM read_csv('/etc/passwd')",
            f"SELECT * FROM '{config.parent}/visits.parquet'",
            f"ATTACH '{config.parent}/other.duckdb'",
            f"COPY data.visits TO '{config.parent}/out.csv'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET lock_configuration = false",
            "SET memory_limit = '100GB'",
            "CREATE TABLE data.t (x INTEGER)",
            "DELETE FROM data.visits",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(sql).fetchall()
        assert not (config.parent / "out.csv").exists()


def test_a_question_that_takes_too_long_is_stopped_costs_its_price_and_freezes_the_analyst(config, monkeypatch):
    config.write_text(config.read_text() + "\n[engine]\nseconds = 1\n")
    with open_curator(config) as curator:
        read_forever(curator, monkeypatch)
        began = time.monotonic()
        with pytest.raises(EngineFailure) as caught:
            curator.as_analyst("alice").ask(COUNT, epsilon=0.5)
        assert time.monotonic() - began < 60
        assert (
            str(caught.value)
            == "The engine could not answer. The query was charged. Report this to the owner of the data."
        )
        monkeypatch.undo()
        assert curator.ledger.account("alice").spent.epsilon == 0.5
        with pytest.raises(AccountFrozen):
            curator.as_analyst("alice").ask("SELECT COUNT(*) FROM patients", epsilon=0.5)
        again = curator.as_analyst("alice").explain(COUNT, epsilon=0.5)
        assert (again.pays, again.beyond) == ((), ("alice",))  # paid for, and kept back
        assert curator.explain(COUNT, epsilon=0.5).beyond == ()  # nobody else is stopped
        curator.ledger.freeze("alice", frozen=False)
        assert curator.as_analyst("alice").ask("SELECT COUNT(*) FROM patients", epsilon=0.5).rows


def test_a_row_of_a_path_that_reaches_two_people_belongs_to_both(tmp_path):
    (tmp_path / "visits.csv").write_text("person,visit\n1,7\n2,7\n2,8\n,9\n")
    (tmp_path / "notes.csv").write_text("visit,score\n7,1\n8,2\n9,3\n10,4\n")
    config = tmp_path / "discreet.toml"
    config.write_text(
        '[source]\npath = "."\n[budget]\nepsilon = 9\n'
        '[tables.visits]\nprivacy_unit = "person"\nmax_rows = 5\ncolumns.person = { type = "integer" }\n'
        'columns.visit = { type = "integer" }\n[tables.notes]\nmax_rows = 5\n'
        'privacy_unit = { column = "visit", references = "visits.visit" }\n'
        'columns.visit = { type = "integer" }\ncolumns.score = { type = "integer", lower = 0, upper = 9 }\n'
    )
    with open_curator(config) as curator:
        # 7 twice, 8 once; nobody's 9 and 10 are dropped
        assert exact_groups(curator, "SELECT COUNT(*), SUM(score) FROM notes") == {(): (3, 4)}


def test_the_order_of_rows_and_newcomers_change_nobody_elses_rows(config):
    """Everybody keeps the same rows when rows are shuffled and when a person is put in front."""
    tables = clinic(patients=60, visits=3000)

    def kept(visits):
        with discreet.open(frames={**tables, "visits": visits}, catalog=config, create_ledger=True) as curator:
            rows = curator._engine._data.execute("SELECT c1, c2, c3, c4, r FROM data.visits ORDER BY ALL")
            return [row for row in rows.fetchall() if row[0] != 10**6]

    visits = tables["visits"]
    backwards = visits.take(list(reversed(range(visits.num_rows))))
    newcomer = visits.slice(0, 30).set_column(0, "patient_id", pa.array([10**6] * 30))
    assert kept(visits) == kept(backwards) == kept(pa.concat_tables([newcomer, visits]))


def test_the_command_line_refreshes_imports_and_estimates(config):
    run = partial(commands.run, cwd=config.parent)
    run_apart = partial(commands.run_apart, cwd=config.parent)
    run("ledger", "new")
    run("ask", COUNT, "--epsilon", "0.5")
    pq.write_table(clinic(patients=200, visits=3000, seed=1)["visits"], config.parent / "visits.parquet")
    assert "source-changed" in run("ask", COUNT, "--epsilon", "0.5", code=3)
    assert "data version 2" in run("refresh")
    assert "±" in run(
        "ask", "SELECT COUNT(*) AS n FROM visits WHERE cost > :least", "--param", "least=100", "--epsilon", "0.5"
    )
    assert "Gaussian" in run("explain", COUNT, "--epsilon", "0.5", "--mechanism", "gaussian")
    without_bounds_of_cost(config)
    assert "wrote lower = " in run_apart("estimate-bounds", "visits", "cost", "--epsilon", "1")
    assert "# bounds: estimated with ε 1 on data version 2" in config.read_text()
    assert "±" in run("ask", "SELECT SUM(cost) AS s FROM visits", "--epsilon", "0.5")
    (config.parent / "meta.yaml").write_text(
        "Clinic:\n  public:\n    visits:\n      id: {type: int, private_id: true}\n      cost: {type: float, lower: 0, upper: 9}\n"
    )
    assert "wrote new.toml" in run_apart("import", "meta.yaml", "--output", "new.toml")
    assert 'privacy_unit = "id"' in (config.parent / "new.toml").read_text()


def without_bounds_of_cost(config):
    config.write_text(config.read_text().replace(", lower = 0, upper = 10000", ""))
    return config


def test_estimated_bounds_hold_the_values_and_are_paid_for(config):
    without_bounds_of_cost(config)
    with open_curator(config) as curator:
        before = curator.ledger.account().spent.epsilon
        curator._pipeline._bits = SeededBits("bounds")
        low, high = curator.estimate_bounds("visits", "cost", epsilon=2).bounds
        assert curator.ledger.account().spent.epsilon == before + 2
    assert 0 <= low <= 1024
    assert 2048 <= high <= 65536
    text = with_bounds(
        config.read_text(),
        table="visits",
        column="cost",
        bounds=(low, high),
        source="us",
    )
    assert parse_catalog(text).tables["visits"].columns["cost"].upper == high


def test_bounds_of_hardly_anything_are_not_found(tmp_path):
    config = without_bounds_of_cost(write_clinic(tmp_path, patients=3, visits=3))
    with open_curator(config) as curator:
        assert curator.estimate_bounds("visits", "cost", epsilon=0.5).bounds is None


def test_ids_that_would_be_cut_or_rounded_belong_to_nobody(tmp_path):
    (tmp_path / "t.csv").write_text("person,x\n1,1\n1.5,1\n2,1\n2.0,1\nnobody,1\n99999999999999999999,1\n")
    (tmp_path / "s.csv").write_text(f"name,x\nann,1\n{'b' * 300},1\n{'b' * 256},1\n")
    config = tmp_path / "discreet.toml"
    for table, person, kind, kept in (("t", "person", "integer", 3), ("s", "name", "text", 2)):
        config.write_text(
            f'[source]\npath = "."\nsnapshot = ":memory:"\n[ledger]\npath = "{table}.sqlite"\n[budget]\nepsilon = 9\n[tables.{table}]\n'
            f'privacy_unit = "{person}"\nmax_rows = 5\ncolumns.{person} = {{ type = "{kind}" }}\n'
        )
        with open_curator(config) as curator:
            assert exact_groups(curator, f"SELECT COUNT(*) FROM {table}") == {(): (kept,)}


def test_people_are_named_by_one_type_in_all_tables(config):
    config.write_text(
        config.read_text()
        .replace("columns.patient_id = { type", "columns.patient_id  = { type", 1)
        .replace('columns.patient_id = { type = "integer" }', 'columns.patient_id = { type = "text" }')
    )
    with pytest.raises(DiscreetError, match="another type"):
        open_curator(config)
