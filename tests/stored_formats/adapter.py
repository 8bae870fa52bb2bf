"""All imports of `discreet` that the tests of stored formats need, wrapped in plain functions.

When a module or a name moves, change the imports and the calls here. Change nothing else in this folder: the examples,
the script that made them and the tests stay as they are.
"""

from __future__ import annotations

import hashlib
import io
import json
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from discreet.accounting import open_filter
from discreet.api.opening import open_curator, refresh
from discreet.api.operations.ask import priced_plan
from discreet.api.requests.ask import AskRequest
from discreet.api.stored_releases import stored_release
from discreet.catalog import load_catalog
from discreet.engines import with_public_columns
from discreet.engines.duckdb.snapshot import fingerprint_source, open_snapshot
from discreet.learning import LogisticRegression
from discreet.ledger import Ledger, Request, verify
from discreet.ledger.accounts.account_rows import load_all, save
from discreet.ledger.accounts.declared_ledger import start_ledger
from discreet.ledger.chain import entry_chain
from discreet.ledger.chain.anchor import Anchor
from discreet.ledger.chain.checkpoint import Checkpoints
from discreet.ledger.chain.entries import Entry, canonical
from discreet.ledger.chain.entry_clock import Clock
from discreet.ledger.chain.seals import Seals
from discreet.ledger.charges.stored_queries import record_charge, store_answer
from discreet.ledger.charges.unit_of_work import UnitOfWork
from discreet.local import Task
from discreet.local.collector.report_store import ReportStore
from discreet.local.device.client import (
    RANDOMIZERS,
    Client,
    Draw,
    FileStore,
    build_coder,
    build_message,
    pack,
    task_digest,
)
from discreet.local.shuffling.shuffler import ShufflerStore
from discreet.local.tasks.messages import read_message, write_batch
from discreet.measurement.release_files import read_release, release_as_bytes
from discreet.measurement.transcript import Step, Transcript, about
from discreet.mechanisms import Adaptive, Gaussian
from discreet.planning.query_planning import digest_of
from discreet.results.answer import read_stored, stored_form
from discreet.server.auth.keys import KeyStore
from discreet.server.jobs.saved_store import SavedQueries
from discreet.sessions import Between
from discreet.store import open_store
from discreet.workloads import marginals

# Curators: what a data owner and an analyst do


def begin_ledger(config: Path) -> None:
    start_ledger(load_catalog(config)).close()


def begin_data_version(config: Path) -> int:
    return refresh(config, anyway=True)


def curator_of(config: Path):
    return closing(open_curator(config))


def ask(curator, sql: str, *, epsilon, analyst=None, request_id=None) -> bytes:
    return curator.as_analyst(analyst).ask(sql, epsilon=epsilon, request_id=request_id).stored


def recall(curator, sql: str, *, epsilon, analyst=None) -> dict:
    """A stored answer; nothing is charged or written."""
    answer = curator.as_analyst(analyst).recall(AskRequest(sql, epsilon=epsilon))
    return {"stored": answer.stored.hex(), "rows": json.loads(json.dumps(answer.rows)), "receipt": answer.receipt}


def digest(curator, sql: str, **price) -> str:
    return digest_of(priced_plan(AskRequest(sql, **price), curator.context), curator.declared, data_version=1)


def make_releases(curator) -> bytes:
    """Releases with many kinds of steps; one reuses another and one is published, whose file is returned."""
    visits = "SELECT ward, cost, day FROM visits"
    bins = {"cost": 4, "day": 4}
    price = {"epsilon": 0.2, "delta": 1e-7}
    rows = curator.as_analyst("alice").synthesize(visits, workload=2, bins=bins, name="rows", **price)
    curator.synthesize("SELECT ward FROM visits", workload=1, name="small", method="smalldb", rho=0.01)
    curator.synthesize(visits, workload=2, bins=bins, name="chosen", method="mwem", rho=0.005)
    curator.as_analyst("alice").tabulate(visits, marginals(2), bins=bins, name="tables", reuse=True, **price)
    curator.ledger.publish("rows", analyst="alice")
    patients = "SELECT age, sex, smokes FROM patients"
    curator.learn(LogisticRegression(target="smokes", features=["age", "sex"]), patients, name="smokers", **price)
    session = curator.session(patients, queries=20, workload=1, bins={"age": 5}, alarms=2, **price)
    session.answer({"sex": "F", "age": Between(20, 39)})
    session.answer("smokes AND sex = 'M'")
    return rows.as_bytes()


def watch(curator, sql: str, *, analyst=None, **terms) -> bool:
    return curator.as_analyst(analyst).watch(sql, **terms).evaluate()


