"""Routes for collections: devices fetch a task and send reports without a key; estimates are for those who have one."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import numpy as np
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request

from discreet.errors import BadInput, BadTask, TruncatedReport
from discreet.local.collector import Collector
from discreet.local.draws import Draws
from discreet.local.estimate import Estimate, MeanEstimate
from discreet.local.task import Task
from discreet.server.bodies import NewTask, Rehearsal
from discreet.server.refusals import RESPONSES
from discreet.server.service import holder_of, owner_has_signed, service_of

routes = APIRouter(prefix="/v1", responses=RESPONSES)
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


@routes.get("/tasks")
def list_tasks(request: Request) -> dict[str, Any]:
    """What is being collected; public."""
    return {"tasks": [_about(task) for task in service_of(request).collections.tasks()]}


@routes.post("/tasks", status_code=201)
def publish(body: NewTask, request: Request) -> dict[str, Any]:
    """Begin a collection, for the owner: the specification as `Task.to_json` writes it."""
    task = Task(body.spec)
    service_of(request).collections.publish(task)
    return _about(task)


@routes.get("/tasks/{name}")
def read_task(name: str, request: Request) -> dict[str, Any]:
    """What a device needs; public. The id is the hash of the specification, which a device checks for itself."""
    task = service_of(request).collections.task(name)
    return {**_about(task), "spec": task.spec}


@routes.post("/tasks/{name}/slots", status_code=201)
async def assign(name: str, request: Request) -> dict[str, int]:
    """A number for one device, where the task wants numbers to be assigned."""
    service = service_of(request)
    async with service.guard.admit(_caller(request)):
        task = await service.work(service.collections.task, name)
        if not task.spec["assigned"]:
            raise BadTask("Devices of this task draw their own numbers.", next_step="Report without one.")
        return {"slot": await service.work(service.collections.assign, task)}


@routes.post("/tasks/{name}/reports", status_code=202, openapi_extra=_BODY)
async def receive(name: str, request: Request) -> dict[str, Any]:
    """Messages from devices: one as bytes, or several as base64. On disk when acknowledged; sending again is safe.

    A single message that is refused is an error by name; of several, each says what became of it. Messages of a
    shuffler, which name no sender, are taken from the owner.
    """
    service = service_of(request)
    async with service.guard.admit(_caller(request)):
        messages, single = await _messages(request)
        trusted = await run_sync(owner_has_signed, request)
        task = await service.work(service.collections.task, name)
        done = await service.work(service.collections.receive, task, messages, from_shuffler=trusted)
    if single and done.refusals[0] is not None:
        raise done.refusals[0]
    codes = [refusal and refusal.code for refusal in done.refusals]
    return {"reports": done.reports, "refused": codes if any(codes) else []}


async def _messages(request: Request) -> tuple[list[bytes], bool]:
    body = await request.body()
    if not request.headers.get("content-type", "").startswith("application/json"):
        return [body], True
    try:
        given = (await request.json())["messages"]
        messages = [base64.b64decode(message, validate=True) for message in given]
    except (ValueError, TypeError, KeyError, binascii.Error, RecursionError):
        raise TruncatedReport("This is no list of messages.", next_step="Send base64 in `messages`.") from None
    if not isinstance(given, list) or not 1 <= len(messages) <= _MOST_MESSAGES:
        raise BadInput(f"Send 1 to {_MOST_MESSAGES} messages at once.", next_step="Send fewer.")
    return messages, False


def _caller(request: Request) -> str:
    """Devices have no keys; what limits them is where they come from."""
    return f"from:{request.client.host if request.client else ''}"


@routes.get("/tasks/{name}/estimate")
async def estimate(name: str, request: Request) -> dict[str, Any]:
    """What the reports say so far, with intervals."""
    service, holder = service_of(request), holder_of(request)
    async with service.guard.admit(holder.name):
        task = await service.work(service.collections.task, name)
        collector = await service.work(service.collections.collector, task)
        return await service.work(_told, collector)


@routes.post("/tasks/{name}/rehearsal")
async def rehearse(name: str, body: Rehearsal, request: Request) -> dict[str, Any]:
    """What this collection would show of a made-up crowd: its own randomizer and estimator. Nothing is kept.

    `tally` is what an earlier rehearsal returned: more people join those.
    """
    service, holder = service_of(request), holder_of(request)
    async with service.guard.admit(holder.name):
        task = await service.work(service.collections.task, name)
        return await service.work(_rehearsed, task, body)


def _rehearsed(task: Task, body: Rehearsal) -> dict[str, Any]:
    size = len(task.values)
    if task.kind != "frequency" or task.protocol.appends or not size or len(body.truth) != size:
        raise BadTask("Only a task over a list of values can be rehearsed.", next_step="Give a count for each value.")
    protocol = task.protocol
    codes = np.repeat(np.arange(size), body.truth)
    tally = protocol.tally(protocol.encode(_coded(task, codes), Draws(), slots=np.arange(codes.size)))
    before = np.array(body.tally if body.tally is not None else np.zeros_like(tally), tally.dtype)
    if before.shape != tally.shape:
        raise BadInput("The tally is not of this task.", next_step="Send back what the last rehearsal returned.")
    people = body.people_before + codes.size
    collector = Collector.with_tally(task, protocol.merged(before, tally), reports=people)
    return {**_told(collector), "tally": collector.tally.tolist()}


def _coded(task: Task, numbers: Any) -> Any:
    known = np.array([task.code_of(value) for value in task.values])
    return known[numbers]


def _about(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "name": task.name,
        "kind": task.kind,
        "protocol": task.spec["protocol"],
        "epsilon": task.epsilon,
        "report_bits": task.randomizer.bits,
        "caps": dict(task.spec["caps"]),
        "lifetime_epsilon": task.lifetime_epsilon,
    }


def _told(collector: Collector) -> dict[str, Any]:
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
    """Every value of a short list, in its order; the most frequent of a long one, with intervals that hold together."""
    if len(found.values) > _MOST_SHOWN:
        best = found.top(_MOST_SHOWN, _CONFIDENCE)
        return [{"value": f.value, "estimate": f.estimate, "low": f.low, "high": f.high} for f in best]
    ends = found.interval(_CONFIDENCE)
    return [
        {"value": value, "estimate": count, "low": ends[value][0], "high": ends[value][1]}
        for value, count in found.raw.items()
        if math.isfinite(count)
    ]
