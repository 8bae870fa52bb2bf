"""The service under load: 64 analysts against one server on SQLite, beside the curator at hand, in one run.

    python -m benchmarks.service [--seconds 60]

Every question is a new one, so every one is charged, read and stored. No answer may be missing from the books.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

from benchmarks.report import table, where, write_section
from discreet.curator import open_curator
from discreet.ledger import Ledger
from discreet.ledger.verify import verify
from discreet.samples import write_clinic
from discreet.server.keys import KeyBook

ANALYSTS, PORT = 64, 8471
BAR = 0.6


def question(number: int) -> str:
    return f"SELECT COUNT(*) AS n FROM patients WHERE age > 40 AND patient_id <> {number}"


def at_hand(config: Path, seconds: float) -> tuple[int, list[float]]:
    """Questions from two threads of one process."""
    numbers, times = itertools.count(10**6), []
    until = time.monotonic() + seconds
    with open_curator(config, new_books=True) as curator:

        def ask() -> None:
            while time.monotonic() < until:
                began = time.perf_counter()
                curator.ask(question(next(numbers)), epsilon=1e-3, analyst="a0")
                times.append(time.perf_counter() - began)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return len(times), times


async def over_http(keys: list[str], seconds: float) -> tuple[int, list[float], int]:
    """The same from 64 analysts over loopback, by a client so plain that it leaves the cores to the server."""
    numbers, times, refused = itertools.count(), [], 0
    until = time.monotonic() + seconds

    async def analyst(key: str) -> None:
        nonlocal refused
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        head = f"POST /v1/ask HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        while time.monotonic() < until:
            began = time.perf_counter()
            body = f'{{"sql":"{question(next(numbers))}","epsilon":0.001}}'
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            status = (await reader.readline()).split()[1]
            length = 0
            while (line := await reader.readline()) != b"\r\n":
                length = int(line.split(b":")[1]) if line.lower().startswith(b"content-length") else length
            await reader.readexactly(length)
            times.append(time.perf_counter() - began)
            refused += status != b"200"
        writer.close()

    await asyncio.gather(*(analyst(key) for key in keys))
    return len(times), times, refused


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--dry-run", action="store_true", help="print the section, write nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = write_clinic(folder, patients=20_000, visits=100_000)
        caps = "".join(f"\n[budget.analysts.a{i}]\nepsilon = 1e6\n" for i in range(ANALYSTS))
        text = config.read_text().replace("epsilon = 5.0", "epsilon = 1e6")
        config.write_text(text.replace("\n[tables.patients]", f"{caps}\n[tables.patients]"))
        alone, alone_times = at_hand(config, options.seconds / 3)
        book = KeyBook.open(str(config.parent / "ledger.sqlite"))
        keys = [book.create(f"a{i}") for i in range(ANALYSTS)]
        book.close()
        server = subprocess.Popen(
            [sys.executable, "-m", "discreet", "serve", str(config), "--port", str(PORT), "--class-ms", "0"],
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{PORT}/healthz")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        served, served_times, refused = asyncio.run(over_http(keys, options.seconds))
        server.terminate()
        server.wait()
        ledger = Ledger.open(config.parent / "ledger.sqlite")
        paid, sound = len(ledger.contents().paid), verify(ledger).sound
        ledger.close()
    assert refused == 0, refused
    assert paid == alone + served, (paid, alone, served)
    assert sound
    rates = alone / (options.seconds / 3), served / options.seconds
    ratio = rates[1] / rates[0]
    rows = [
        ["the curator at hand, 2 threads", f"{rates[0]:,.0f}", *_spread(alone_times), "–"],
        [f"the service, {ANALYSTS} analysts", f"{rates[1]:,.0f}", *_spread(served_times), f"{ratio:.2f}× (≥ {BAR}: {'yes' if ratio >= BAR else 'NO'})"],
    ]  # fmt: skip
    body = (
        f"{where()} Every question is new, so each is charged (two commits that wait for the disk), read and stored; nothing waits for the end "
        f"of a class (`--class-ms 0`). After the run the books had {paid:,} paid questions for {alone + served:,} answers, and were sound.\n\n"
        + table(["", "questions a second", "ms, median", "ms, 99 %", "of the curator at hand"], rows)
    )
    if options.dry_run:
        print(body)
    else:
        write_section("service", body)


def _spread(times: list[float]) -> list[str]:
    ordered = sorted(times)
    return [f"{1000 * statistics.median(ordered):,.0f}", f"{1000 * ordered[int(0.99 * len(ordered))]:,.0f}"]


if __name__ == "__main__":
    main()
