"""What every task says beside its protocol, checked whole: a task that is published can be listed, reported to and estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.errors import BadTask
from discreet.local.client import ClientRefused
from discreet.local.collector import Collector
from discreet.local.task import Task
from discreet.local.wire import LONGEST_MESSAGE

_KINDS = {"frequency": {"numbers", "anything"}, "mean": {"grid"}, "distribution": {"grid"}, "heavy-hitters": {"texts"}}
"""What the randomizer takes, by what is asked."""
_LONGEST_NAME = 200
_LARGEST = 2**53 - 1
"""What JSON carries exactly."""
_LARGEST_TALLY = 1 << 30
"""Bytes of the tally of a task that nobody has reported to yet."""


def sound_task(spec: Mapping[str, Any]) -> Task:
    """A task that can be carried out to its end, or a refusal, whatever it is that is wrong with it."""
    try:
        task = Task(spec)
        _check_rules(spec)
        _check_domain(spec["domain"])
        if task.randomizer.takes not in _KINDS[task.kind] or (
            (task.kind == "distribution") != (spec["protocol"] == "square-wave")
        ):
            raise _wrong("its protocol does not answer what is asked")
        if task.randomizer.bits > 4 * LONGEST_MESSAGE or Collector(task).tally.nbytes > _LARGEST_TALLY:
            raise _wrong("its reports or its tally are too large")
        _ = task.lifetime_epsilon, task.explain()
        for value in list(task.values[:2]):
            task.code_of(value)
    except (ClientRefused, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError) as error:
        raise error if isinstance(error, BadTask) else _wrong("its protocol cannot use its parameters") from None
    return task


def _check_rules(spec: Mapping[str, Any]) -> None:
    if not isinstance(spec["name"], str) or not 0 < len(spec["name"]) <= _LONGEST_NAME or "/" in spec["name"]:
        raise _wrong(f"its name must have 1 to {_LONGEST_NAME} letters and no slash")
    if spec["kind"] not in _KINDS:
        raise _wrong(f"its kind must be one of {', '.join(_KINDS)}")
    caps = spec["caps"]
    _whole("caps.per_epoch", caps["per_epoch"], least=1)
    _whole("caps.lifetime", caps["lifetime"], least=1)
    _whole("epoch_seconds", spec["epoch_seconds"], least=0)
    _whole("min_batch", spec["min_batch"], least=1)
    _whole("seed", spec["seed"], least=0)
    for flag in ("memoize", "assigned"):
        if type(spec[flag]) is not bool:
            raise _wrong(f"{flag} must be true or false")


def _check_domain(domain: Mapping[str, Any]) -> None:
    if "range" in domain:
        _whole("domain.range", domain["range"], least=2)
    if "length" in domain:
        _whole("domain.length", domain["length"], least=1)
    if "lower" in domain and not Fraction(domain["lower"]) < Fraction(domain["upper"]):
        raise _wrong("its lower bound must be below its upper bound")
    values: Sequence[Any] = domain.get("values", ())
    if any(type(value) not in (str, int) for value in values) or len(set(map(str, values))) < len(values):
        raise _wrong("its values must be different texts or integers")


def _whole(name: str, value: object, *, least: int) -> None:
    if type(value) is not int or not least <= value <= _LARGEST:
        raise _wrong(f"{name} must be a whole number of at least {least}")


def _wrong(problem: str) -> BadTask:
    return BadTask(f"The task cannot be carried out: {problem}.", next_step="Write it with `discreet collect new`.")
