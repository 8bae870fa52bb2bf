"""The books of collections are held to the same promises on both databases."""

import pytest

from discreet.local.collector.report_store import ReportStore
from tests.ledger.conftest import postgres_url, where
from tests.local.tasks import Clock, task

__all__ = ["books", "clock", "postgres_url", "where"]


@pytest.fixture
def books(where):
    found = ReportStore.open(where)
    found.publish(task())
    yield found
    found.close()


@pytest.fixture
def clock():
    return Clock()
