"""A long question is told as it happens, can be taken back, and costs its price all the same."""

import asyncio
import json
import threading
import time
from contextlib import closing

import anyio
import httpx
import pytest

from discreet.api.operations import ask as ask_operation
from discreet.api.requests.ask import AskRequest
from discreet.errors import Cancelled, EngineFailure, TooMany
from discreet.pipeline.call import Call
from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.auth.rate_limit import RateLimit
from discreet.server.auth.roles import Holder
from discreet.server.http.http_app import create_app
from discreet.server.jobs import running_queries as queries_module
from discreet.server.jobs.current_curator import CurrentCurator
from discreet.server.jobs.running_queries import RunningQueries, outcome_job
from discreet.server.jobs.time_budget import TimeBudget
from tests.support.inside import read_forever
from tests.support.opening import CAP, open_curator


def test_steps_are_told_and_the_last_line_is_the_answer(server):
    headers = {"Authorization": f"Bearer {server.alice}", "Accept": "application/x-ndjson"}
    body = {"sql": "SELECT COUNT(*) AS n FROM patients WHERE age > 77", "epsilon": 0.01}
    with httpx.stream("POST", f"{server.url}/v1/ask", json=body, headers=headers) as response:
        lines = [json.loads(line) for line in response.iter_lines()]
    assert [line.get("state") for line in lines[:2]] == ["planned", "paid"]
    assert lines[-1]["columns"] == ["n"]
    assert server.ask(body).json() == lines[-1]


def test_a_refusal_is_the_last_line_too(server):
    headers = {"Authorization": f"Bearer {server.alice}", "Accept": "application/x-ndjson"}
    with httpx.stream("POST", f"{server.url}/v1/ask", json={"sql": "SELECT * FROM visits", "epsilon": 1}, headers=headers) as response:  # fmt: skip
        lines = [json.loads(line) for line in response.iter_lines()]
    assert [line["error"]["code"] for line in lines] == ["not-allowed"]


@pytest.fixture
def curator(tmp_path):
    with open_curator(write_clinic(tmp_path, patients=50, visits=200)) as made:
        yield made


def test_a_question_that_is_stopped_stays_paid_and_is_free_when_asked_again(curator, monkeypatch):
    """Taking it back does not stop what is paid for; only a curator who goes away does."""
    read_forever(curator, monkeypatch)
    paid, stopped = threading.Event(), []
    call = Call(analyst="alice", on_step=lambda step: paid.set() if step == "paid" else None)

    def ask():
        try:
            curator.with_call(call).ask("SELECT COUNT(*) FROM visits", epsilon=0.5)
        except Cancelled as error:
            stopped.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert paid.wait(30)
    time.sleep(0.3)
    curator.cancel(call)
    thread.join(0.3)
    assert thread.is_alive()
    curator.stop(call)
    thread.join(30)
    assert len(stopped) == 1
    monkeypatch.undo()
    assert not curator.ledger.account("alice").frozen
    assert curator.ledger.account("alice").spent.epsilon == 0.5
    assert curator.as_analyst("alice").ask("SELECT COUNT(*) FROM visits", epsilon=0.5).rows
    assert curator.ledger.account("alice").spent.epsilon == 0.5


def test_taking_back_one_question_disturbs_no_other(curator):
    other = Call()
    curator.cancel(other)
    assert curator.ask("SELECT COUNT(*) FROM visits", epsilon=0.1).rows
    with pytest.raises(Cancelled):
        curator.with_call(other).ask("SELECT COUNT(*) FROM patients", epsilon=0.1)


def test_what_is_taken_back_is_planned_no_further(curator, monkeypatch):
    call, steps = Call(), []

    def at_a_step(*given, **named):
        steps.append(given)
        if len(steps) == 3:
            curator.cancel(call)
        return widest_half_width(*given, **named)

    widest_half_width = ask_operation.widest_half_width
    monkeypatch.setattr(ask_operation, "widest_half_width", at_a_step)
    with pytest.raises(Cancelled):
        curator.with_call(call).ask("SELECT COUNT(*) FROM visits", within=3, confidence=0.9)
    assert len(steps) == 3


def test_what_is_taken_back_counts_among_the_questions_at_once_until_its_class_ends(curator):
    """The caller is told at once. The question goes on, as its seconds do, until its answer would have left, and is stored then."""
    holder, asked = Holder("key 1", "alice", "analyst"), AskRequest("SELECT COUNT(*) FROM visits", epsilon=0.1)
    rate_limit, time_budget = RateLimit(rate=1000, at_once=1), TimeBudget(unit=0.8, longest=10, seconds_per_minute=60)
    queries, paid = (
        RunningQueries(CurrentCurator(curator), rate_limit=rate_limit, time_budget=time_budget),
        threading.Event(),
    )

    async def free_after():
        call = Call(request_id="x", on_step=lambda step: paid.set() if step == "paid" else None)
        began = time.monotonic()
        task = asyncio.ensure_future(queries.ask(outcome_job(asked), holder=holder, call=call, then=len))
        await anyio.to_thread.run_sync(paid.wait, 30)
        queries.cancel(holder, "x")
        with pytest.raises(Cancelled):
            await task
        told = time.monotonic() - began
        while True:
            try:
                with rate_limit.admit("alice"):
                    return told, time.monotonic() - began
            except TooMany:
                await asyncio.sleep(0.01)

    told, free = asyncio.run(free_after())
    assert told < 0.8 <= free
    assert curator.as_analyst("alice").ask(asked.sql, epsilon=0.1).replayed


class ReadsUntilTakenBack:
    """Stands in for `ask`: plans until somebody takes the question back."""

    def __init__(self):
        self.begun, self.call = threading.Event(), None

    def __call__(self, _request, context):
        self.call = context.call
        self.begun.set()
        self.call.cancelled.wait(30)
        raise Cancelled("Taken back.", next_step="Ask again.")