# The ledger


def ledger_at(path: Path):
    return closing(Ledger.open(path, anchor=f"{path}.anchor"))


def problems_of(ledger) -> list[str]:
    return [*verify(ledger).problems, *verify(ledger, from_checkpoint=True).problems]


def cap_account(ledger, analyst: str, epsilon: float) -> None:
    ledger.open_account(open_filter(epsilon, 1e-6), analyst=analyst, by="owner")


def accounts_of(ledger) -> dict[str, list]:
    """Cap and sum of all charges ever made, by account."""
    return {
        account.name: [account.cap.epsilon, account.cap.delta, round(account.lifetime_spent.epsilon, 9), account.frozen]
        for account in ledger.accounts()
    }


def published_names(ledger) -> list[str]:
    return sorted(ledger.totals().published)


def create_key(path: Path, name: str, role: str) -> str:
    with closing(KeyStore.open(str(path), anchor=f"{path}.anchor")) as keys:
        return keys.create(name, role=role, days=36_500)


def holder_of_key(path: Path, key: str) -> list[str]:
    with closing(KeyStore.open(str(path), anchor=f"{path}.anchor")) as keys:
        holder = keys.holder(key)
        return [holder.name, holder.role]


def write_checkpoint(path: Path, secret: bytes) -> None:
    with closing(open_store(str(path))) as store:
        ledger = Ledger(store, secret=secret)
        with store.transaction() as t:
            Checkpoints(secret).write(t, ledger.totals())


def copy_ledger(source: Path, target: Path, secret: bytes) -> None:
    """Read a ledger and write its entries, accounts, charges, answers and checkpoint to another one."""
    with closing(open_store(str(source), must_exist=True)) as old, old.transaction() as t:
        entries = list(entry_chain.entries_after(t, 0))
        answers = dict(t.run("SELECT question, answer FROM ledger_questions WHERE answer IS NOT NULL"))
        accounts = load_all(t)
    seals = Seals(secret)
    with closing(open_store(str(target))) as new:
        ledger = Ledger(new, secret=secret)
        previous = None
        with new.transaction() as t:
            for entry in entries:
                written = Entry.following(previous, time=entry.time, kind=entry.kind, body=entry.body)
                previous = Entry(**{**asdict(written), "seal": seals.of(written)})
                t.insert(entry_chain.INTO, [entry_chain.row_of(previous)])
        running = ledger.totals()
        with new.transaction() as t:
            draft = UnitOfWork(t, running, clock=Clock(lambda: datetime.now(UTC)), seals=seals)
            for entry in entries:
                if entry.kind == "charge":
                    record_charge(draft, entry)
                elif entry.kind == "answer":
                    store_answer(draft, entry.body["question"], bytes(answers[entry.body["question"]]))
            draft.write()
            save(t, accounts)
            Checkpoints(secret).write(t, running)


def write_anchor(path: Path, ledger) -> None:
    anchor = Anchor(path)
    anchor.begin()
    anchor.note(ledger.head())


def noted_in(path: Path) -> str:
    return Anchor(path).noted


def rewrite_answer(stored: bytes) -> bytes:
    return stored_form(read_stored(stored))


# The journal of a run, transcripts and release files


def _unfinished() -> Request:
    return Request(
        id="unfinished", query="0" * 64, releases=(Adaptive(rho=0.001),), analyst="alice", label="a run", format=2
    )


def begin_run(ledger) -> None:
    """A run that is charged and has two steps: one of them has left, one waits."""
    part = Gaussian.for_rho(sensitivity=1, rho=0.00025, size=2)
    reservation = ledger.reserve(_unfinished())
    first = Step(about("table", paid=part, columns=["ward"], groups={}, shape=[2]), _integers([31, -4]))
    second = Step(about("note", paid=None, text="é"), _integers([2**63 - 1, -(2**63), 0]))
    ledger.step(reservation, 0, first.encoded(), paid=part)
    ledger.release_steps(reservation, 1)
    ledger.step(reservation, 1, second.encoded(), paid=None)


def _integers(values):
    import numpy as np

    return np.array(values, np.int64)


def steps_of_run(ledger) -> list[bytes]:
    return ledger.steps(ledger.reserve(_unfinished()))


def finish_run(ledger, answer: bytes) -> bytes:
    return ledger.finish(ledger.reserve(_unfinished()), answer)


def seal_of_waiting_step(note: str, secret: bytes) -> str:
    return Seals(secret).seal_text(note)


def step_facts(body: bytes) -> list:
    step = Step.decoded(body)
    return [dict(step.about), step.outcome.tolist()]


