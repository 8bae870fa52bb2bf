"""What has another format number is refused by name, and nothing of it is changed."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from discreet.errors import (
    BadCatalog,
    BadRelease,
    BadTask,
    LedgerDamaged,
    NoAccess,
    SourceChanged,
    WrongFormat,
    WrongVersion,
)
from discreet.local import ClientRefused
from tests.stored_formats import adapter
from tests.stored_formats.test_stored_formats import DEVICES, EXAMPLES, LEDGER, config, example, ledger_path, secret

__all__ = ["config", "ledger_path", "secret"]

NOW = 20_000 * 86_400.0


def contents(folder):
    """All files below a folder with what is in them; of a SQLite database its rows."""
    return {
        path.relative_to(folder): adapter.dump(path) if path.suffix == ".sqlite" else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def edit(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, values).rowcount == 1


def open_all(config):
    """The ledger by itself, and behind a curator."""
    with adapter.ledger_at(config.parent / "ledger.sqlite") as ledger:
        ledger.totals()
    with adapter.curator_of(config):
        pass


@pytest.mark.parametrize("version", [1, 10, 12])
def test_tables_of_a_ledger(config, ledger_path, version):
    edit(ledger_path, "UPDATE schema_versions SET version = ? WHERE component = 'ledger'", version)
    before = contents(config.parent)
    with pytest.raises(WrongFormat):
        open_all(config)
    assert contents(config.parent) == before


@pytest.mark.parametrize("number", [7, 9])
def test_a_checkpoint(config, ledger_path, secret, number):
    with closing(sqlite3.connect(ledger_path)) as connection:
        ((state,),) = connection.execute("SELECT state FROM ledger_checkpoint")
    facts = json.loads(state)
    assert facts["format"] == 8
    state = adapter.canonical_json({**facts, "format": number})
    signed = adapter.signature_of_checkpoint(state, secret)
    edit(ledger_path, "UPDATE ledger_checkpoint SET state = ?, signature = ?", state, signed)
    before = contents(config.parent)
    with pytest.raises(WrongFormat):
        open_all(config)
    assert contents(config.parent) == before


@pytest.mark.parametrize("note", ["{} {}", "{} {} sealed twice", "{} {} unsealed"])
def test_an_anchor(config, ledger_path, note):
    anchor = Path(f"{ledger_path}.anchor")
    number, digest, _ = anchor.read_text().split()
    anchor.write_text(note.format(number, digest))
    before = contents(config.parent)
    with pytest.raises(LedgerDamaged, match="cannot be read"):
        open_all(config)
    assert contents(config.parent) == before


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("charge", {"prices": 1}),
        ("charge", {"prices": 3}),
        ("step", {"salted": None, "cost": None, "sha256": "0" * 64, "paid": None}),
        ("cap", {"by": None}),
    ],
)
def test_entries_of_another_form(config, ledger_path, secret, kind, change):
    adapter.change_first_entry(ledger_path, secret, kind, change)
    Path(f"{ledger_path}.anchor").unlink()
    adapter.write_anchor_of(ledger_path)
    before = contents(config.parent)
    with pytest.raises(LedgerDamaged):
        open_all(config)
    assert contents(config.parent) == before


@pytest.mark.parametrize("form", ["", "2:", "4:"])
def test_the_fingerprint_of_a_source(config, ledger_path, secret, form):
    def rewritten(body):
        return {**body, "source": form + body["source"].removeprefix("3:")}

    adapter.change_entries(ledger_path, secret, "source", rewritten)
    Path(f"{ledger_path}.anchor").unlink()
    adapter.write_anchor_of(ledger_path)
    before = contents(config.parent)
    with pytest.raises(SourceChanged):
        open_all(config)
    assert contents(config.parent) == before


def test_the_proof_of_a_key(ledger_path, secret):
    adapter.change_entries(ledger_path, secret, "key", lambda body: {**body, "proof": body["proof"][6:]})
    Path(f"{ledger_path}.anchor").unlink()
    adapter.write_anchor_of(ledger_path)
    with pytest.raises(NoAccess):
        adapter.holder_of_key(ledger_path, LEDGER["key"])


@pytest.mark.parametrize("number", [1, 3])
def test_a_stored_answer(number):
    table = pa.ipc.open_stream(bytes.fromhex(LEDGER["answers"][0]["stored"])).read_all()
    assert table.schema.metadata[b"format"] == b"2"
    other = table.replace_schema_metadata({**table.schema.metadata, b"format": str(number)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, other.schema) as writer:
        writer.write_table(other)
    with pytest.raises(WrongFormat):
        adapter.rewrite_answer(sink.getvalue().to_pybytes())


@pytest.mark.parametrize("number", [1, 3])
def test_a_transcript(number):
    for stored in example("transcripts.json"):
        line, _, rest = bytes.fromhex(stored["bytes"]).partition(b"\n")
        assert line.endswith(b'"transcript":2}')
        with pytest.raises(WrongFormat):
            adapter.rewrite_transcript(line[:-2] + b"%d}" % number + b"\n" + rest)


@pytest.mark.parametrize("number", [0, 2])
def test_a_release_file(number):
    content = (EXAMPLES / "rows.release").read_bytes()
    with pytest.raises(BadRelease, match="another version"):
        adapter.rewrite_release(content.replace(b"discreet-release 1 ", b"discreet-release %d " % number, 1))


@pytest.mark.parametrize("number", [5, 7])
def test_a_snapshot(config, number):
    facts = example("snapshot_header.json")
    adapter.write_snapshot(config, salt=facts["salt"], version=facts["version"])
    snapshot = config.parent / "ledger.sqlite.snapshot"
    header = json.loads(adapter.snapshot_header(config))
    with duckdb.connect(str(snapshot)) as connection:
        connection.execute('UPDATE "$snapshot" SET facts = ?', [json.dumps({**header, "format": number})])
    shutil.rmtree(config.parent / "ledger.sqlite.snapshot.tmp", ignore_errors=True)
    before = contents(config.parent)
    with pytest.raises(WrongFormat):
        open_all(config)
    assert contents(config.parent) == before


@pytest.mark.parametrize("version", [1, 2, 4])
@pytest.mark.parametrize("component", ["collections", "intake"])
def test_tables_of_a_collector(tmp_path, component, version):
    path = tmp_path / "reports.sqlite"
    adapter.restore((EXAMPLES / "collector.sql").read_text(encoding="utf-8"), path)
    edit(path, "UPDATE schema_versions SET version = ? WHERE component = ?", version, component)
    before = contents(tmp_path)
    with pytest.raises(WrongFormat):
        adapter.tallies_in(path, now=NOW)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("component", ["shuffler", "saved"])
def test_tables_of_a_shuffler_and_of_saved_queries(tmp_path, component):
    path = tmp_path / "it.sqlite"
    begin = {"shuffler": adapter.begin_shuffler, "saved": adapter.begin_saved_queries}[component]
    begin(path)
    edit(path, "UPDATE schema_versions SET version = version + 1 WHERE component = ?", component)
    before = contents(tmp_path)
    with pytest.raises(WrongFormat):
        begin(path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("version", [0, 2])
def test_a_message_of_a_device(version):
    for device in DEVICES:
        message = bytes.fromhex(device["messages"][0]["bytes"])
        with pytest.raises(WrongVersion):
            adapter.decode_message(device["task"], bytes([version]) + message[1:])


@pytest.mark.parametrize("version", [0, 2, "1"])
def test_a_task(version):
    for device in DEVICES:
        with pytest.raises(BadTask):
            adapter.task_facts(json.dumps({**json.loads(device["task"]), "version": version}))


@pytest.mark.parametrize("version", [2, 4])
def test_the_store_of_a_device(tmp_path, version):
    store = tmp_path / "device.json"
    store.write_text(json.dumps({**example("device_store.json"), "version": version}))
    before = store.read_bytes()
    with pytest.raises(ClientRefused) as refused:
        adapter.copy_device_store(store, tmp_path / "copy.json")
    assert refused.value.code == "bad-store"
    assert (store.read_bytes(), (tmp_path / "copy.json").exists()) == (before, False)


@pytest.mark.parametrize("version", [0, 2])
def test_a_catalog(config, version):
    config.write_text(f"version = {version}\n{config.read_text()}")
    before = contents(config.parent)
    with pytest.raises(BadCatalog):
        open_all(config)
    assert contents(config.parent) == before