def test_only_ones_own_questions_can_be_taken_back(curator, monkeypatch):
    keys = KeyStore.open(curator.declared.ledger)
    alice, bob, olga = keys.create("alice"), keys.create("bob", cap=CAP), keys.create("olga", role="owner")
    reading = ReadsUntilTakenBack()
    monkeypatch.setattr(ask_operation, "run", reading)
    refusals = []

    async def scenario():
        transport = httpx.ASGITransport(app=create_app(curator, keys, class_ms=0))
        async with httpx.AsyncClient(transport=transport, base_url="http://in-process") as client:

            async def ask():
                body = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 0.1}
                headers = {"Authorization": f"Bearer {alice}", "Idempotency-Key": "hers"}
                refusals.append((await client.post("/v1/ask", json=body, headers=headers)).json()["error"]["code"])

            async def cancel(key, name="hers"):
                return (await client.delete(f"/v1/ask/{name}", headers={"Authorization": f"Bearer {key}"})).status_code

            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                assert await anyio.to_thread.run_sync(reading.begun.wait, 30)
                for stranger in (bob, olga):
                    assert await cancel(stranger) == 204  # whether there is such a question is not told
                    assert not reading.call.cancelled.is_set()
                assert await cancel("nobody") == 401
                assert await cancel(alice, "another") == 204
                assert not reading.call.cancelled.is_set()
                assert await cancel(alice) == 204
                assert reading.call.cancelled.is_set()

    try:
        anyio.run(scenario)
    finally:
        if reading.call is not None:
            reading.call.cancelled.set()
        keys.close()
    assert refusals == ["cancelled"]


class StopsLate:
    """Stands in for `ask`: somebody takes the question back, and it goes on for a while."""

    def __init__(self):
        self.begun, self.may_stop = threading.Semaphore(0), threading.Event()

    def __call__(self, _request, _context):
        self.begun.release()
        self.may_stop.wait(30)
        raise EngineFailure("Stopped.", next_step="Ask again.")


@pytest.fixture
def late(curator, monkeypatch):
    reading = StopsLate()
    monkeypatch.setattr(ask_operation, "run", reading)
    yield reading
    reading.may_stop.set()


def scenario_of(curator, scenario, **options):
    """Run with a client and alice's header, and a body to ask with."""
    with closing(KeyStore.open(curator.declared.ledger)) as keys:
        headers = {"Authorization": f"Bearer {keys.create('alice')}"}
        app = create_app(curator, keys, **options)

        async def whole():
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://in-process", headers=headers) as client:
                await scenario(
                    client, app.state.service.queries, {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 0.1}
                )

        anyio.run(whole)


def test_who_takes_a_question_back_is_told_at_once_while_it_still_stops(curator, late):
    """Else the time from taking back to the refusal would tell whether it was still being read."""

    async def scenario(client, _queries, body):
        codes = []

        async def ask(name):
            response = await client.post("/v1/ask", json=body, headers={"Idempotency-Key": name})
            codes.append(response.json()["error"]["code"])

        for name in ("first", "second"):
            async with anyio.create_task_group() as group:
                group.start_soon(ask, name)
                assert await anyio.to_thread.run_sync(lambda: late.begun.acquire(timeout=30))
                await client.delete(f"/v1/ask/{name}")
        assert codes == ["cancelled", "cancelled"]
        assert not late.may_stop.is_set()
        late.may_stop.set()

    scenario_of(curator, scenario)


def test_more_questions_than_there_are_threads_are_refused(curator, late, monkeypatch):
    monkeypatch.setattr(queries_module, "_THREADS", 1)

    async def scenario(client, _queries, body):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.post("/v1/ask", json=body))
            assert await anyio.to_thread.run_sync(lambda: late.begun.acquire(timeout=30))
            refused = await client.post("/v1/explain", json=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too-many")
            late.may_stop.set()

    scenario_of(curator, scenario)


def test_explaining_and_asking_are_on_one_clock(curator):
    async def scenario(client, queries, body):
        assert (await client.post("/v1/explain", json=body)).status_code == 200
        queries._time._seconds.take("alice", 100)
        for route in ("explain", "ask"):
            refused = await client.post(f"/v1/{route}", json=body)
            assert refused.json()["error"]["code"] == "too-many"
            assert "seconds of a minute" in refused.json()["error"]["message"]

    scenario_of(curator, scenario)
    assert curator.ledger.account("alice").spent.epsilon == 0


def test_a_server_that_stops_takes_back_what_is_under_way(curator, monkeypatch):
    reading = ReadsUntilTakenBack()
    monkeypatch.setattr(ask_operation, "run", reading)

    async def scenario(client, _queries, body):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.post("/v1/ask", json=body))
            assert await anyio.to_thread.run_sync(reading.begun.wait, 30)
            group.cancel_scope.cancel()

    scenario_of(curator, scenario)
    assert reading.call.stopped.is_set()


def test_a_server_that_stops_stops_what_was_taken_back_too(curator, monkeypatch):
    read_forever(curator, monkeypatch)
    began = time.monotonic()

    def until_it_is_read():
        while not curator._pipeline._read_slots._held:
            time.sleep(0.01)

    async def scenario(client, queries, body):
        headers = {"Idempotency-Key": "hers"}
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.post("/v1/ask", json=body, headers=headers))
            await anyio.to_thread.run_sync(until_it_is_read)
            await client.delete("/v1/ask/hers")
        assert queries._abandoned

    scenario_of(curator, scenario)  # ends with the event loop
    assert time.monotonic() - began < 30
    assert not curator.ledger.account("alice").frozen
