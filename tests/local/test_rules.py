"""A task is checked whole before it is published."""

import json

import pytest

from discreet import errors
from discreet.local import Task
from discreet.local.collector.collection_records import insert_record
from discreet.local.tasks.task_rules import validate_task
from discreet.store import open_store
from tests.local.tasks import NUMBERED, task

BAD = {
    "caps.per_epoch": {"caps": {"per_epoch": "many", "lifetime": 3}},
    "caps.lifetime": {"caps": {"per_epoch": 1, "lifetime": 10**400}},
    "caps": {"caps": None},
    "epoch_seconds": {"epoch_seconds": 1.5},
    "min_batch": {"min_batch": None},
    "memoize": {"memoize": "no"},
    "name": {"name": 7},
    "kind": {"kind": "mean"},
    "domain": {"domain": {"values": ["a", ["b"], "c"]}},
    "parameters": {"parameters": {"size": 3, "more": 1}},
}


@pytest.mark.parametrize("wrong", BAD)
def test_a_task_is_checked_whole(wrong):
    with pytest.raises(errors.BadTask):
        validate_task({**task().spec, **BAD[wrong]})


def test_bad_tasks_that_are_in_the_books_are_left_out_named_for_the_owner_and_can_be_deleted(report_store, where):
    with open_store(where).transaction() as t:
        for number, (name, change) in enumerate(BAD.items()):
            insert_record(t, f"{number:032x}", name, json.dumps({**task().spec, **change}), expires=None)
        insert_record(t, "f" * 32, "no json", "{", expires=None)
    records, unsound = report_store.records()
    assert [record.task.name for record in records] == ["emoji"]
    assert set(unsound) == {*BAD, "no json"}
    for name in unsound:
        with pytest.raises(errors.UnknownTask):
            report_store.record(name)
        report_store.delete_task(name)
    assert report_store.records()[1] == []


def published(**changes):
    spec = {**NUMBERED.spec, "assigned": False, **changes}
    return validate_task({**spec, "name": spec.get("name", "t")})


MUCH = {
    "candidates for every report": {"domain": {"range": 1 << 32}, "parameters": {"buckets": 4, "size": 1 << 32}},
    "hashes of every value": {
        "protocol": "cms",
        "domain": {"range": 1 << 32},
        "parameters": {"rows": 2, "columns": 2, "size": 1 << 32},
    },
    "no values": {"domain": {"values": []}, "parameters": {"buckets": 4, "size": 0}},
    "a distribution's matrix": {
        "kind": "distribution",
        "protocol": "square-wave",
        "domain": {"lower": "0", "upper": "1"},
        "parameters": {"steps": 1 << 12, "width": 1 << 12},
    },
    "bounds beyond doubles": {
        "kind": "mean",
        "protocol": "duchi",
        "domain": {"lower": "0", "upper": "1" + "0" * 399},
        "parameters": {"steps": 8},
    },
    "bounds apart beyond doubles": {
        "kind": "mean",
        "protocol": "duchi",
        "domain": {"lower": "-1" + "0" * 308, "upper": "1" + "0" * 308},
        "parameters": {"steps": 8},
    },
    "a regression": {
        "protocol": "rappor",
        "domain": {"range": 1 << 26},
        "parameters": {"size": 1 << 26, "filter_bits": 16, "hashes": 2, "cohorts": 2, "first": "1/2"},
    },
    **{
        f"prefixes {prefixes}": {
            "kind": "heavy-hitters",
            "protocol": "pem",
            "domain": {"length": 8},
            "parameters": {"length": 8, "prefixes": prefixes, "buckets": 4},
        }
        for prefixes in ([40], [64], [16, 8], [16, 32, 48, 64], [8, 8, 64])
    },
    "long pieces": {
        "kind": "heavy-hitters",
        "protocol": "sfp",
        "domain": {"length": 8},
        "parameters": {"length": 8, "piece": 8, "rows": 2, "columns": 2},
    },
    "the number of another": {"name": "0123456789abcdef" * 2},
}


@pytest.mark.parametrize("changes", MUCH.values(), ids=MUCH)
def test_a_task_that_cannot_be_estimated_or_found_is_not_published(changes):
    with pytest.raises(errors.BadTask):
        published(**changes)


def test_tasks_as_they_are_written_can_be_published():
    for asked in (
        NUMBERED,
        *(
            Task.frequency("f", domain=range(1000), epsilon=2, protocol=name)
            for name in ("grr", "pgr", "rappor", "cms")
        ),
        Task.frequency("million", domain=range(1_000_000), epsilon=2),
        Task.mean("m", lower=-1e300, upper=1e300, epsilon=1),
        Task.distribution("d", lower=0, upper=1, epsilon=1, bins=1024),
        *(Task.heavy_hitters("w", epsilon=2, length=20, protocol=name) for name in ("pem", "sfp")),
    ):
        validate_task(asked.spec)
