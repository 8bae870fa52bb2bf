"""Every stored format: the product reads each example, finds in it what was stored, and writes the same bytes again.

The examples and this file do not change. When a module or a name of `discreet` moves, `adapter.py` follows, and nothing
else does.
"""

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.stored_formats import adapter

HERE = Path(__file__).parent
EXAMPLES = HERE / "examples"


def example(name):
    return json.loads((EXAMPLES / name).read_text(encoding="utf-8"))


LEDGER = example("ledger.json")
DEVICES = example("devices.json")
BY_PROTOCOL = pytest.mark.parametrize("device", DEVICES, ids=[device["facts"][3] for device in DEVICES])


@pytest.fixture
def config(tmp_path):
    """The world with its stored ledger, secret and anchor."""
    folder = Path(shutil.copytree(HERE / "world", tmp_path / "world"))
    path = folder / "ledger.sqlite"
    adapter.restore((EXAMPLES / "ledger.sql").read_text(encoding="utf-8"), path)
    for name in ("secret", "anchor"):
        shutil.copyfile(EXAMPLES / f"ledger.{name}", f"{path}.{name}")
        Path(f"{path}.{name}").chmod(0o600)
    return folder / "discreet.toml"


@pytest.fixture
def ledger_path(config):
    return config.parent / "ledger.sqlite"


@pytest.fixture
def secret():
    return (EXAMPLES / "ledger.secret").read_bytes()


def test_no_example_was_changed():
    lines = (HERE / "checksums.txt").read_text(encoding="utf-8").splitlines()
    files = [path for folder in ("world", "examples") for path in (HERE / folder).iterdir()]
    assert len(lines) == len(files)
    for line in lines:
        expected, name = line.split()
        assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == expected, name


# The ledger


def test_a_restored_ledger_is_the_stored_one(ledger_path):
    assert adapter.dump(ledger_path) == (EXAMPLES / "ledger.sql").read_text(encoding="utf-8")


def test_the_ledger_verifies_and_its_accounts_and_keys_are_read(ledger_path):
    with adapter.ledger_at(ledger_path) as ledger:
        assert adapter.problems_of(ledger) == []
        assert adapter.accounts_of(ledger) == LEDGER["accounts"]
        assert adapter.published_names(ledger) == LEDGER["published"] == ["rows"]
    assert LEDGER["accounts"]["analyst:alice"][0] == 1.75
    assert adapter.holder_of_key(ledger_path, LEDGER["key"]) == ["alice", "analyst"]


def test_stored_answers_are_replayed_and_reading_changes_nothing(config, ledger_path):
    assert len(LEDGER["answers"]) == 5
    with adapter.curator_of(config) as curator:
        for stored in LEDGER["answers"]:
            asked = {"epsilon": stored["epsilon"], "analyst": stored["analyst"]}
            found = adapter.recall(curator, stored["sql"], **asked)
            assert found == {name: stored[name] for name in ("stored", "rows", "receipt")}
            assert adapter.rewrite_answer(bytes.fromhex(found["stored"])).hex() == stored["stored"]
    assert adapter.dump(ledger_path) == (EXAMPLES / "ledger.sql").read_text(encoding="utf-8")


def test_a_question_asked_again_under_its_request_id_is_answered_with_the_same_bytes(config, ledger_path):
    with adapter.curator_of(config) as curator:
        for number, stored in enumerate(LEDGER["answers"]):
            asked = {"epsilon": stored["epsilon"], "analyst": stored["analyst"], "request_id": f"request-{number}"}
            assert adapter.ask(curator, stored["sql"], **asked).hex() == stored["stored"]
    assert adapter.dump(ledger_path) == (EXAMPLES / "ledger.sql").read_text(encoding="utf-8")


TABLES = [
    "ledger_entries",
    "ledger_accounts",
    "ledger_requests",
    "ledger_questions",
    "ledger_paid",
    "ledger_checkpoint",
    "schema_versions",
]


def test_the_ledger_is_written_again_row_by_row(ledger_path, tmp_path, secret):
    """Hashes, seals, receipts and the signed checkpoint included."""
    adapter.copy_ledger(ledger_path, tmp_path / "copy.sqlite", secret)
    with closing(sqlite3.connect(ledger_path)) as old, closing(sqlite3.connect(tmp_path / "copy.sqlite")) as new:
        for table in TABLES:
            rows = adapter.rows_of(old, table)
            kept = [row for row in rows if not (table == "schema_versions" and "ledger" not in row)]
            assert kept
            assert adapter.rows_of(new, table) == kept, table
        assert json.loads(json.dumps(adapter.shape_of(new))) == LEDGER["shape"]


def test_the_anchor_is_read_and_written_again(ledger_path, tmp_path):
    assert adapter.noted_in(Path(f"{ledger_path}.anchor")) == LEDGER["head"]
    with adapter.ledger_at(ledger_path) as ledger:
        adapter.write_anchor(tmp_path / "anchor", ledger)
    assert (tmp_path / "anchor").read_bytes() == (EXAMPLES / "ledger.anchor").read_bytes()


# The journal of a run, transcripts and release files


def test_the_steps_of_an_unfinished_run_are_read_and_the_run_is_finished(ledger_path):
    with adapter.ledger_at(ledger_path) as ledger:
        assert [body.hex() for body in adapter.steps_of_run(ledger)] == example("unfinished_run.json")
        assert adapter.finish_run(ledger, b"done") == b"done"
        assert adapter.problems_of(ledger) == []


