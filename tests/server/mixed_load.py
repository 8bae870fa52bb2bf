"""Everything at once: analysts, devices and strangers, while the server is killed again and again.

One event loop plays all of them, by clients so plain that they leave the cores to the server.
"""

import asyncio
import contextlib
import itertools
import json
import math
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from discreet.accounting import open_filter
from discreet.catalog import load_catalog
from discreet.ledger import Ledger
from discreet.ledger.chain.verify import verify
from discreet.local import Client, Task
from discreet.local.collector.report_store import ReportStore
from discreet.server.auth.keys import KeyStore
from tests.server.conftest import Server
from tests.server.test_collecting import publish

TASK = Task.frequency("mixed load", domain=["a", "b", "c"], epsilon=2.0, lifetime=100)
PAUSE = 5.0
"""Seconds between two reports of a device."""


@dataclass(frozen=True)
class Place:
    """The server's port, and the address that somebody comes from: limits are for each address."""

    port: int
    address: str

    def connection(self):
        return asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.address, 0))


@dataclass
class Seen:
    """What clients saw."""

    answers: dict[str, bytes] = field(default_factory=dict)
    differing: list[str] = field(default_factory=list)
    acknowledged: list[bytes] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    """How long each answer took that came at the first attempt."""
    held: list[tuple[float, int, int]] = field(default_factory=list)
    """Samples of the server: seconds since it was started, resident bytes, descriptors."""


async def _request(place, head, body=b""):
    """Status and body of one request on a connection of its own."""
    reader, writer = await place.connection()
    try:
        writer.write(f"{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        raw = await reader.read()
    finally:
        writer.close()
    lines, _, content = raw.partition(b"\r\n\r\n")
    if not lines:
        raise ConnectionError
    return int(lines.split(b" ", 2)[1]), content


async def _until_answered(place, head, body, done, wanted):
    """The first wanted answer, however often the server dies before; None if the time is up. Whether it was the first attempt."""
    for attempt in itertools.count():
        if done.is_set():
            return None
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, IndexError, ValueError):
            status, content = await asyncio.wait_for(_request(place, head, body), 60)
            if status in wanted:
                return status, content, attempt == 0
        await asyncio.sleep(0.1)
    return None


async def _analyst(number, key, place, seen, done):
    for turn in itertools.count():
        name = f"{number}-{turn}"
        sql = f"SELECT COUNT(*) AS n FROM patients WHERE age <> {number} AND age > -{turn + 1}"
        head = f"POST /v1/ask HTTP/1.1\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nIdempotency-Key: {name}"
        began = time.monotonic()
        got = await _until_answered(place, head, json.dumps({"sql": sql, "epsilon": 0.001}).encode(), done, {200})
        if got is None:
            return
        seen.statuses[got[0]] += 1
        if got[2]:
            seen.seconds.append(time.monotonic() - began)
        if seen.answers.setdefault(name, got[1]) != got[1]:
            seen.differing.append(name)


async def _device(place, seen, done):
    head = f"POST /v1/tasks/{TASK.id}/reports HTTP/1.1\r\nContent-Type: application/octet-stream"
    while not done.is_set():
        message = Client(TASK).report("a")
        got = await _until_answered(
            place, head, message, done, {202, 409}
        )  # 409: counted, and the acknowledgement lost
        if got is not None:
            seen.acknowledged.append(message)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(done.wait(), PAUSE)


async def _stranger(kind, place, done):
    """Wrong keys, headers that never end, bodies that never end, and a flood of public routes."""
    while not done.is_set():
        with contextlib.suppress(OSError, asyncio.TimeoutError, IndexError, ValueError):
            if kind == 0:
                key = os.urandom(8).hex()
                await asyncio.wait_for(
                    _request(place, f"GET /v1/budget HTTP/1.1\r\nAuthorization: Bearer dk_{key}_{key}"), 5
                )
            elif kind == 1:
                await asyncio.gather(*(_held_open(place, b"GET / HTTP/1.1\r\nX-Slow: ") for _ in range(20)))
            elif kind == 2:
                chunked = b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                await _held_open(place, chunked + b"100000\r\n" + bytes(0x100000))
            else:
                await asyncio.wait_for(_request(place, "GET /v1/transparency HTTP/1.1"), 5)
        await asyncio.sleep(0.02)


