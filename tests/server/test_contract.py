"""The API keeps the contract that its OpenAPI document states, whatever is thrown at it."""

from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings

from discreet.samples import write_clinic
from discreet.server.auth.keys import KeyStore
from discreet.server.http.http_app import create_app
from tests.support.opening import open_curator, start_ledger

pytestmark = pytest.mark.slow


@contextmanager
def clinic_in(folder):
    """An application in a folder, and the owner's key."""
    config = write_clinic(folder, patients=50, visits=200)
    keys = KeyStore.open(start_ledger(config))
    with open_curator(config) as curator:
        app = create_app(curator, keys, class_ms=0, rate=1e9, at_once=100, seconds_a_minute=1e9)
        yield app, keys.create("olga", role="owner")
    keys.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with clinic_in(tmp_path_factory.mktemp("contract")) as clinic:
        yield clinic


def test_nothing_that_is_sent_makes_the_server_fail(served):
    throw_at_every_route(*served, examples=20)


def throw_at_every_route(app, key, *, examples):
    import schemathesis  # so heavy that only one of the suite's processes should load it

    routes = 0
    for found in schemathesis.openapi.from_asgi("/openapi.json", app).get_all_operations():
        operation = found.ok()

        @settings(max_examples=examples, suppress_health_check=list(HealthCheck), deadline=None, database=None)
        @given(case=operation.as_strategy())
        def throw(case):
            response = case.call(headers={"Authorization": f"Bearer {key}"})
            assert response.status_code in {200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 422, 429}
            assert "site-packages" not in response.text

        throw()
        routes += 1
    assert routes >= 12


def test_every_route_is_in_the_document_with_its_refusals(served):
    app, _ = served
    document = app.openapi()
    assert {
        "/v1/ask",
        "/v1/explain",
        "/v1/budget",
        "/v1/history",
        "/v1/catalog",
        "/v1/transparency",
        "/healthz",
        "/v1/keys",
    } <= set(document["paths"])
    assert {"400", "401", "403", "404", "409", "422", "429", "503"} <= set(
        document["paths"]["/v1/ask"]["post"]["responses"]
    )