def test_the_seal_of_a_waiting_step_is_made_again(ledger_path, secret):
    with closing(sqlite3.connect(ledger_path)) as connection:
        waiting = connection.execute("SELECT note, seal FROM ledger_steps WHERE note IS NOT NULL").fetchall()
    assert waiting
    assert all(adapter.seal_of_waiting_step(note, secret) == seal for note, seal in waiting)


def test_every_step_of_the_journal_is_read_and_written_again():
    steps = example("journal.json")
    kinds = {step["facts"][0]["kind"] for step in steps}
    assert {"table", "choice", "guard", "reused", "small", "combination"} <= kinds, kinds
    for step in steps:
        body = bytes.fromhex(step["bytes"])
        assert adapter.step_facts(body) == step["facts"]
        assert adapter.rewrite_step(body) == body


def test_every_transcript_is_read_and_written_again():
    transcripts = example("transcripts.json")
    assert {stored["facts"][0] for stored in transcripts} >= {"synthesize", "tabulate", "learn"}
    for stored in transcripts:
        body = bytes.fromhex(stored["bytes"])
        assert adapter.transcript_facts(body) == stored["facts"]
        assert adapter.rewrite_transcript(body) == body


def test_a_release_file_is_read_and_written_again():
    content = (EXAMPLES / "rows.release").read_bytes()
    assert adapter.release_facts(content) == example("release.json")
    assert adapter.rewrite_release(content) == content


# Digests and the snapshot's header


def test_digests_of_queries_are_the_stored_ones(config):
    stored = example("digests.json")
    assert len(set(stored.values())) == len(stored) >= 12
    with adapter.curator_of(config) as curator:
        for sql, digest in stored.items():
            price = {"epsilon": 0.5}
            if sql.startswith("--"):
                sql, price = "SELECT COUNT(*) FROM visits", {"epsilon": 0.5, "mechanism": "gaussian"}  # noqa: PLW2901
            assert adapter.digest(curator, sql, **price) == digest, sql


def test_a_snapshot_has_the_stored_header_and_is_kept_where_the_header_fits(config):
    """A hash of where the source is differs from machine to machine; everything else is the same."""
    stored = (EXAMPLES / "snapshot_header.json").read_text(encoding="utf-8")
    facts = json.loads(stored)
    adapter.write_snapshot(config, salt=facts["salt"], version=facts["version"])
    written = adapter.snapshot_header(config)
    place = adapter.place_of_source(config)
    assert written.replace(place, facts["source"]["place"]) == stored
    snapshot = config.parent / "ledger.sqlite.snapshot"
    before = snapshot.stat().st_ino, snapshot.stat().st_mtime_ns
    adapter.write_snapshot(config, salt=facts["salt"], version=facts["version"])
    assert (snapshot.stat().st_ino, snapshot.stat().st_mtime_ns) == before


# Devices and their collector


def test_there_is_a_task_for_every_protocol():
    assert sorted(device["facts"][3] for device in DEVICES) == adapter.all_protocols()


@BY_PROTOCOL
def test_a_task_is_read_and_written_again(device):
    assert adapter.task_facts(device["task"]) == device["facts"]
    assert adapter.rewrite_task(device["task"]) == device["task"]


@BY_PROTOCOL
def test_messages_of_devices_are_read_and_made_again(device):
    for stored in device["messages"]:
        message = bytes.fromhex(stored["bytes"])
        read = adapter.decode_message(device["task"], message)
        assert read == stored["read"]
        sender, number = bytes.fromhex(read["sender"]), bytes.fromhex(read["id"])
        draws = {"seed": stored["seed"], "slot": stored["slot"]}
        made = adapter.device_message(device["task"], [stored["value"]], sender=sender, message_id=number, **draws)
        assert made == message


@BY_PROTOCOL
def test_a_batch_of_a_shuffler_is_read_and_made_again_but_for_its_random_number(device):
    stored = bytes.fromhex(device["batch"])
    assert adapter.decode_message(device["task"], stored) == device["read"]
    made = adapter.batch_of(device["task"], [bytes.fromhex(each["bytes"]) for each in device["messages"]])
    assert (made[:17], made[33:-4], len(made)) == (stored[:17], stored[33:-4], len(stored))


def test_the_store_of_a_device_is_read_and_written_again(tmp_path):
    shutil.copyfile(EXAMPLES / "device_store.json", tmp_path / "device.json")
    book = adapter.copy_device_store(tmp_path / "device.json", tmp_path / "copy.json")
    (account,) = book["tasks"].values()
    assert (account["reports"], len(account["pending"])) == (2, 2)
    (task,) = [device["task"] for device in DEVICES if device["facts"][3] == "grr"]
    assert all(len(adapter.decode_message(task, bytes.fromhex(sent))["reports"]) == 1 for sent in account["pending"])
    assert (tmp_path / "copy.json").read_bytes() == (EXAMPLES / "device_store.json").read_bytes()


def test_a_collector_reads_its_database_and_writes_the_same_rows(tmp_path):
    now = 20_000 * 86_400.0
    adapter.restore((EXAMPLES / "collector.sql").read_text(encoding="utf-8"), tmp_path / "stored.sqlite")
    assert adapter.tallies_in(tmp_path / "stored.sqlite", now=now) == example("collector.json")
    messages = {device["task"]: [bytes.fromhex(each["bytes"]) for each in device["messages"]] for device in DEVICES}
    adapter.collect(tmp_path / "new.sqlite", messages, now=now, fold_after=2)
    assert adapter.collector_rows(tmp_path / "new.sqlite") == adapter.collector_rows(tmp_path / "stored.sqlite")
