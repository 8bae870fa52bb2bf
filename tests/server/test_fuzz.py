"""Any statement over the wire: an answer or a documented refusal, never a canary that was planted in a row."""

import logging

import httpx
import pytest

from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from tests.sql.statements import Writer
from tests.sql.worlds import CATALOG, HAND_MADE
from tests.support.opening import open_curator, start_ledger

CANARY = "canary-7f3a"
STATUSES = {200, 400, 403, 404, 409, 422}


def ask_with_canaries(tmp_path, *, statements, seed):
    """How often each status came back; no answer has the canary in it."""
    config = tmp_path / "discreet.toml"
    config.write_text(CATALOG.replace("epsilon = 1000", "epsilon = 1e6"))
    world = HAND_MADE.visits | {9: [(91, CANARY, CANARY, 1.0, 1, True, None)]}
    frames = type(HAND_MADE)(world, HAND_MADE.people, HAND_MADE.events, HAND_MADE.notes).frames()
    logged = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())
    logging.getLogger().addHandler(handler)
    keys, writer, seen = KeyStore.open(start_ledger(config)), Writer(seed), {}
    key = keys.create("olga", role="owner")
    with open_curator(config, frames=frames) as curator:
        app = create_app(curator, keys, class_ms=0, rate=1e9, at_once=100, seconds_a_minute=1e9)
        import anyio

        async def ask_all():
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://in-process", headers={"Authorization": f"Bearer {key}"}
            ) as client:
                for _ in range(statements):
                    body = {"sql": writer.statement().replace("'A'", f"'{CANARY[:6]}'") or "x", "epsilon": 0.1}
                    response = await client.post("/v1/ask", json=body)
                    seen[response.status_code] = seen.get(response.status_code, 0) + 1
                    assert CANARY not in response.text, body

        anyio.run(ask_all)
    keys.close()
    logging.getLogger().removeHandler(handler)
    assert not any(CANARY in line for line in logged)
    assert set(seen) <= STATUSES
    return seen


@pytest.mark.slow
def test_no_statement_brings_a_canary_out(tmp_path):
    assert ask_with_canaries(tmp_path, statements=400, seed=23)[200] > 25
