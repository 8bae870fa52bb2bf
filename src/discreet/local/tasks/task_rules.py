"""Checks of a collector, beyond those of devices: a published task can be listed, reported to and estimated."""

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
"""Kinds of code that the randomizer may take, by the kind of task."""
_LARGEST_TALLY = 1 << 27
"""Bytes of an empty tally; an estimate allocates several arrays of its size."""
_MOST_COMPARED = 1 << 16
"""Limit on candidates, if each is compared with every report."""
_MOST_HASHED = 1 << 20
"""Limit on candidates, if each is hashed separately; also on pieces of words with their hashes."""
_LARGEST_MATRIX = 1 << 22
"""Numbers in the matrix that an estimator inverts."""
_ID = re.compile("[0-9a-f]{32}")


def validate_task(spec: Mapping[str, Any]) -> Task:
    """Return a task that can be reported to and estimated, or raise BadTask for any specification that cannot."""
    try:
        task = Task(spec)
        if "/" in spec["name"]:
            raise _wrong("its name must not contain a slash")
        if _ID.fullmatch(spec["name"]):
            raise _wrong("its name must not look like the id of a task")
        if task.randomizer.code_kind not in _KINDS[task.kind] or (
            (task.kind == "distribution") != (spec["protocol"] == "square-wave")
        ):
            raise _wrong("its protocol does not fit the kind of task")
        if Collector(task).tally.nbytes > _LARGEST_TALLY:
            raise _wrong("its tally is too large")
        if not _is_estimable(task):
            raise _wrong("its estimate would take too long or too much memory")
        _ = task.lifetime_epsilon, task.explain()
        for value in list(task.values[:2]):
            task.code_of(value)
    except (ClientRefused, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError) as error:
        raise error if isinstance(error, BadTask) else _wrong("its protocol cannot use its parameters") from None
    return task


def _is_estimable(task: Task) -> bool:
    """Whether an estimate will need acceptable time and memory. This is known before the first report."""
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
    """Refuse a task whose reports can be linked, since shuffling does not protect these."""
    if task.is_linkable:
        raise BadTask(
            "Reports of this task repeat or carry their device's number, so shuffling protects nobody.",
            next_step="Use a protocol with fresh reports (grr, subset, oue, hadamard), without memoize.",
        )


def _wrong(problem: str) -> BadTask:
    return BadTask(f"The task is invalid: {problem}.", next_step="Create it with `discreet collect new`.")
