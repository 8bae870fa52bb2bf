"""Fixtures: a report store on each of both databases, and a clock."""

import pytest

from discreet.local.collector.report_store import ReportStore
from tests.ledger.conftest import postgres_url, where
from tests.local.tasks import Clock, task

__all__ = ["clock", "postgres_url", "report_store", "where"]


@pytest.fixture
def report_store(where):
    found = ReportStore.open(where)
    found.publish(task())
    yield found
    found.close()


@pytest.fixture
def clock():
    return Clock()
