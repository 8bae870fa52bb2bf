"""Routes for collections: devices fetch a task and send reports without a key; estimates need a key."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi import Query as UrlParameter

from discreet.errors import BadInput, BadTask, TruncatedReport
from discreet.local.collector.collection_records import Record
from discreet.local.collector.collector import Collector
from discreet.local.collector.local_estimates import Estimate, MeanEstimate
from discreet.local.collector.report_store import Received, Shuffled
from discreet.local.collector.tickets import is_numbered
from discreet.local.device.client import HEADER
from discreet.local.protocols.draws import Draws
from discreet.local.shuffling.amplification import cached_epsilon_after_shuffling
from discreet.local.tasks.messages import LONGEST_MESSAGE
from discreet.local.tasks.task import Task
from discreet.local.tasks.task_rules import validate_task
from discreet.server.auth.service import address_of, holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.request_body import LimitedRequest, read_json
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import json_response
from discreet.server.http.thread_pools import in_thread
from discreet.server.schemas.query_bodies import NewTask, Rehearsal

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)
_CONFIDENCE = 0.95
_MOST_MESSAGES = 1000
_MOST_SHOWN = 100
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["messages"],
                    "properties": {"messages": {"type": "array", "items": {"type": "string", "format": "byte"}}},
                }
            },
        },
    }
}
_BATCH = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_LARGEST_CROWD = 10**10
_DELTA = 1e-6
"""Default delta of the guarantee for shuffled reports; the response contains it."""


@routes.get("/tasks")
def list_tasks(request: Request) -> Response:
    """List the collection tasks; public."""
    records, _ = service_of(request).collections.records()
    return json_response(request, {"tasks": [_summary(record) for record in records]})


@routes.get("/collections")
def list_collections(request: Request) -> Response:
    """List the collection tasks for the owner, with the names of invalid tasks, which can be deleted."""
    records, unsound = service_of(request).collections.records()
    collections = [{**_summary(record), "expires": record.expires} for record in records]
    return json_response(request, {"collections": collections, "unsound": unsound})


@routes.post("/tasks", status_code=201)
def publish(body: NewTask, request: Request) -> dict[str, Any]:
    """Create a collection task, from a specification as `Task.to_json` writes it, or from the short form `asks`."""
    spec = body.asks.spec if body.asks is not None else body.spec or {}
    task, collections = validate_task(spec), service_of(request).collections
    collections.publish(task, retention_days=body.retention_days)
    return _summary(collections.record(task.id))


@routes.get("/tasks/{name}")
def read_task(name: str, request: Request) -> Response:
    """Return a task for devices; public. Its id is the hash of the specification, which a device verifies."""
    record = service_of(request).collections.record(name)
    return json_response(request, {**_summary(record), "spec": record.task.spec})


@routes.put("/tasks/{name}/closed", status_code=204)
def close(name: str, request: Request) -> None:
    """Close a task: it accepts no more reports. Collected reports stay until the retention period ends."""
    service_of(request).collections.close_task(name)


@routes.delete("/tasks/{name}", status_code=204)
def delete(name: str, request: Request) -> None:
    """Delete a task and everything collected for it."""
    service_of(request).collections.delete_task(name)


@routes.post("/tasks/{name}/slots", status_code=201)
def assign(name: str, request: Request) -> dict[str, str]:
    """Assign a numbered ticket to one device, for tasks that number their devices."""
    collections = service_of(request).collections
    task = collections.task(name)
    if not is_numbered(task):
        raise BadTask("Devices of this task draw their own numbers.", next_step="Report without one.")
    return {"slot": collections.assign(task, address=address_of(request))}


@routes.post("/tasks/{name}/reports", status_code=202, openapi_extra=_BODY)
async def receive(name: str, request: LimitedRequest) -> dict[str, Any]:
    """Receive messages from devices: one as bytes, or several as base64. Acknowledged messages are on disk; sending again is safe.

    A refused single message is an error; for several, the response lists the error code of each.
    """
    service = service_of(request)
    task = await in_thread(service.pools.public, service.collections.task, name)
    body = await request.body_within(max(service.limits.body, _longest_of(task)))
    return await in_thread(service.pools.public, _receive, request, task, body)


def _receive(request: Request, task: Task, body: bytes) -> dict[str, Any]:
    messages, is_single = messages_in(body, request.headers.get("content-type", ""))
    done = service_of(request).collections.receive(task, messages, address=address_of(request))
    return acknowledged(done, is_single=is_single)


def acknowledged(done: Received, *, is_single: bool) -> dict[str, Any]:
    """Return the result for each message; raise the error of a refused single message."""
    if is_single and done.refusals[0] is not None:
        raise done.refusals[0]
    codes = [refusal and refusal.code for refusal in done.refusals]
    return {"reports": done.reports, "refused": codes if any(codes) else []}


@routes.post("/tasks/{name}/batches", status_code=202, openapi_extra=_BATCH)
async def receive_batch(
    name: str, request: LimitedRequest, *, crowd: Annotated[int, UrlParameter(ge=0, le=_LARGEST_CROWD)] = 0
) -> dict[str, int]:
    """Receive a batch of shuffled reports, without senders; `crowd` is the minimum number of reports that were mixed together.

    Acknowledged batches are on disk. The shuffler numbers its batches; a repeated one is refused as replayed.
    """
    service, body = service_of(request), await request.body_within(LONGEST_MESSAGE)
    with service.rate_limit.admit(holder_of(request).name):
        task = await in_thread(service.pools.ledger, service.collections.task, name)
        done = await in_thread(service.pools.ledger, service.collections.receive_batch, task, body, crowd=crowd)
    if done.refusals[0] is not None:
        raise done.refusals[0]
    return {"reports": done.reports}


def _longest_of(task: Task) -> int:
    """Return the maximum bytes of one device's message."""
    bits = int(task.spec["caps"]["per_epoch"]) * task.randomizer.bits
    return min(LONGEST_MESSAGE, HEADER + bits // 8 + 8)


def messages_in(body: bytes, content_type: str) -> tuple[list[bytes], bool]:
    """Return the messages in a body, and whether it is a single one, as bytes."""
    if not content_type.startswith("application/json"):
        return [body], True
    try:
        given = read_json(body)["messages"]
        messages = [base64.b64decode(message, validate=True) for message in given]
    except (ValueError, TypeError, KeyError, binascii.Error):
        raise TruncatedReport(
            "The body is not a list of messages.", next_step="Send a list of base64 strings in `messages`."
        ) from None
    if not isinstance(given, list) or not 1 <= len(messages) <= _MOST_MESSAGES:
        raise BadInput(f"Send 1 to {_MOST_MESSAGES} messages at once.", next_step="Send fewer.")
    return messages, False


@routes.get("/tasks/{name}/estimate")
async def estimate(
    name: str, request: Request, *, delta: Annotated[float, UrlParameter(gt=0, lt=1)] = _DELTA
) -> dict[str, Any]:
    """Return the current estimates with intervals; `delta` is for the guarantee of shuffled reports."""
    service, holder = service_of(request), holder_of(request)
    with service.rate_limit.admit(holder.name):
        task = await in_thread(service.pools.ledger, service.collections.task, name)
        collector = await in_thread(service.pools.ledger, service.collections.collector, task)
        shuffled = await in_thread(service.pools.ledger, service.collections.shuffled, task)
        facts = await in_thread(service.pools.ledger, _estimate_json, collector)
        if shuffled.reports:
            facts["shuffled"] = await in_thread(service.pools.ledger, _shuffle_privacy, task, shuffled, delta)
    return facts


def _shuffle_privacy(task: Task, shuffled: Shuffled, delta: float) -> dict[str, Any]:
    """Return the privacy loss of one report in the smallest crowd, if the shuffler and all devices in the crowd are honest."""
    epsilon = cached_epsilon_after_shuffling(task, shuffled.least_crowd, delta)
    return {"reports": shuffled.reports, "least_crowd": shuffled.least_crowd, "epsilon": epsilon, "delta": delta}


@routes.post("/tasks/{name}/rehearsal")
async def rehearse(name: str, body: Rehearsal, request: Request) -> dict[str, Any]:
    """Simulate this collection with made-up people, its own randomizer and its own estimator. Nothing is stored.

    `tally` is the result of an earlier rehearsal, to which the people are added.
    """
    service, holder = service_of(request), holder_of(request)
    with service.rate_limit.admit(holder.name):
        task = await in_thread(service.pools.ledger, service.collections.task, name)
        return await in_thread(service.pools.ledger, _rehearse, task, body)


def _rehearse(task: Task, body: Rehearsal) -> dict[str, Any]:
    size = len(task.values)
    if task.kind != "frequency" or task.protocol.appends or not size or len(body.truth) != size:
        raise BadTask("Only a task with a list of values can be rehearsed.", next_step="Give a count for each value.")
    protocol = task.protocol
    codes = np.repeat(np.arange(size), body.truth)
    tally = protocol.tally(protocol.encode(_coded(task, codes), Draws(), slots=np.arange(codes.size)))
    before = np.array(body.tally if body.tally is not None else np.zeros_like(tally), tally.dtype)
    if before.shape != tally.shape:
        raise BadInput(
            "The tally does not belong to this task.", next_step="Send the tally that the last rehearsal returned."
        )
    people = body.people_before + codes.size
    collector = Collector.with_tally(task, protocol.merged(before, tally), reports=people)
    return {**_estimate_json(collector), "tally": collector.tally.tolist()}


def _coded(task: Task, numbers: Any) -> Any:
    known = np.array([task.code_of(value) for value in task.values])
    return known[numbers]


def _summary(record: Record) -> dict[str, Any]:
    task = record.task
    return {
        "id": task.id,
        "name": task.name,
        "kind": task.kind,
        "protocol": task.spec["protocol"],
        "epsilon": task.epsilon,
        "report_bits": task.randomizer.bits,
        "caps": dict(task.spec["caps"]),
        "lifetime_epsilon": task.lifetime_epsilon,
        "state": record.state,
    }


def _estimate_json(collector: Collector) -> dict[str, Any]:
    found = collector.estimate()
    facts: dict[str, Any] = {
        "reports": found.reports,
        "confidence": _CONFIDENCE,
        "refused": dict(collector.refused),
        "one_fake_report": found.influence,
    }
    if isinstance(found, MeanEstimate):
        low, high = found.interval(_CONFIDENCE)
        return {**facts, "mean": found.raw, "low": low, "high": high, "standard_error": found.standard_error}
    return {**facts, "estimates": _rows(found)}


def _rows(found: Estimate) -> list[dict[str, Any]]:
    """Return all values of a short list in its order; the most frequent of a long one, with simultaneous intervals."""
    if len(found.values) > _MOST_SHOWN:
        best = found.top(_MOST_SHOWN, _CONFIDENCE)
        return [{"value": f.value, "estimate": f.estimate, "low": f.low, "high": f.high} for f in best]
    ends = found.interval(_CONFIDENCE)
    return [
        {"value": value, "estimate": count, "low": ends[value][0], "high": ends[value][1]}
        for value, count in found.raw.items()
        if math.isfinite(count)
    ]
