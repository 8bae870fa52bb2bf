"""Charges and answers a second from many threads, for whichever release is on the path: a process of its own, told its numbers."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

from discreet.accounting import open_filter
from discreet.ledger import Ledger, Request
from discreet.mechanisms import Laplace

PRICE = (Laplace(sensitivity=1, epsilon=1e-6),)


def queries_a_second(threads: int, seconds: float) -> float:
    """Reserve and finish, each waiting for the disk."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.new(Path(folder) / "ledger.sqlite")
        ledger.open_account(open_filter(10**6))
        ledger.open_account(open_filter(10**6), analyst="alice")
        done, stop = [0] * threads, time.perf_counter() + seconds

        def client(thread: int) -> None:
            while time.perf_counter() < stop:
                name = f"{thread}-{done[thread]}"
                paid = ledger.reserve(Request(id=name, query=name, releases=PRICE, analyst="alice"))
                ledger.finish(paid, b"41,873")
                done[thread] += 1

        workers = [threading.Thread(target=client, args=(thread,)) for thread in range(threads)]
        begun = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        rate = sum(done) / (time.perf_counter() - begun)
        ledger.close()
    return rate


if __name__ == "__main__":
    print(queries_a_second(int(sys.argv[1]), float(sys.argv[2])))
