"""Books that were tampered with, torn, or cannot be written."""

import os
import resource
import shutil
import signal
import sqlite3

import pytest

from discreet.errors import LedgerDamaged, StoreUnavailable, WrongFormat
from discreet.ledger import Ledger, verify
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.entries import Entry, entry_hash
from discreet.store import open_store
from discreet.store.secret import load_secret
from tests.ledger.asking import a_ledger, a_request, append, ask, in_child, open_ledger, output_of
from tests.mutants.stores import DeferredStore, UnsyncedStore, commits_reach_the_disk, no_charge_is_lost

TAMPERINGS = {
    "a price lowered": ["UPDATE ledger_entries SET body = replace(body, '1/100', '1/999') WHERE seq = 5"],
    "a flipped letter": ["UPDATE ledger_entries SET kind = 'chargf' WHERE seq = 4"],
    "a hash changed": ["UPDATE ledger_entries SET hash = previous WHERE seq = 4"],
    "a time changed": ["UPDATE ledger_entries SET time = '2020-01-01T00:00:00+00:00' WHERE seq = 4"],
    "two entries swapped": [
        "UPDATE ledger_entries SET seq = -4 WHERE seq = 4",
        "UPDATE ledger_entries SET seq = 4 WHERE seq = 5",
        "UPDATE ledger_entries SET seq = 5 WHERE seq = -4",
    ],
    "an entry deleted": ["DELETE FROM ledger_entries WHERE seq = 4"],
    "an entry deleted and the rest moved up": [
        "DELETE FROM ledger_entries WHERE seq = 4",
        "UPDATE ledger_entries SET seq = -seq WHERE seq > 4",
        "UPDATE ledger_entries SET seq = -seq - 1 WHERE seq < 0",
    ],
    "a total lowered": ["UPDATE ledger_accounts SET spent_pure = '0' WHERE name = 'dataset'"],
    "a cap raised": ["UPDATE ledger_accounts SET epsilon = '100' WHERE name = 'dataset'"],
    "an account removed": ["DELETE FROM ledger_accounts WHERE name = 'analyst:alice'"],
    "an answer changed": ["UPDATE ledger_questions SET answer = {blob}"],
    "a question paid for without a charge": ["INSERT INTO ledger_questions (question) VALUES ('free')"],
    "an analyst who seems to have paid": ["INSERT INTO ledger_paid (analyst, question) VALUES ('alice', 'free')"],
    "a request that was never made": ["INSERT INTO ledger_requests VALUES ('alice', 'x', 'free', 'none')"],
    "an account frozen behind our back": ["UPDATE ledger_accounts SET frozen = 1 WHERE name = 'analyst:alice'"],
    "an account that cannot be read": ["UPDATE ledger_accounts SET epsilon = '1/0' WHERE name = 'dataset'"],
    "a key written twice": [
        "UPDATE ledger_entries SET body = replace(body, '{', '{\"epsilon\":\"1000\",') WHERE seq = 1",
    ],
    "a body that is no number": ["UPDATE ledger_entries SET body = '{{\"a\":NaN}}' WHERE seq = 10"],
    "a question forgotten": [
        "DELETE FROM ledger_questions WHERE question = (SELECT MIN(question) FROM ledger_questions)"
    ],
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_noticed(where, name):
    ledger = a_ledger(where)
    for number in range(4):
        ask(ledger, a_request(number))
    assert verify(ledger).sound
    blob = "X'00'" if where.endswith("sqlite") else "'\\x00'"
    try:
        with ledger._store.transaction() as t:
            for statement in TAMPERINGS[name]:
                t.run(statement.replace("{blob}", blob).replace("{{", "{").replace("}}", "}"))
    except StoreUnavailable:
        assert name == "a body that is no number"  # an index would have to read it, so it cannot be written
        return
    assert not verify(ledger).sound


@pytest.mark.parametrize("number", [2**62, 2**40, 0, -5])
def test_a_charge_that_is_linked_to_nothing_pays_for_nothing(where, number):
    ledger = a_ledger(where)
    for asked in range(3):
        ask(ledger, a_request(asked))
    with ledger._store.transaction() as t:
        last = entry_chain.last_entry(t)
        body = {**last.body, "question": a_request(77).key}
        before = Entry(number - 1, last.time, "charge", body, last.previous, "f" * 64)
        forged = Entry.following(before, time=last.time, kind="charge", body=body)
        append(t, forged)
        assert not entry_chain.is_linked(t, forged)
        t.run("INSERT INTO ledger_questions (question, charged) VALUES (?, ?)", a_request(77).key, number)
        t.run(
            "INSERT INTO ledger_paid (analyst, question, charged) VALUES (?, ?, ?)", "alice", a_request(77).key, number
        )
    with pytest.raises(LedgerDamaged):
        ask(ledger, a_request(77))


def test_a_changed_last_entry_stops_the_books_at_once(where):
    ledger = a_ledger(where)
    ask(ledger, a_request(1))
    with ledger._store.transaction() as t:
        t.run("UPDATE ledger_entries SET kind = 'answes' WHERE kind = 'answer'")
    with pytest.raises(LedgerDamaged):
        ledger.reserve(a_request(2))


def _copied(source, target):
    for suffix in ("", "-wal"):
        if os.path.exists(source + suffix):
            shutil.copy(source + suffix, target + suffix)


def test_a_flipped_byte_in_an_entry_is_noticed(tmp_path):
    path = str(tmp_path / "ledger.sqlite")
    ledger = a_ledger(path)
    for number in range(3):
        ask(ledger, a_request(number))
    ledger.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = (tmp_path / "ledger.sqlite").read_bytes()
    start = data.index(b'{"accounts"')
    for offset in range(start, start + 200, 7):
        damaged = tmp_path / f"damaged-{offset}.sqlite"
        damaged.write_bytes(data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
        try:
            found = verify(open_ledger(str(damaged)))
        except (StoreUnavailable, ValueError, KeyError):
            continue  # no longer a database, or no longer JSON: noticed too
        assert not found.sound


def test_a_torn_tail_loses_nothing_silently(tmp_path):
    """The write-ahead log cut at many lengths, as a crash might leave it: whole commits, or a head that is missed."""
    path = str(tmp_path / "ledger.sqlite")
    ledger = a_ledger(path)
    for number in range(3):
        ask(ledger, a_request(number))
    seen = f"{ledger.head().seq}:{ledger.head().hash}"
    size = os.path.getsize(path + "-wal")
    lost = 0
    for cut in range(0, size, size // 60):
        torn = str(tmp_path / "torn.sqlite")
        _copied(path, torn)
        os.truncate(torn + "-wal", cut)
        copy = open_ledger(torn, secret=load_secret(path))
        found = verify(copy)
        assert found.sound, "what is left must be a whole prefix"
        lost += not verify(copy, anchor=seen).sound
        copy.close()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(torn + suffix):
                os.remove(torn + suffix)
    assert lost > 30  # every cut that lost a commit is noticed against the head that was noted


def test_a_full_disk_grants_nothing_and_breaks_nothing(tmp_path):
    """A real limit on the size of files, as a full disk: writes fail with an error of the operating system."""
    path = str(tmp_path / "ledger.sqlite")
    ledger = a_ledger(path, cap=100)
    ask(ledger, a_request(0))
    ledger.close()

    def work(write):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = os.path.getsize(path) + 40_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        full = open_ledger(path)
        for number in range(1, 500):
            try:
                ask(full, a_request(number))
                write(b"g")
            except StoreUnavailable:
                write(b"x")

    written = output_of(*in_child(work))
    assert b"x" in written
    reopened = open_ledger(path)
    assert reopened.account().spent.epsilon >= 0.01 * (1 + written.count(b"g")) * (1 - 1e-12)
    assert verify(reopened).sound
    assert ask(reopened, a_request(999))


def test_a_read_only_disk_grants_nothing(tmp_path):
    path = str(tmp_path / "ledger.sqlite")
    ledger = a_ledger(path)
    ask(ledger, a_request(0))
    ledger.close()
    secret = load_secret(path)
    for folder in (tmp_path, *tmp_path.parents):
        if folder != folder.parent and os.geteuid() == 0 and folder.stat().st_uid == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    for file in tmp_path.iterdir():
        file.chmod(0o444)
    tmp_path.chmod(0o555)

    def work(write):
        if os.geteuid() == 0:
            os.setuid(65534)  # permissions do not bind root
        try:
            Ledger(open_store(path), secret=secret).reserve(a_request(1))
            write(b"granted")
        except StoreUnavailable:
            write(b"refused")

    written = output_of(*in_child(work))
    tmp_path.chmod(0o755)
    assert written == b"refused"


def test_a_server_that_is_gone_grants_nothing():
    with pytest.raises(StoreUnavailable):
        Ledger(open_store("postgresql://127.0.0.1:1/nowhere"), secret=b"s" * 32)


@pytest.mark.parametrize("version", [0, 10, 12, 99])
def test_books_of_another_version_are_refused(where, version):
    ledger = a_ledger(where)
    with ledger._store.transaction() as t:
        t.run("UPDATE schema_versions SET version = ?", version)
    with pytest.raises(WrongFormat, match="another version"):
        open_ledger(where)


def test_a_commit_reaches_the_disk_and_a_store_that_does_not_wait_for_it_is_caught(tmp_path):
    from discreet.store.sqlite import SQLiteStore

    commits_reach_the_disk(SQLiteStore(tmp_path / "real.sqlite"))
    with pytest.raises(AssertionError):
        commits_reach_the_disk(UnsyncedStore(tmp_path / "mutant.sqlite"))


def test_a_store_that_begins_deferred_loses_charges_and_is_caught(tmp_path):
    from discreet.store.sqlite import SQLiteStore

    no_charge_is_lost(lambda: SQLiteStore(tmp_path / "real.sqlite"))
    with pytest.raises(AssertionError):
        no_charge_is_lost(lambda: DeferredStore(tmp_path / "mutant.sqlite"))


@pytest.mark.parametrize("note", ["", "7", "x y", "5 "])
def test_an_anchor_that_cannot_be_read_stops_the_books(tmp_path, note):
    a_ledger(str(tmp_path / "ledger.sqlite"), anchor=tmp_path / "anchor")
    (tmp_path / "anchor").write_text(note)
    with pytest.raises(LedgerDamaged):
        open_ledger(str(tmp_path / "ledger.sqlite"), anchor=tmp_path / "anchor")


def test_a_backup_restored_under_a_running_ledger_is_noticed_at_the_next_question(tmp_path):
    path, anchor = str(tmp_path / "ledger.sqlite"), tmp_path / "anchor"
    ledger = a_ledger(path, anchor=anchor)
    ask(ledger, a_request(1))
    with ledger._store.transaction() as t:  # back to before the question
        t.run("DELETE FROM ledger_entries WHERE seq > 2")
        for table in ("ledger_requests", "ledger_questions", "ledger_paid"):
            t.run(f"DELETE FROM {table}")
    with pytest.raises(LedgerDamaged):
        ledger.reserve(a_request(2))


def test_a_note_never_goes_back(tmp_path):
    from discreet.ledger.chain.anchor import Anchor

    ledger = a_ledger(str(tmp_path / "ledger.sqlite"), anchor=tmp_path / "anchor")
    early = ledger.head()
    ask(ledger, a_request(1))
    late = (tmp_path / "anchor").read_text()
    Anchor(tmp_path / "anchor").note(early)
    assert (tmp_path / "anchor").read_text() == late


def test_books_that_are_being_written_can_be_verified(where):
    import threading

    ledger, stop = a_ledger(where, cap=1000), threading.Event()

    def write():
        for number in range(10_000):
            if stop.is_set():
                return
            ask(ledger, a_request(number))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert all(verify(ledger).sound for _ in range(5))
    finally:
        stop.set()
        writer.join()


@pytest.mark.parametrize("number", [0, 3])
def test_a_charge_that_does_not_stand_in_the_chain_pays_for_nothing(tmp_path, number):
    """Hashed as ours are, but numbered before the first, or put in another's place."""
    ledger = a_ledger(f"{tmp_path}/ledger.sqlite")
    for each in range(4):
        ask(ledger, a_request(each))
    wanted = a_request(99)
    body = {"accounts": ["dataset", f"analyst:{wanted.analyst}"], "analyst": wanted.analyst, "question": wanted.key}
    with ledger._store.transaction() as t:
        last = entry_chain.entry_at(t, 2)
        values = (number, last.time, "charge", body, last.hash)
        t.run("DELETE FROM ledger_entries WHERE seq = ?", number)
        append(t, Entry(*values, entry_hash(*values)))
        t.run("INSERT INTO ledger_questions (question, charged) VALUES (?, ?)", wanted.key, number)
        t.run(
            "INSERT INTO ledger_paid (analyst, question, charged) VALUES (?, ?, ?)", wanted.analyst, wanted.key, number
        )
    with pytest.raises(LedgerDamaged):
        ledger.reserve(wanted)