async def _held_open(place, begin):
    _, writer = await place.connection()
    with contextlib.suppress(OSError):
        for _ in range(20):
            writer.write(begin)
            await asyncio.wait_for(writer.drain(), 1)
            await asyncio.sleep(0.1)
    writer.close()


async def _sampled(server, started, seen, done):
    while not done.is_set():
        await asyncio.sleep(1)
        with contextlib.suppress(OSError, IndexError):  # it was killed just now
            process = Path(f"/proc/{server.process.pid}")
            resident = int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            seen.held.append((time.monotonic() - started[-1], resident, len(list((process / "fd").iterdir()))))


async def _played(server, keys, *, devices, strangers, seconds, kill_every, seen):
    done, started = asyncio.Event(), [time.monotonic()]
    players = [
        *(
            _analyst(number, key, Place(server.port, f"127.1.0.{number + 1}"), seen, done)
            for number, key in enumerate(keys)
        ),
        *(_device(Place(server.port, f"127.2.0.{number + 1}"), seen, done) for number in range(devices)),
        *(_stranger(number % 4, Place(server.port, f"127.3.0.{number + 1}"), done) for number in range(strangers)),
        _sampled(server, started, seen, done),
    ]
    tasks = [asyncio.ensure_future(player) for player in players]
    until, kills = time.monotonic() + seconds, 0
    while time.monotonic() + kill_every < until:
        await asyncio.sleep(kill_every)
        server.stop(kill=True)
        await asyncio.to_thread(server.start)
        started.append(time.monotonic())
        kills += 1
    await asyncio.sleep(max(0.0, until - time.monotonic()))
    done.set()
    await asyncio.wait(tasks, timeout=90)
    for task in tasks:
        task.cancel()
    return kills


def mixed_load(folder, *, analysts, devices, strangers, seconds, kill_every):
    """A sentence of what was seen; fails if anything was lost, doubled or grew."""
    server = Server(folder, epsilon="1e6")
    server.config.write_text(server.config.read_text().replace("epsilon = 500.0", "epsilon = 1e6"))
    book = KeyStore.open(str(server.config.parent / "ledger.sqlite"))
    keys = [book.create(f"a{number}", cap=open_filter(1e6)) for number in range(analysts)]
    book.close()
    server.start()
    assert publish(server, TASK).status_code == 201
    seen = Seen()
    kills = asyncio.run(
        _played(server, keys, devices=devices, strangers=strangers, seconds=seconds, kill_every=kill_every, seen=seen)
    )
    server.stop()
    assert not seen.differing, "a retried id got other bytes"
    ledger = Ledger.open(server.config.parent / "ledger.sqlite")
    verification = verify(ledger)
    with ledger._store.transaction() as t:
        paid = t.run("SELECT COUNT(*) FROM ledger_paid WHERE analyst <> ''")[0][0]
    ledger.close()
    assert verification.sound, verification.problems
    assert paid >= len(seen.answers)
    books = ReportStore.from_catalog(load_catalog(server.config))
    again = books.receive(TASK, seen.acknowledged).reports
    books.close()
    assert again == 0, "an acknowledged message was not in the books"
    resident, descriptors = _growth(seen.held)
    median = sorted(seen.seconds)[len(seen.seconds) // 2] if seen.seconds else math.inf
    return (
        f"{len(seen.answers):,} answers (median {1000 * median:,.0f} ms), {paid:,} paid; {len(seen.acknowledged):,} messages, "
        f"none lost; {kills} kills; at most {resident / 1e6:,.0f} MB and {descriptors} descriptors"
    )


def _growth(held):
    """The most that was held; what is held late in a server's life is not more than was held early, but for some slack."""
    resident, descriptors = max(sample[1] for sample in held), max(sample[2] for sample in held)
    assert resident < 500e6, f"{resident / 1e6:.0f} MB"
    early = [sample for sample in held if 10 <= sample[0] < 25]
    late = [sample for sample in held if sample[0] >= 40]
    if early and late:
        assert max(s[1] for s in late) < 1.3 * max(s[1] for s in early), "memory grows"
        assert max(s[2] for s in late) < 1.5 * max(s[2] for s in early) + 20, "descriptors grow"
    return resident, descriptors
