"""What is served now: a refresh and a changed catalog take effect without a restart, and what cannot be served changes nothing."""

import contextlib
import time

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import BadCatalog, DiscreetError, StoreUnavailable
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from discreet.server.jobs.current_curator import CurrentCurator
from tests.server.conftest import client_of
from tests.support.commands import run_apart
from tests.support.opening import open_curator, start_ledger

COUNT = "SELECT COUNT(*) AS n FROM visits"
VISITS = "visits.parquet"


@pytest.fixture
def config(tmp_path):
    made = write_clinic(tmp_path, patients=50, visits=400)
    made.write_text(made.read_text().replace("epsilon = 5.0", "epsilon = 1e6"))
    return made


@pytest.fixture
def current(config):
    with open_curator(config) as curator:
        made = CurrentCurator(curator, config, now=Clock())
        yield made
        made.close()


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def counted(curator):
    """Nearly without noise."""
    return curator.ask(COUNT, epsilon=1000).rows[0]["n"]


def halve(config):
    rows = pq.read_table(config.parent / VISITS)
    pq.write_table(rows.slice(0, rows.num_rows // 2), config.parent / VISITS)


def edit(config, before, after):
    text = config.read_text()
    assert before in text
    config.write_text(text.replace(before, after))


def test_a_question_under_way_ends_on_its_own_snapshot_and_the_next_has_the_new_one(config, current):
    with current.acquire() as older:
        halve(config)
        assert current.status()["source_changed"]
        assert current.refresh(by="key 1", takes_catalog=True) == 2
        with current.acquire() as newer:
            assert (older.version, newer.version) == (1, 2)
            assert counted(newer) < 0.8 * counted(older)
    current.update()
    assert older.ask("SELECT COUNT(*) AS n FROM patients", epsilon=1).rows, "kept for who asks again"
    current._now.now = 601.0
    with current.acquire_earlier():
        current.update()
        assert older.ask("SELECT COUNT(*) AS n FROM patients", epsilon=2).rows, "and until the last question has ended"
    with pytest.raises(DiscreetError):
        older.ask("SELECT COUNT(*) AS n FROM patients", epsilon=3)

    assert not current.status()["source_changed"]


def test_a_refresh_by_another_process_is_noticed(config, current):
    halve(config)
    run_apart("refresh", "--config", config)
    before = current.status()
    assert (before["data_version"], before["newest_data_version"]) == (1, 2)
    current.update()
    assert current.status()["data_version"] == 2
    with current.acquire() as curator:
        assert counted(curator) == pytest.approx(pq.read_metadata(config.parent / VISITS).num_rows, abs=60)


def test_a_catalog_that_was_not_changed_is_not_stated_again_with_a_newer_data_version(config, current):
    """Or two processes with two catalogs over one ledger put caps and analysts back in turn, whenever one of them begins a data version."""
    other = config.with_name("other.toml")
    other.write_text(
        config.read_text().replace("epsilon = 1e6", "epsilon = 3.0").replace("analysts.alice", "analysts.bob")
    )
    halve(config)
    run_apart("refresh", "--config", other)
    ledger = current.curator.ledger
    current.update()
    assert current.status()["data_version"] == 2
    assert ledger.account().cap.epsilon == 3.0
    assert (ledger.totals().declared, ledger.totals().closed) == ({"analyst:bob"}, {"analyst:alice"})


def test_a_changed_catalog_is_served_and_its_caps_count(config, current):
    with current.acquire() as curator:
        before = counted(curator)
    edit(config, "max_rows = 20", "max_rows = 2")
    config.write_text(config.read_text() + "\n[budget.analysts.bob]\nepsilon = 1.0\n")
    assert current.status()["catalog_changed"]
    current.update()
    facts = current.status()
    assert (facts["data_version"], facts["catalog_changed"], facts["problem"]) == (1, False, None)
    with current.acquire() as curator:
        assert counted(curator) < before, "the same words of another catalog are another question"
    assert "bob" in {account.account for account in current.curator.budget()}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("max_rows = 20", "max_rows = twenty", "line"),
        ("max_rows = 20", "max_rows = 0", "Line"),
        ("ledger.sqlite", "other.sqlite", "[ledger] path"),
        ("[tables.visits]", "[tables.visitors]", "visitors"),
        ("[source]", 'neighbours = "replace-one"\n[source]', "neighbours"),
    ],
)
def test_a_catalog_that_cannot_be_served_changes_nothing_and_says_why_until_it_is_mended(
    config, current, before, after, words
):
    text, accounts = config.read_text(), current.curator.budget()
    edit(config, before, after)
    config.write_text(config.read_text() + "\n[budget.analysts.bob]\nepsilon = 1.0\n")
    served = current.curator
    current.update()
    problem = current.status()["problem"]
    assert words in problem["message"] + problem["next_step"]
    assert current.curator is served
    assert current.curator.budget() == accounts
    with current.acquire() as curator:
        assert counted(curator) > 0
    config.write_text(text)
    current.update()
    assert current.status()["problem"] is None


