"""A source that moves: noticed however little of it shows, never half copied, and no data version is begun for what cannot be read."""

import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.api import opening
from discreet.api.opening import refresh
from discreet.catalog import load_catalog
from discreet.engines import fingerprint_source, location_of
from discreet.errors import BadCatalog, SourceChanged, SourceUnsteady
from discreet.ledger import Ledger
from discreet.samples import write_clinic
from tests.ledger.asking import a_ledger
from tests.support.opening import open_curator, start_ledger

VISITS = "visits.parquet"


@pytest.fixture
def config(tmp_path):
    made = write_clinic(tmp_path / "clinic", patients=50, visits=400)
    made.write_text(made.read_text().replace("epsilon = 5.0", "epsilon = 1e6"))
    return made


def halve(config):
    rows = pq.read_table(config.parent / VISITS)
    pq.write_table(rows.slice(0, rows.num_rows // 2), config.parent / VISITS)
    return rows.num_rows // 2


def written_with_its_time_set_back(file):
    """The same size and time, other bytes."""
    before, known = file.read_bytes(), file.stat()
    with file.open("r+b") as opened:
        opened.write(bytes(reversed(before)))
    os.utime(file, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (known.st_size, known.st_mtime_ns)


def swapped_for_another_folder(file):
    """What the catalog names is a link, and now leads to a file that looks the same from outside."""
    folder, other = file.parent, file.parent.with_name("other")
    shutil.copytree(folder, other)
    written_with_its_time_set_back(other / file.name)
    folder.rename(folder.with_name("first"))
    folder.symlink_to(other)


@pytest.mark.parametrize("change", [written_with_its_time_set_back, swapped_for_another_folder])
def test_another_file_of_the_same_name_size_and_time_is_noticed(config, change):
    with open_curator(config):
        pass
    size_and_time = stat_of(config.parent / VISITS)
    change(config.parent / VISITS)
    assert stat_of(config.parent / VISITS) == size_and_time
    with pytest.raises(SourceChanged, match="discreet refresh"):
        open_curator(config)


def stat_of(file):
    return file.name, file.stat().st_size, file.stat().st_mtime_ns


@pytest.mark.parametrize("ending", [".wal", "-wal"])
def test_what_a_database_has_not_put_into_its_file_yet_counts(tmp_path, ending):
    config = tmp_path / "discreet.toml"
    config.write_text('[source]\npath = "it.duckdb"\n[budget]\nepsilon = 1\n[tables.t]\npublic = true\n')
    (tmp_path / "it.duckdb").write_bytes(b"whatever")
    catalog = load_catalog(config)
    before, log = standing(catalog), tmp_path / f"it.duckdb{ending}"
    log.touch()
    assert standing(catalog) == before, "an empty one says nothing"
    log.write_bytes(b"more")
    assert not set(standing(catalog)) & set(before)


def standing(catalog):
    return location_of(catalog), fingerprint_source(catalog).content


def test_files_that_were_put_back_or_are_a_copy_elsewhere_are_the_same_source(config):
    with open_curator(config) as curator:
        answer = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    visits, kept = config.parent / VISITS, config.parent / "kept"
    shutil.copy(visits, kept)
    visits.write_bytes(b"no parquet")
    with pytest.raises(SourceChanged):
        open_curator(config)
    shutil.copy(kept, visits)
    os.chmod(visits, 0o600)
    config.parent.rename(config.parent.with_name("moved"))
    with open_curator(config.parent.with_name("moved") / config.name) as curator:
        assert curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).rows == answer.rows


@pytest.mark.parametrize("is_snapshot_kept", [True, False])
def test_files_that_change_their_tables_are_another_source_and_tables_that_change_their_order_are_not(
    tmp_path, is_snapshot_kept
):
    config = tmp_path / "discreet.toml"
    for name, people in (("few", 100), ("many", 5000)):
        pq.write_table(pa.table({"p": range(people)}), tmp_path / f"{name}.parquet")

    def declare(**files):
        tables = "".join(
            f'[tables.{table}]\nprivacy_unit = "p"\npath = "{file}.parquet"\ncolumns.p = {{ type = "integer" }}\n'
            for table, file in files.items()
        )
        config.write_text(f'[source]\npath = "."\n[ledger]\npath = "l.sqlite"\n[budget]\nepsilon = 9\n{tables}')
        if not is_snapshot_kept:
            (tmp_path / "l.sqlite.snapshot").unlink(missing_ok=True)

    for files in ({"one": "few", "two": "many"}, {"two": "many", "one": "few"}):
        declare(**files)
        with open_curator(config) as curator:
            assert curator.version == 1
    declare(two="few", one="many")
    with pytest.raises(SourceChanged):
        open_curator(config)


def test_what_is_in_a_source_is_read_once_and_not_at_every_opening(config, monkeypatch):
    with open_curator(config):
        pass
    monkeypatch.setattr("discreet.engines.sources.source_fingerprint._content", lambda _: pytest.fail("read again"))
    with open_curator(config):
        pass


@pytest.fixture
def ledger(tmp_path):
    made = a_ledger(str(tmp_path / "ledger.sqlite"))
    yield made
    made.close()


@pytest.mark.parametrize("snapshot", ["file", ":memory:"])
def test_a_source_that_changes_while_it_is_copied_is_copied_again_whole(config, snapshot, caplog):
    if snapshot == ":memory:":
        config.write_text(config.read_text().replace("[source]", '[source]\nsnapshot = ":memory:"'))
    rows = []

    def tell(_name, _at, of):
        if not rows:
            rows.append(halve(config))

    with open_curator(config, tell=tell) as curator:
        counted = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1000).rows[0]["n"]
        assert counted <= rows[0] + 1
        assert "copied once more" in caplog.text
        assert [entry.kind for entry in curator.ledger.history()].count("source") == 1
    with open_curator(config) as again:
        assert again.version == 1


@pytest.mark.parametrize("act", [open_curator, refresh])
def test_a_source_that_never_stands_still_is_refused_and_nothing_is_written_of_it(config, act):
    place = start_ledger(config)
    times = []

    def tell(_name, at, of):
        if at == of:
            times.append(at)
            os.utime(config.parent / VISITS, (len(times), len(times)))

    with pytest.raises(SourceUnsteady, match="Wait until"):
        act(config, tell=tell)
    ledger = Ledger.open(place)
    assert not {"source", "refresh"} & {entry.kind for entry in ledger.history()}
    ledger.close()
    assert len(times) == (2 if act is open_curator else 4)
    assert not (config.parent / "ledger.sqlite.snapshot").exists()


def test_a_refresh_by_somebody_else_meanwhile_is_followed_and_not_overlooked(config, monkeypatch):
    with open_curator(config):
        pass
    engine, halved = opening.DuckEngine, []

    def slow_engine(*given, **details):
        if not halved:
            halved.append(halve(config))
            refresh(config)
        return engine(*given, **details)

    monkeypatch.setattr(opening, "DuckEngine", slow_engine)
    with open_curator(config) as curator:
        assert curator.version == 2
        answer = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1000)
        assert answer.rows[0]["n"] <= halved[0] + 1


