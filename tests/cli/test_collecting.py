"""`discreet collect` as a person types it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from discreet.catalog import load_catalog
from discreet.cli.collect import collect
from discreet.errors import DiscreetError
from discreet.local import Client
from discreet.local.collector.report_store import ReportStore
from tests.server.conftest import Server
from tests.support.commands import call


@pytest.fixture
def discreet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_DEVICE", str(tmp_path / "device.json"))

    def run(*arguments):
        return call("collect", *arguments)

    return run


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path / "served")
    yield made
    made.stop()


def test_a_task_is_written_reported_to_and_estimated(discreet, tmp_path):
    said = discreet("new", "emoji", "--values", "😀,😂,🥰", "--epsilon", "4")
    assert "grr" in said
    assert "taken" in said
    for value in ("😀", "😂", "😂"):
        said = discreet("report", "task.json", value, "--output", "reports.txt")
        assert "is sent" in said
    assert "3 of 5 reports made, ε 12 given away" in said
    reports = tmp_path / "reports.txt"
    reports.write_text(reports.read_text() + "AAAA\n")
    said = discreet("estimate", "task.json", "reports.txt", "--invited", "6")
    assert "3 reports, 50.0 % of those invited" in said
    assert "refused: 1 × wrong-version" in said
    facts = json.loads(discreet("estimate", "task.json", "reports.txt", "--json"))
    assert facts["reports"] == 3
    assert len(facts["top"]) == 3


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (("--numbers", "500"), "truth"),
        (("--mean", "0,110"), "mean"),
        (("--distribution", "0,110"), "truth"),
        (("--values", "yes,no", "--protocol", "warner"), "yes"),
        (("--numbers", "50", "--protocol", "olh"), "truth"),
    ],
)
def test_a_crowd_is_simulated(discreet, asked, shown):
    discreet("new", "numbers", *asked, "--epsilon", "2")
    said = discreet("simulate", "task.json", "--people", "20000")
    assert "20,000 people reported" in said
    assert shown in said
    facts = json.loads(discreet("simulate", "task.json", "--people", "20000", "--json").splitlines()[-1])
    assert facts["reports"] == 20000


def test_words_are_found_in_a_crowd(discreet):
    discreet("new", "words", "--words", "4", "--epsilon", "4")
    assert "w0" in discreet("simulate", "task.json", "--people", "20000")


def test_the_lecture_compares_central_and_local(discreet, tmp_path):
    said = discreet("compare", "--epsilon", "1", "--trials", "20", "--output", "plot.svg")
    assert "local / central" in said
    assert (tmp_path / "plot.svg").read_text().startswith("<svg")


def test_what_cannot_be_is_refused_with_a_next_step(discreet):
    with pytest.raises(DiscreetError, match="Write one"):
        discreet("estimate", "missing.json")
    with pytest.raises(DiscreetError, match="does not say what to collect"):
        discreet("new", "x", "--epsilon", "1")
    discreet("new", "emoji", "--values", "a,b", "--epsilon", "1", "--lifetime", "1")
    discreet("report", "task.json", "a")
    with pytest.raises(DiscreetError, match="lifetime cap"):
        discreet("report", "task.json", "a")
    assert "a random one of them is reported" in discreet("report", "task.json", "c", "--store", "other.json")
    with pytest.raises(DiscreetError, match=r"ε 0\.5 in all"):
        discreet("report", "task.json", "a", "--store", "third.json", "--budget", "0.5")


def test_what_will_be_given_away_is_said_before_the_first_report_only(discreet):
    discreet("new", "emoji", "--values", "a,b", "--epsilon", "1", "--lifetime", "3")
    said = discreet("report", "task.json", "a")
    assert said.index("at most ε 20 in all") < said.index("is sent")
    assert "in all" not in discreet("report", "task.json", "a")


def test_one_user_has_one_device_wherever_the_command_is_run(discreet, tmp_path, monkeypatch):
    monkeypatch.delenv("DISCREET_DEVICE")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    discreet("new", "emoji", "--values", "a,b", "--epsilon", "1", "--lifetime", "1")
    discreet("report", "task.json", "a")
    assert (tmp_path / "home" / ".local" / "share" / "discreet" / "device.json").exists()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(DiscreetError, match="lifetime cap"):
        discreet("report", "../task.json", "a")


@pytest.mark.parametrize("value", ["--5", "-5", "9" * 5000, "1e999999999", "1/0", "1_0", "٣", "x" * 100_000, "\0"])
@pytest.mark.parametrize(
    "asked", [("--mean", "0,10"), ("--values", "a,b"), ("--numbers", "5")], ids=["mean", "list", "range"]
)
def test_whatever_the_value_a_message_leaves(discreet, value, asked):
    discreet("new", "q", *asked, "--epsilon", "1")
    assert "is sent" in discreet("report", "task.json", "--", value)
    assert "is sent" in discreet("report", "task.json", value)


def test_a_message_waits_for_a_service_that_is_dead_and_is_sent_later_as_it_was(discreet, tmp_path, server):
    discreet("new", "emoji", "--values", "a,b", "--epsilon", "1", "--lifetime", "3", "--publish", str(server.config))
    with pytest.raises(DiscreetError, match="stored on this device, and its epsilon is counted"):
        discreet("report", "task.json", "a", "--to", "http://127.0.0.1:1")
    client = Client((tmp_path / "task.json").read_text(), store=tmp_path / "device.json")
    (waiting,) = client.pending()
    assert client.reports == 1
    server.start()
    assert "1 sent" in discreet("send", "task.json", "--to", server.url)
    assert client.pending() == []
    client._store.write(restored_with(client, waiting))
    assert "1 sent" in discreet("send", "task.json", "--to", server.url), "one that arrived before counts as sent"
    assert "nothing waits" in discreet("send", "task.json", "--to", server.url)
    assert "1 reports" in discreet("estimate", "task.json", "--config", str(server.config))
    assert client.reports == 1


ANSWERS = {
    "a list": (202, b"[]", "stored on this device"),
    "no refusal of ours": (403, b'{"error": "x"}', "stored on this device"),
    "deep": (403, b"[" * 200_000, "stored on this device"),
    "no text": (403, b'{"error": {"code": 5, "message": ["\\u001b[2J"], "next_step": null}}', r"\\x1b"),
    "escapes": (403, b'{"error": {"message": "\\u001b[2Jgone"}}', r"^\\x1b\[2Jgone"),
}


@pytest.mark.parametrize(("status", "body", "said"), ANSWERS.values(), ids=ANSWERS)
def test_whatever_a_service_answers_is_a_refusal_that_can_be_printed(discreet, status, body, said):
    class Odd(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    discreet("new", "emoji", "--values", "a,b", "--epsilon", "1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        with pytest.raises(DiscreetError, match=said) as refused:
            discreet("report", "task.json", "a", "--to", f"http://127.0.0.1:{service.server_port}")
        service.shutdown()
    assert str(refused.value).isprintable()


def restored_with(client, message):
    book = client._store.read()
    book["tasks"][client.digest.hex()]["pending"] = [message.hex()]
    return book


def test_a_task_is_published_to_the_books_of_a_catalog(discreet, tmp_path):
    from discreet.samples import write_clinic

    config = write_clinic(tmp_path / "clinic", patients=20, visits=40)
    discreet("new", "emoji", "--values", "a,b", "--epsilon", "1", "--publish", str(config))
    with pytest.raises(DiscreetError, match="at least 1 report"):
        discreet("estimate", "task.json", "--config", str(config))
    books = ReportStore.from_catalog(load_catalog(config))
    books.receive(books.task("emoji"), [Client(books.task("emoji")).report("a") for _ in range(2)])
    books.close()
    assert "2 reports" in discreet("estimate", "task.json", "--config", str(config))


def test_an_owner_lists_closes_and_deletes_collections(discreet, tmp_path):
    from discreet.samples import write_clinic

    config = str(write_clinic(tmp_path / "clinic", patients=20, visits=40))
    discreet("new", "emoji", "--values", "a,b", "--epsilon", "1", "--publish", config, "--retention-days", "30")
    assert "emoji  open, kept until" in discreet("list", "--config", config)
    discreet("close", "emoji", "--config", config)
    known = json.loads(discreet("list", "--config", config, "--json"))["collections"]
    assert [facts["state"] for facts in known] == ["closed"]
    discreet("delete", "emoji", "--config", config, "--yes")
    assert discreet("list", "--config", config) == ""
    with pytest.raises(DiscreetError, match="no such task"):
        discreet("close", "emoji", "--config", config)


def test_bounds_have_a_comma_and_a_kept_answer_costs_once(discreet):
    assert "ε 2 altogether" in discreet("new", "age", "--mean", "-5,110", "--epsilon", "2", "--memoize")
    for text in ("0 110", "0", "a,b", "0,1,2"):
        with pytest.raises(DiscreetError, match="separated by a comma"):
            discreet("new", "age", "--mean", text, "--epsilon", "2")


def test_a_comparison_without_any_central_error_shows_no_ratio():
    assert (collect._ratio(0.5, 0.25), collect._ratio(0.5, 0.0)) == ("2", "—")
