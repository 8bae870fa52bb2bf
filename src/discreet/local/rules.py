"""What a collector checks beside what devices check: a published task can be listed, reported to and estimated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import BadTask
from discreet.local.client import ClientRefused
from discreet.local.collector import Collector
from discreet.local.task import Task

_KINDS = {"frequency": {"numbers", "anything"}, "mean": {"grid"}, "distribution": {"grid"}, "heavy-hitters": {"texts"}}
"""What the randomizer takes, by what is asked."""
_LARGEST_TALLY = 1 << 30
"""Bytes of the tally of a task that nobody has reported to yet."""


def sound_task(spec: Mapping[str, Any]) -> Task:
    """A task that can be carried out to its end, or a refusal, whatever it is that is wrong with it."""
    try:
        task = Task(spec)
        if "/" in spec["name"]:
            raise _wrong("its name must have no slash")
        if task.randomizer.takes not in _KINDS[task.kind] or (
            (task.kind == "distribution") != (spec["protocol"] == "square-wave")
        ):
            raise _wrong("its protocol does not answer what is asked")
        if Collector(task).tally.nbytes > _LARGEST_TALLY:
            raise _wrong("its tally is too large")
        _ = task.lifetime_epsilon, task.explain()
        for value in list(task.values[:2]):
            task.code_of(value)
    except (ClientRefused, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError) as error:
        raise error if isinstance(error, BadTask) else _wrong("its protocol cannot use its parameters") from None
    return task


def check_unlinkable(task: Task) -> None:
    """Refuse a task whose reports no shuffler can hide."""
    if task.is_linkable:
        raise BadTask(
            "Reports of this task repeat, or carry a number of their device, so that shuffling hides nobody.",
            next_step="Take a protocol whose reports are drawn anew (grr, subset, oue, hadamard), without memoize.",
        )


def _wrong(problem: str) -> BadTask:
    return BadTask(f"The task cannot be carried out: {problem}.", next_step="Write it with `discreet collect new`.")
