"""A real server in a process of its own, on a small clinic."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from functools import cache, partial

import anyio
import httpx
import pytest
from httpx._transports import default as connecting
from playwright.sync_api import expect, sync_playwright

from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.rate_limit import RateLimit
from tests.support.opening import start_ledger

PATIENCE = 120
"""Seconds, for what takes less than one where nothing else runs."""
expect.set_options(timeout=1_000 * PATIENCE)
_QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip


# Every request of `httpx.get` and the like is a client of its own, which would read all certificates of the world anew: 25 ms, and nothing here speaks TLS.
connecting.create_ssl_context = cache(connecting.create_ssl_context)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(happened):
    """Until it did: a busy machine takes long, and a test that waits for a time fails there."""
    until = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def wait_until_up(url, process):
    """Until a process that was started answers at its address."""

    def is_up():
        assert process.poll() is None, "it stopped"
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{url}/healthz").status_code == 200

    wait_until(is_up)


class Server:
    """`discreet serve` and keys for those who ask it."""

    def __init__(self, folder, *, epsilon="2.0"):
        self.config = write_clinic(folder, patients=500, visits=4000)
        text = self.config.read_text().replace("epsilon = 2.0", f"epsilon = {epsilon}")
        self.config.write_text(text.replace("epsilon = 5.0", "epsilon = 500.0"))
        book = KeyStore.open(start_ledger(self.config))
        self.alice, self.owner = book.create("alice"), book.create("olga", role="owner")
        book.close()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self, *options):
        self.log = (self.config.parent / "server.log").open("a")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "discreet", "serve", str(self.config), "--port", str(self.port), *options],
            stdout=self.log, stderr=self.log, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        wait_until_up(self.url, self.process)
        return self

    def stop(self, *, kill=False):
        (self.process.kill if kill else self.process.terminate)()
        self.process.wait(PATIENCE)
        self.log.close()

    def ask(self, body, *, key=None, timeout=PATIENCE, **headers):
        bearer = {"Authorization": f"Bearer {self.alice if key is None else key}"}
        return httpx.post(f"{self.url}/v1/ask", json=body, headers={**bearer, **headers}, timeout=timeout)

    def get(self, path, *, key=None):
        return httpx.get(
            f"{self.url}{path}", headers={"Authorization": f"Bearer {key or self.alice}"}, timeout=PATIENCE
        )


class InProcess(httpx.BaseTransport):
    """An application in this process, for a client that waits: no port, no second process."""

    def __init__(self, app, *, address="127.0.0.1"):
        self._transport = httpx.ASGITransport(app, client=(address, 1))

    def handle_request(self, request):
        async def answered():
            response = await self._transport.handle_async_request(request)
            return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())

        return anyio.run(answered)


def client_of(app, **details):
    """A client of an application in this process."""
    return httpx.Client(transport=InProcess(app, **details), base_url="http://in-process")


@pytest.fixture
def _clock_stands_still(monkeypatch):
    """For those who count requests in this process: however slow the machine is, nobody is let in again."""
    for room in ("http.http_app", "auth.service", "shuffler_app"):
        monkeypatch.setattr(f"discreet.server.{room}.RateLimit", partial(RateLimit, now=lambda: 0.0))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("served")).start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def browser():
    where = shutil.which("chromium")
    assert where, "Chromium is missing. Run: make chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=where, args=_QUIET)
        yield started
        started.close()


def work_while_it_dies(server, work, *, clients, kills, seen):
    """`work(number, done)` in so many threads, until `done` is set, while the server is killed and started again.

    It is killed a moment after it began to answer, which `seen` shows by growing: a busy machine answers late.
    """
    done = threading.Event()
    threads = [threading.Thread(target=work, args=(number, done)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        before, began = len(seen), time.monotonic()
        while len(seen) < before + 3 and time.monotonic() < began + 20:
            time.sleep(0.02)
        time.sleep(0.1)
        server.stop(kill=True)
        server.start()
    done.set()
    for thread in threads:
        thread.join()