def test_what_is_refused_is_tried_again_only_when_something_changed(config, current, monkeypatch):
    tries = []
    monkeypatch.setattr("discreet.server.jobs.current_curator.successor", lambda *_, **__: tries.append(1) or _refuse())
    config.write_text(config.read_text() + "\n")
    for _ in range(3):
        current.update()
    assert len(tries) == 1
    config.write_text(config.read_text() + "\n")
    current.update()
    assert len(tries) == 2


def _refuse():
    raise BadCatalog("No.", next_step="Never.")


def test_a_refresh_that_cannot_be_read_leaves_the_older_version_in_service(config, current):
    (config.parent / VISITS).write_bytes(b"no parquet")
    with pytest.raises(BadCatalog):
        current.refresh(by="key 1", takes_catalog=True)
    with current.acquire() as curator:
        assert curator.version == 1
        assert counted(curator) > 0
    assert current.status()["problem"]["code"] == "bad-catalog"


def test_a_catalog_that_was_edited_while_the_server_started_is_not_taken_for_the_one_it_serves(config):
    with open_curator(config) as curator:
        edit(config, "max_rows = 20", "max_rows = 2")
        current = CurrentCurator(curator, config)
        assert current.status()["catalog_changed"]


def test_a_running_server_notices_a_refresh_a_cap_and_a_catalog(server):
    """The real thing: other processes do it, and nobody restarts."""
    asked = {"sql": COUNT, "epsilon": 0.001}
    assert server.ask(asked).status_code == 200
    table = pq.read_table(server.config.parent / VISITS)
    pq.write_table(pa.concat_tables([table, table.slice(0, 5)]), server.config.parent / VISITS)
    run_apart("refresh", "--config", server.config)
    _until(lambda: httpx.get(f"{server.url}/healthz").json()["data_version"] == 2)
    assert "discreet-replayed" not in server.ask(asked).headers
    edit(server.config, "max_rows = 20", "max_rows = 7")
    _until(lambda: '"max_rows":7' in server.get("/v1/catalog").text.replace(" ", ""))
    assert server.get("/v1/serving").status_code == 403
    with contextlib.closing(open_curator(server.config)) as curator:
        curator.ledger.freeze("alice")
    assert server.ask(asked).json()["error"]["code"] == "account-frozen"
    with httpx.Client(base_url=server.url) as page:
        page.post("/session", json={"key": server.alice})
        assert page.get("/v1/budget").status_code == server.get("/v1/budget").status_code == 200
        edit(server.config, "[budget.analysts.alice]\nepsilon = 2.0", "")
        _until(lambda: server.get("/v1/budget").status_code == 403)
        assert server.get("/v1/catalog").json()["error"]["code"] == "unknown-account"
        assert page.get("/v1/budget").status_code == 403
        assert page.get("/v1/budget").status_code == 401, "the session has ended"


def _until(holds):
    ends = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('path = "."', 'path = ".."'),
        ('path = "."', 'path = "."\nsnapshot = "discreet.toml"'),
        ("[tables.visits]\n", '[tables.visits]\npath = "../elsewhere.parquet"\n'),
        ('privacy_unit = "patient_id"\nmax_rows = 20 ', 'privacy_unit = "row"\n'),
    ],
)
def test_other_files_and_other_people_are_not_served_by_a_change_of_the_catalog(config, current, before, after):
    """Who has a key for the page could read another dataset's files with it, write over them, or protect visits instead of patients."""
    edit(config, before, after)
    current.update()
    problem = current.status()["problem"]
    assert "Restart the server" in problem["next_step"] or "new ledger" in problem["next_step"]
    assert current.curator.declared.tables["visits"].unit.column == "patient_id"


def test_a_refresh_serves_a_catalog_that_waits_only_if_the_owner_wants_it(config, current):
    halve(config)
    edit(config, "max_rows = 20", "max_rows = 2")
    current.update()
    assert current.status()["problem"]["code"] == "source-changed"
    assert current.refresh(by="key 1", takes_catalog=False) == 2
    for _ in range(2):
        facts = current.status()
        assert (facts["data_version"], facts["catalog_changed"], facts["source_changed"]) == (2, True, False)
        assert facts["problem"]["code"] == "source-changed"
        assert current.curator.declared.tables["visits"].max_rows == 20
        current.update()
    assert current.refresh(by="key 2", takes_catalog=True) == 2
    assert not current.status()["catalog_changed"]
    assert current.curator.declared.tables["visits"].max_rows == 2