def rewrite_step(body: bytes) -> bytes:
    return Step.decoded(body).encoded()


def transcript_facts(stored: bytes) -> list:
    transcript = Transcript.decoded(stored)
    return [transcript.facts["purpose"]["kind"], [step.kind for step in transcript.steps]]


def rewrite_transcript(stored: bytes) -> bytes:
    return Transcript.decoded(stored).encoded()


def release_facts(content: bytes) -> dict:
    stored, name, receipt = read_release(content)
    release = stored_release(stored, name=name, receipt=receipt)
    facts = json.loads(json.dumps(release.summary))
    facts["looks"] = facts.pop("measurements")  # the examples have the earlier name; it is in no stored byte
    return {"name": name, "receipt": receipt, "facts": facts}


def rewrite_release(content: bytes) -> bytes:
    stored, name, receipt = read_release(content)
    return release_as_bytes(stored, name=name, receipt=receipt)


# The snapshot's header


def snapshot_header(config: Path) -> str:
    """The header of the snapshot that is there, as text."""
    with duckdb.connect(str(load_catalog(config).snapshot), read_only=True) as connection:
        return connection.execute('SELECT facts FROM "$snapshot"').fetchone()[0]


def place_of_source(config: Path) -> str:
    """A hash of where the source is on this machine: the one part of a header that differs elsewhere."""
    return fingerprint_source(load_catalog(config)).place


def write_snapshot(config: Path, *, salt: str, version: int) -> None:
    """Bring the snapshot up to date: it is written anew unless its header fits."""
    open_snapshot(with_public_columns(load_catalog(config)), salt=salt, version=version).close()


# Devices and their collector


class FixedDraw(Draw):
    """Words from SHA-256 of a counter: the same on every run."""

    def __init__(self, seed: int) -> None:
        self._seed, self._drawn = seed, 0

    def word(self) -> int:
        self._drawn += 1
        return int.from_bytes(hashlib.sha256(f"{self._seed}:{self._drawn}".encode()).digest()[:8], "big")


def all_protocols() -> list[str]:
    return sorted(RANDOMIZERS)


def tasks_for_all_protocols() -> list[str]:
    """Their specifications as JSON."""
    numeric, texts = ("duchi", "piecewise", "hybrid"), ("pem", "sfp")
    made = []
    for protocol in sorted(set(RANDOMIZERS) - {*numeric, *texts, "square-wave"}):
        domain = ["yes", "no"] if protocol in ("coin", "warner") else ["a", "b", "é", 4, 5, 6, 7, 8]
        made.append(Task.frequency(protocol, domain=domain, epsilon=2, protocol=protocol, per_epoch=3))
    made += [Task.mean(protocol, lower=-1, upper=3, epsilon=2, protocol=protocol) for protocol in numeric]
    made.append(Task.distribution("square-wave", lower=0, upper=10, epsilon=2, bins=16))
    made += [Task.heavy_hitters(protocol, epsilon=2, length=4, protocol=protocol) for protocol in texts]
    return [task.to_json() for task in made]


def task_facts(text: str) -> list:
    task = Task.from_json(text)
    return [task.digest.hex(), task.name, task.kind, task.spec["protocol"]]


def rewrite_task(text: str) -> str:
    return Task.from_json(text).to_json()


def device_message(text: str, values: list, *, sender: bytes, message_id: bytes, seed: int, slot: int) -> bytes:
    """What a device sends about some values, with all that is random given."""
    spec = json.loads(text)
    randomizer, draw, code_of = RANDOMIZERS[spec["protocol"]](spec), FixedDraw(seed), build_coder(spec)
    (payload,) = [pack(randomizer.randomize(code_of(value), draw, slot=slot), randomizer.bits) for value in values]
    return build_message(task_digest(spec), sender, payload, count=1, message_id=message_id)


def decode_message(text: str, message: bytes) -> dict:
    read = read_message(Task.from_json(text), message)
    return {"id": read.id.hex(), "sender": read.sender.hex(), "reports": read.reports.tolist()}


def batch_of(text: str, messages: list[bytes]) -> bytes:
    """What a shuffler sends for them."""
    import numpy as np

    task = Task.from_json(text)
    return write_batch(task, np.concatenate([read_message(task, message).reports for message in messages]))


def report_twice(text: str, store: Path) -> None:
    """A device that reports two values and keeps its messages."""
    client = Client(text, store=store, clock=lambda: 0.0)
    client.report("a")
    client.report(8)


def copy_device_store(source: Path, target: Path) -> dict:
    """Read the store of a device and write it to another file; what it holds."""
    book = FileStore(source).read()
    FileStore(target).write(book)
    return book


