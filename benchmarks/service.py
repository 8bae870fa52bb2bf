"""The service under load: 64 analysts against one server on SQLite, beside the release before, in one run.

    python -m benchmarks.service [--seconds 30] [--before WORKTREE]

Answers leave as soon as they are ready, so that the machine is measured and not the waiting. Every question is a new one, so every one is
charged, read and stored: by a text that nobody wrote before, or by a known text at a new price. No answer may be missing from the books.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from benchmarks.report import table, where, write_section

ANALYSTS, PORT = 64, 8471
RATE, MEDIAN = 500, 150
AS_FAST_AS_IT_CAN = ["--rate", "100000", "--class-ms", "0", "--seconds-a-minute", "100000"]
BEFORE = ["--rate", "100000", "--quantum", "0"]
KINDS = {
    "a known text, a new price": lambda number: (
        "SELECT COUNT(*) AS n FROM patients WHERE age > 40",
        1e-3 + number * 1e-12,
    ),
    "a new text": lambda number: (
        f"SELECT COUNT(*) AS n FROM patients WHERE age > 40 AND patient_id <> {number}",
        1e-3,
    ),
}


async def over_http(keys: list[str], kind: str, seconds: float) -> tuple[list[float], int]:
    """How long answers took for 64 analysts over loopback, by a client so plain that it leaves the cores to the server; and refusals."""
    numbers, times, refused = itertools.count(1), [], 0
    until = time.monotonic() + seconds

    async def analyst(key: str) -> None:
        nonlocal refused
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        head = f"POST /v1/ask HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        while time.monotonic() < until:
            began = time.perf_counter()
            sql, epsilon = KINDS[kind](next(numbers))
            body = f'{{"sql":"{sql}","epsilon":{epsilon!r}}}'
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            status = (await reader.readline()).split()[1]
            length, chunked = 0, False
            while (line := await reader.readline()) != b"\r\n":
                length = int(line.split(b":")[1]) if line.lower().startswith(b"content-length") else length
                chunked |= line.lower().startswith(b"transfer-encoding")
            await (_to_the_last_chunk(reader) if chunked else reader.readexactly(length))
            times.append(time.perf_counter() - began)
            refused += status != b"200"
        writer.close()

    await asyncio.gather(*(analyst(key) for key in keys))
    return times, refused


async def _to_the_last_chunk(reader: asyncio.StreamReader) -> None:
    while size := int(await reader.readline(), 16):
        await reader.readexactly(size + 2)
    await reader.readline()


def _cpu_seconds(process: int) -> float:
    """What a process has used of all cores, by itself and for the system."""
    used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def served(source: Path, options: list[str], kind: str, seconds: float) -> tuple[list[float], float]:
    """The same load on the server of one release, on books of its own; every answer is in them. Also its CPU seconds for each."""
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(
            [sys.executable, "-c", _CLINIC, folder, str(ANALYSTS)], env=environment, check=True, capture_output=True, text=True
        )  # fmt: skip
        config, *keys = made.stdout.split()
        command = [sys.executable, "-m", "discreet", "serve", config, "--port", str(PORT), *options]
        server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            while True:
                try:
                    httpx.get(f"http://127.0.0.1:{PORT}/healthz")
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            asyncio.run(over_http(keys, kind, 2))
            began = _cpu_seconds(server.pid)
            times, refused = asyncio.run(over_http(keys, kind, seconds))
            used = (_cpu_seconds(server.pid) - began) / len(times)
        finally:
            server.terminate()
            server.wait()
        with contextlib.closing(sqlite3.connect(Path(config).parent / "ledger.sqlite")) as books:
            paid = books.execute("SELECT COUNT(*) FROM ledger_paid").fetchone()[0]
    assert refused == 0, refused
    assert paid >= len(times), (paid, len(times))
    return times, used


_CLINIC = """
import sys
from pathlib import Path
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
folder, analysts = Path(sys.argv[1]), int(sys.argv[2])
config = write_clinic(folder, patients=20_000, visits=100_000)
caps = "".join(f"\\n[budget.analysts.a{i}]\\nepsilon = 1e6\\n" for i in range(analysts))
text = config.read_text().replace("epsilon = 5.0", "epsilon = 1e6")
config.write_text(text.replace("\\n[tables.patients]", f"{caps}\\n[tables.patients]"))
try:
    from discreet.catalog import load_catalog
    from discreet.ledger.accounts.declared_ledger import start_ledger
    start_ledger(load_catalog(config)).close()
except ImportError:  # the release before begins books by itself
    pass
book = KeyStore.open(str(config.parent / "ledger.sqlite"))
print(config, *(book.create(f"a{i}") for i in range(analysts)))
book.close()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--before", type=Path, help="a worktree of the release before")
    parser.add_argument("--dry-run", action="store_true", help="print the section, write nothing")
    options = parser.parse_args()
    here = Path(__file__).parent.parent
    rows = []
    for kind in KINDS:
        before, used_before = served(options.before, BEFORE, kind, options.seconds) if options.before else ([], 0.0)
        now, used = served(here, AS_FAST_AS_IT_CAN, kind, options.seconds)
        rate, median = len(now) / options.seconds, 1000 * statistics.median(now)
        rows.append(
            [
                kind,
                f"{len(before) / options.seconds:,.0f}" if before else "–",
                f"{rate:,.0f} (≥ {RATE}: {'yes' if rate >= RATE else 'NO'})",
                f"{len(now) / len(before):.1f}×" if before else "–",
                _spread(before)[0] if before else "–",
                f"{median:,.0f} (< {MEDIAN}: {'yes' if median < MEDIAN else 'NO'})",
                _spread(now)[1],
                f"{1000 * used_before:.1f}" if before else "–",
                f"{1000 * used:.1f}",
            ]
        )
    body = (
        f"{where()} {ANALYSTS} analysts over loopback, on the same two cores as the server; answers are returned as soon as they are ready (`--class-ms 0`). Every question is "
        "charged, read and stored, and every answer was found in the books.\n\n"
        + table(
            [
                "",
                "queries per second, before",
                "now",
                "faster",
                "ms, median, before",
                "now",
                "ms, 99 %, now",
                "CPU ms of the server, before",
                "now",
            ],
            rows,
        )
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