def test_a_steward_s_refresh_keeps_no_new_catalog_from_being_served(config, current):
    edit(config, "max_rows = 20", "max_rows = 2")  # and nobody has looked yet
    whole = (config.parent / VISITS).read_bytes()
    (config.parent / VISITS).write_bytes(b"no parquet")
    with pytest.raises(BadCatalog):
        current.refresh(by="key 1", takes_catalog=False)
    (config.parent / VISITS).write_bytes(whole)
    current.refresh(by="key 1", takes_catalog=False)
    assert current.curator.declared.tables["visits"].max_rows == 20
    current.update()
    assert current.curator.declared.tables["visits"].max_rows == 2


def test_a_steward_s_refresh_puts_no_cap_and_no_analyst_back_that_the_owner_took_away_since(config, current):
    edit(config, "epsilon = 1e6", "epsilon = 0.01")
    edit(config, "[budget.analysts.alice]", "[budget.analysts.bob]")
    edit(config, "[source]", "[engine]\nseconds = 30\n\n[source]")  # which a running server keeps
    run_apart("refresh", "--config", config)
    current.update()
    assert current.status()["problem"] is not None
    before, ledger = current.curator.budget(), current.curator.ledger
    head = ledger.head()
    current.refresh(by="key 1", takes_catalog=False)
    assert (current.curator.budget(), ledger.head()) == (before, head)
    assert (ledger.account().cap.epsilon, ledger.totals().closed) == (0.01, {"analyst:alice"})
    halve(config)
    assert current.refresh(by="key 1", takes_catalog=False) == 2
    assert (current.curator.budget(), ledger.totals().closed) == (before, {"analyst:alice"})


@pytest.fixture
def served(config):
    book = KeyStore.open(start_ledger(config))
    with open_curator(config) as curator:
        app = create_app(curator, book, class_ms=0, config=config)
        headers = {"Authorization": f"Bearer {book.create('alice')}"}
        with client_of(app) as client:
            yield (
                app.state.service,
                lambda sql, name: client.post(
                    "/v1/ask", json={"sql": sql, "epsilon": 0.1}, headers={**headers, "Idempotency-Key": name}
                ),
            )
    book.close()


def new_catalog(config, service):
    edit(config, "max_rows = 20", "max_rows = 2")
    service.current.update()


def new_data(config, service):
    halve(config)
    service.current.refresh(by="key 1", takes_catalog=True)


def test_what_was_paid_for_is_answered_under_the_same_name_whatever_is_served_meanwhile(config, served):
    service, ask = served
    first = ask(COUNT, "mine")
    for change in (new_catalog, new_data):
        change(config, service)
        again = ask(COUNT, "mine")
        assert (again.status_code, again.json()["rows"], again.headers["discreet-replayed"]) == (
            200,
            first.json()["rows"],
            "true",
        )
        assert ask("SELECT COUNT(*) AS n FROM patients", "mine").status_code == 409
    assert service.curator.ledger.account("alice").spent.epsilon == pytest.approx(0.1)
    assert ask(COUNT, "another").headers.get("discreet-replayed") is None
    assert service.curator.ledger.account("alice").spent.epsilon == pytest.approx(0.2)


def test_a_question_that_was_paid_for_and_never_answered_is_read_on_the_data_that_it_was_asked_of(
    config, served, monkeypatch
):
    service, ask = served
    ledger = service.curator.ledger
    with monkeypatch.context() as broken:
        broken.setattr(ledger, "finish", lambda *_: (_ for _ in ()).throw(StoreUnavailable("Gone.", next_step="")))
        assert ask(COUNT, "mine").status_code == 503
    new_data(config, service)
    assert ask(COUNT, "mine").status_code == 200
    assert ledger.account("alice").spent.epsilon == pytest.approx(0.1)


def test_a_file_that_is_no_snapshot_is_never_written_over(config, tmp_path):
    precious = tmp_path / "precious.sqlite"
    precious.write_bytes(b"SQLite format 3\0 books")
    edit(config, 'path = "."', 'path = "."\nsnapshot = "precious.sqlite"')
    with pytest.raises(BadCatalog, match="not overwritten"):
        open_curator(config)
    assert precious.read_bytes() == b"SQLite format 3\0 books"