def test_two_who_refresh_at_once_begin_one_version(ledger):
    assert [ledger.refresh(source="a", after=1, by=name) for name in ("one", "other")] == [2, 2]
    with pytest.raises(SourceUnsteady):
        ledger.refresh(source="b", after=1)
    with pytest.raises(SourceUnsteady):
        ledger.record_source("a", version=1)
    assert [entry.kind for entry in ledger.history()].count("refresh") == 1


@pytest.mark.parametrize("anyway", [False, True])
def test_a_refresh_of_what_cannot_be_read_begins_no_data_version(config, anyway):
    with open_curator(config):
        pass
    whole = (config.parent / VISITS).read_bytes()
    (config.parent / VISITS).write_bytes(b"no parquet")
    with pytest.raises(BadCatalog):
        refresh(config, anyway=anyway)
    (config.parent / VISITS).write_bytes(whole)
    assert refresh(config) == 1


def test_books_whose_first_source_could_not_be_read_have_not_noted_it(config):
    whole = (config.parent / VISITS).read_bytes()
    (config.parent / VISITS).write_bytes(b"no parquet")
    start_ledger(config)
    with pytest.raises(BadCatalog):
        open_curator(config)
    (config.parent / VISITS).write_bytes(whole)
    with open_curator(config) as curator:
        assert curator.version == 1
