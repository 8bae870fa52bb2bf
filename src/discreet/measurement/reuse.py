"""Tables that were paid for before, and enter a run for free: which of them there are for whoever asks.

An asker's own cap is a promise about everything that reaches them. So a run takes only what its asker has paid for, or what is published; for the owner, what
anybody has paid for, since the dataset's account paid for all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from discreet.ledger import Ledger
from discreet.measurement.transcript import Earlier, Step, Transcript

MOST_NUMBERS = 2**21
"""Noisy numbers of earlier releases that one run begins with: they are stored with it."""
_MEASURED = ("table", "combination")
"""Kinds of steps that are noisy numbers of known noise, and nothing else: what an owner published as it is, choices and guards are left out."""


def earlier_releases(ledger: Ledger, rows: str, *, analyst: str | None) -> tuple[Earlier, ...]:
    """What releases of the same rows have measured which somebody may reuse, each run once: those that they began with, too, since whoever has a release
    has these. Nothing is spent.

    Args:
        ledger: The books.
        rows: The digest of the rows.
        analyst: Who asks; nobody is the owner at hand.
    """
    found: dict[str, Earlier] = {}
    within: list[Earlier] = []
    for key, name in ledger.visible_releases(analyst=analyst).items():
        transcript = Transcript.decoded(ledger.visible_answer(key, analyst=analyst))
        if transcript.facts.get("rows") == rows:
            found[key] = Earlier(name, key, tuple(step for step in transcript.own if step.kind in _MEASURED))
            within += transcript.reused
    for earlier in sorted(within, key=lambda earlier: -len(earlier.steps)):
        found.setdefault(earlier.run, earlier)
    return tuple(found.values())


def only(releases: Iterable[Earlier], takes: Callable[[Step], bool]) -> tuple[Earlier, ...]:
    """Those of their steps that a run can use; releases without any are left out.

    Args:
        releases: That somebody may reuse.
        takes: Whether a step can be used; asked of a release's steps with the least noise first.
    """
    left, found = MOST_NUMBERS, []
    for earlier in releases:
        kept = set()
        for step in sorted(earlier.steps, key=lambda step: step.noise.sigma):
            if step.outcome.size <= left and takes(step):
                left -= step.outcome.size
                kept.add(id(step))
        if kept:
            found.append(replace(earlier, steps=tuple(step for step in earlier.steps if id(step) in kept)))
    return tuple(found)
