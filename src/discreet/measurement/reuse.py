"""Which earlier measurements a run may reuse for free.

An analyst's cap limits everything that the analyst learns. So a run of an analyst reuses only measurements that were charged to this analyst or
that are published. The data owner may reuse everything, since all of it was charged to the dataset's account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from discreet.ledger import Ledger
from discreet.measurement.transcript import Earlier, Step, Transcript

MOST_NUMBERS = 2**21
"""The most noisy numbers of earlier releases that one run reuses: they are stored with it."""
_MEASURED = ("table", "combination")
"""Kinds of steps whose outcome is noisy numbers of known noise. Public sums, choices and sparse vectors are not reused."""


def earlier_releases(ledger: Ledger, rows: str, *, analyst: str | None) -> tuple[Earlier, ...]:
    """Return what releases of the same rows have measured and the analyst may reuse, each run once. Nothing is spent.

    Releases that these started with are included: who has a release has those, too. `rows` is the digest of the rows.
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
    """Return the releases with only those steps that `takes` accepts, without releases that have none.

    Steps with less noise are offered first.
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
