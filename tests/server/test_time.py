"""Time through the real server: a guess about a person is not heard in it, and one who asks for much does not make others wait."""

import contextlib
import re
import subprocess
import sys
import threading
import time

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from discreet.server.auth.keys import KeyStore
from tests.server.conftest import Server, free_port
from tests.support.checks import FALSE_ALARM
from tests.support.opening import start_ledger

PEOPLE, PUBLIC = 200, 1_000
CATALOG = """
[source]
path = "."
[engine]
seconds = 600
[ledger]
path = "ledger.sqlite"
[budget]
epsilon = 1e6
[budget.analysts.alice]
epsilon = 1e5
[budget.analysts.bob]
epsilon = 1e5
[tables.people]
privacy_unit = "id"
rows_about = {about}
columns.id = {{ type = "integer" }}
columns.sick = {{ type = "boolean" }}
[tables.notes]
privacy_unit = "id"
max_rows = 100
rows_about = 100
columns.id = {{ type = "integer" }}
columns.note = {{ type = "text", max_length = 4096 }}
[tables.numbers]
public = true
"""


class Clinic(Server):
    """People of whom every other is sick, and public rows that each of them can meet."""

    def __init__(self, folder, *, about, people=PEOPLE):
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": list(range(people)), "sick": [i % 2 == 0 for i in range(people)]}), folder / "people.parquet")  # fmt: skip
        pq.write_table(pa.table({"n": [float(n) for n in range(PUBLIC)]}), folder / "numbers.parquet")
        notes = [f"{'ab' * 2000}{number}" for number in range(100)]
        pq.write_table(pa.table({"id": [100] * len(notes), "note": notes}), folder / "notes.parquet")
        self.config = folder / "discreet.toml"
        self.config.write_text(CATALOG.format(about=about))
        with contextlib.closing(KeyStore.open(start_ledger(self.config))) as book:
            self.alice, self.bob = book.create("alice"), book.create("bob")
            self.metrics = book.create("watch", role="metrics")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"


def heavy(number):
    """Something that takes long to compute for one row, and differs by its number."""
    value = f"(n + {number})"
    for _ in range(12):
        value = f"SQRT({value} + 1.5)"
    return f"{value} < 100"


def guess(person, number):
    """Whether somebody is sick: a thousand public rows are worked on if so, and none if not."""
    return f"SELECT COUNT(*) AS n FROM people CROSS JOIN numbers WHERE id = {person} AND sick AND {heavy(number)}"


def dear_guess(person, number):
    """Whether somebody has notes: texts that a hard pattern takes long to look at, if so."""
    hard = " OR ".join(f"note LIKE '%{'a_' * 22}b{number:03}{part}'" for part in range(2))
    return f"SELECT COUNT(*) AS n FROM notes WHERE id = {person} AND NOT ({hard})"


def latencies(server, count, guess):
    """Seconds until an answer about a sick person and about a healthy one, by turns."""
    headers, sides = {"Authorization": f"Bearer {server.alice}"}, ([], [])
    with httpx.Client(base_url=server.url, headers=headers, timeout=60) as client:
        for number in range(2 * count + 4):
            began = time.perf_counter()
            answer = client.post("/v1/ask", json={"sql": guess(100 + number % 2, number), "epsilon": 0.001})
            took = time.perf_counter() - began
            assert answer.status_code == 200, answer.text
            if number >= 4:  # the first ones fill caches
                sides[number % 2].append(took)
    return sides


def heard(sides):
    """How likely latencies are to be so different by chance: Kolmogorov–Smirnov, two samples."""
    return stats.ks_2samp(*sides).pvalue


@contextlib.contextmanager
def busy():
    """Two processes that do nothing, as fast as they can."""
    idlers = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for idler in idlers:
            idler.kill()
            idler.wait()


def listen(folder, *, count, options=(), guess=guess):
    """A side's latencies, from a server of its own."""
    server = Clinic(folder, about=PEOPLE).start("--rate", "1000", *options)
    try:
        return latencies(server, count, guess)
    finally:
        server.stop(kill=True)


def test_a_guess_about_a_person_is_not_heard_in_the_time(tmp_path):
    sides = listen(tmp_path, count=20)
    assert heard(sides) > FALSE_ALARM
    assert min(min(side) for side in sides) >= 0.05


def test_the_same_listening_hears_a_reading_where_answers_do_not_wait(tmp_path):
    """What shows that the test above would notice."""
    sides = ([], [])
    for turn in range(8):  # as long as it takes: a busy machine is noisy
        more = listen(tmp_path / str(turn), count=24, options=("--class-ms", "0"), guess=dear_guess)
        sides = [side + new for side, new in zip(sides, more, strict=True)]
        if heard(sides) < FALSE_ALARM:
            break
    assert heard(sides) < FALSE_ALARM


@pytest.fixture
def crowded(tmp_path):
    server = Clinic(tmp_path, about=50_000, people=200_000).start("--seconds-a-minute", "10000")
    yield server
    server.stop(kill=True)


def under_way(server):
    """How many questions the server works on."""
    shown = server.get("/metrics", key=server.metrics).text
    return int(re.search(r"^discreet_queries (\d+)", shown, re.MULTILINE)[1])


def test_a_short_question_does_not_wait_for_long_ones(crowded):
    """Alice asks for more than can be read while a test lasts, on all her places; bob is answered, and so is whoever asks whether the server is well."""
    long = [f"SELECT COUNT(*) AS n FROM people CROSS JOIN numbers WHERE {heavy(number)} AND {heavy(number + 0.1)}" for number in range(8)]  # fmt: skip

    def read(sql):
        with contextlib.suppress(httpx.TransportError):
            crowded.ask({"sql": sql, "epsilon": 0.001}, timeout=600)

    threads = [threading.Thread(target=read, args=(sql,), daemon=True) for sql in long]
    for thread in threads:
        thread.start()
    while under_way(crowded) < len(long):
        assert all(thread.is_alive() for thread in threads)
        time.sleep(0.1)
    for number in range(2):
        sql = f"SELECT COUNT(*) AS n FROM people WHERE id > {number}"
        assert crowded.ask({"sql": sql, "epsilon": 0.01}, key=crowded.bob, timeout=600).status_code == 200
        assert httpx.get(f"{crowded.url}/healthz", timeout=60).status_code == 200
    assert under_way(crowded) == len(long), "bob had his answers before alice had any of hers"
