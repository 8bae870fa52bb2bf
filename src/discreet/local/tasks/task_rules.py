"""What a collector checks beside what devices check: a published task can be listed, reported to and estimated."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from discreet.errors import BadTask
from discreet.local.collector.collector import Collector, bounds_of
from discreet.local.device.client import Bloom, ClientRefused, Window
from discreet.local.protocols.bloom import MOST_CANDIDATES
from discreet.local.protocols.heavy import PrefixExtension
from discreet.local.protocols.puzzle import FragmentPuzzle
from discreet.local.tasks.task import Task

_KINDS = {"frequency": {"numbers", "anything"}, "mean": {"grid"}, "distribution": {"grid"}, "heavy-hitters": {"texts"}}
"""What the randomizer takes, by what is asked."""
_LARGEST_TALLY = 1 << 27
"""Bytes of the tally of a task that nobody has reported to yet; an estimate makes several arrays of its size."""
_MOST_COMPARED = 1 << 16
"""Candidates, where each is compared with every report."""
_MOST_HASHED = 1 << 20
"""Candidates, where each is hashed by itself; pieces of words with their hashes."""
_LARGEST_MATRIX = 1 << 22
"""Numbers in the matrix that an estimator inverts."""
_ID = re.compile("[0-9a-f]{32}")


def validate_task(spec: Mapping[str, Any]) -> Task:
    """A task that can be carried out to its end, or a refusal, whatever it is that is wrong with it."""
    try:
        task = Task(spec)
        if "/" in spec["name"]:
            raise _wrong("its name must have no slash")
        if _ID.fullmatch(spec["name"]):
            raise _wrong("its name must not look like the number of a task")
        if task.randomizer.code_kind not in _KINDS[task.kind] or (
            (task.kind == "distribution") != (spec["protocol"] == "square-wave")
        ):
            raise _wrong("its protocol does not answer what is asked")
        if Collector(task).tally.nbytes > _LARGEST_TALLY:
            raise _wrong("its tally is too large")
        if not _is_estimable(task):
            raise _wrong("an estimate of so much would take too long or too much memory")
        _ = task.lifetime_epsilon, task.explain()
        for value in list(task.values[:2]):
            task.code_of(value)
    except (ClientRefused, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError) as error:
        raise error if isinstance(error, BadTask) else _wrong("its protocol cannot use its parameters") from None
    return task


def _is_estimable(task: Task) -> bool:
    """What an estimate will need is known before anybody reports."""
    device, protocol, size = task.randomizer, task.protocol, len(task.values)
    if "lower" in task.spec["domain"]:
        lower, upper = bounds_of(task)
        matrix = device.outputs * (device.steps + 1) if isinstance(device, Window) and task.kind != "mean" else 0
        return math.isfinite(upper - lower) and lower < upper and matrix <= _LARGEST_MATRIX
    if isinstance(device, Bloom):
        equations = device.cohorts * device.filter_bits
        return size <= min(equations, MOST_CANDIDATES) and size * equations <= 16 * _LARGEST_MATRIX
    if isinstance(protocol, PrefixExtension):
        return protocol.candidates() <= _MOST_COMPARED
    if isinstance(protocol, FragmentPuzzle):
        return protocol.candidates() <= 16 * _MOST_HASHED
    return size <= (_MOST_COMPARED if protocol.appends else _MOST_HASHED if device.code_kind == "anything" else size)


def check_unlinkable(task: Task) -> None:
    """Refuse a task whose reports no shuffler can hide."""
    if task.is_linkable:
        raise BadTask(
            "Reports of this task repeat, or carry a number of their device, so that shuffling hides nobody.",
            next_step="Take a protocol whose reports are drawn anew (grr, subset, oue, hadamard), without memoize.",
        )


def _wrong(problem: str) -> BadTask:
    return BadTask(f"The task cannot be carried out: {problem}.", next_step="Write it with `discreet collect new`.")