def collect(path: Path, messages: dict[str, list[bytes]], *, now: float, fold_after: int) -> None:
    """Publish a task for each specification and take its messages."""
    with closing(ReportStore(open_store(str(path)), clock=lambda: now, fold_after=fold_after)) as books:
        for text, several in messages.items():
            task = Task.from_json(text)
            books.publish(task)
            assert books.receive(task, several).refusals == [None] * len(several)


def tallies_in(path: Path, *, now: float) -> dict[str, list]:
    with closing(ReportStore(open_store(str(path)), clock=lambda: now)) as books:
        records, unsound = books.records()
        assert not unsound
        found = {}
        for record in records:
            collector = books.collector(record.task)
            counted = hashlib.sha256(collector.tally.tobytes()).hexdigest()
            found[record.task.name] = [collector.reports, list(collector.tally.shape), counted]
        return found


# Databases as text


def dump(path: Path) -> str:
    """Every statement that a SQLite database was made by, then its rows in the order of their columns."""
    with closing(sqlite3.connect(path)) as connection:
        master = "SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL ORDER BY name"
        tables, indexes = (connection.execute(master, [kind]).fetchall() for kind in ("table", "index"))
        lines = [f"{sql};" for _, sql in tables]
        for name, _ in tables:
            lines += [f"INSERT INTO {name} VALUES ({row});" for row in rows_of(connection, name)]
        return "\n".join([*lines, *(f"{sql};" for _, sql in indexes), ""])


def rows_of(connection: sqlite3.Connection, table: str) -> list[str]:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    quoted = ", ".join(f"quote({column})" for column in columns)
    rows = connection.execute(f"SELECT {quoted} FROM {table} ORDER BY {', '.join(columns)}").fetchall()
    return [", ".join(row) for row in rows]


def collector_rows(path: Path) -> dict[str, list[str]]:
    """The rows of a collector's database, tallies unpacked, without what is drawn at random."""
    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("unpacked", 1, lambda blob: zipfile.ZipFile(io.BytesIO(blob)).read("tally.npy"))
        connection.execute("UPDATE intake_key SET key = x''")
        connection.execute("UPDATE collection_tasks SET life = ''")
        connection.execute("UPDATE collection_tallies SET tally = unpacked(tally)")
        return {name: rows_of(connection, name) for name in shape_of(connection)}


def restore(sql: str, path: Path) -> None:
    """A database from what `dump` wrote."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)


def shape_of(connection: sqlite3.Connection) -> dict[str, list]:
    """Tables with their columns, indexes with theirs."""
    names = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    ]
    return {
        name: [
            connection.execute(f"PRAGMA table_info({name})").fetchall(),
            sorted(row[1:] for row in connection.execute(f"PRAGMA index_list({name})")),
        ]
        for name in names
    }


# Examples of other formats


def canonical_json(facts: dict) -> str:
    return canonical(facts)


def signature_of_checkpoint(state: str, secret: bytes) -> str:
    return Checkpoints(secret)._signed(state)


def change_entries(path: Path, secret: bytes, kind: str, changed) -> None:
    """The chain anew, hashed and sealed, with other bodies of the entries of a kind; without a checkpoint."""
    seals = Seals(secret)
    with closing(open_store(str(path), must_exist=True)) as store, store.transaction() as t:
        entries, previous = list(entry_chain.entries_after(t, 0)), None
        assert kind in {entry.kind for entry in entries}
        t.run("DELETE FROM ledger_checkpoint")
        t.run("DELETE FROM ledger_entries")
        for entry in entries:
            body = changed(dict(entry.body)) if entry.kind == kind else entry.body
            written = Entry.following(previous, time=entry.time, kind=entry.kind, body=body)
            previous = Entry(**{**asdict(written), "seal": seals.of(written)})
            t.insert(entry_chain.INTO, [entry_chain.row_of(previous)])


def change_first_entry(path: Path, secret: bytes, kind: str, change: dict) -> None:
    """The same for the first of them; None removes a member."""
    seen = []

    def changed(body: dict) -> dict:
        seen.append(body)
        if len(seen) > 1:
            return body
        return {name: value for name, value in {**body, **change}.items() if value is not None}

    change_entries(path, secret, kind, changed)


def write_anchor_of(path: Path) -> None:
    with closing(Ledger.look(path)) as ledger:
        write_anchor(Path(f"{path}.anchor"), ledger)


def begin_shuffler(path: Path) -> None:
    ShufflerStore(open_store(str(path)), [], batch=10)


def begin_saved_queries(path: Path) -> None:
    SavedQueries(open_store(str(path))).close()
