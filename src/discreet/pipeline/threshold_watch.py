"""Watching a count: AboveThreshold over data versions, paid in full at the start.

A person is in all data versions or in none, so the versions are the queries of one run: the same count, asked of each. The noisy threshold
is drawn before anything is read, stays in the books and is shown to nobody. An evaluation is a pure function of the exact count, that
threshold and fresh noise; its bit is on disk before it leaves, and the same version says the same again.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from discreet.algebra.digest import FORMAT, Json, canonical, digest, query_tree
from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.algebra.released_expressions import Estimate, Release
from discreet.core.exact import Number, exact, read_count
from discreet.core.loss import Neighbours
from discreet.errors import AccountFrozen, BadInput, EngineFailure, LedgerDamaged, NotAllowed, NotAnswered
from discreet.ledger import Request, Reservation
from discreet.ledger.charges.release_json import mechanism_to_json
from discreet.ledger.charges.watch_rows import Watched
from discreet.mechanisms import AboveThreshold, Laplace, Mechanism
from discreet.pipeline.call import Call
from discreet.pipeline.pipeline import Pipeline, Resources, ThresholdCheck
from discreet.planning.effort import seconds_of
from discreet.planning.pricing import norms
from discreet.postprocessing.plan import Plan
from discreet.results.models import Look, WatchFacts
from discreet.results.watch_base import WatchFace

_COUNTED = (MeasureKind.ROWS, MeasureKind.PRESENT, MeasureKind.PEOPLE, MeasureKind.TOTAL)
_FURTHEST = 2**126
_LONGEST_LABEL = 20_000
_ENDED = {
    "above": "This watch has ended: it was above once.",
    "failed": "This watch has ended: an evaluation failed.",
    "lost": "This watch has ended: its noisy threshold is not in the books any more.",
}


@dataclass(frozen=True, slots=True)
class Watchable:
    """One integer cell and the mechanism that watches it: what is charged, and charged once, whatever versions come.

    `run` tells watches of the same count apart: after one has ended, the next is another, and paid for.
    """

    query: Query
    mechanism: AboveThreshold
    neighbours: Neighbours
    run: int
    label: str
    look_seconds: float
    """How long one look is expected to take."""

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        return (self.mechanism,)

    @property
    def digest(self) -> str:
        """Without the data version, which a watch spans; with every bound that its sensitivity hangs on."""
        mechanism: Json = mechanism_to_json(self.mechanism)
        return digest(
            {
                "watch": self.run,
                "neighbours": self.neighbours.value,
                "questions": [query_tree(self.query)],
                "mechanism": mechanism,
            }
        )

    @property
    def key(self) -> str:
        """What the books know it by."""
        return Request(id="watch", query=self.digest, releases=self.releases, format=FORMAT).key

    @property
    def queries(self) -> tuple[Query, ...]:
        """Nothing is read to begin."""
        return ()

    @property
    def seconds(self) -> float:
        """Nothing is read to begin."""
        return 0.0

    @property
    def name(self) -> str | None:
        return None

    @property
    def edges_of(self) -> str | None:
        return None

    def compute(self, resources: Resources) -> bytes:
        """The noisy threshold, drawn before any data is looked at, beside a salt: its hash goes into the chain, and a bare integer could be
        searched for.
        """
        salt = resources.bits.words(4, 64).tobytes().hex()
        return canonical({"threshold": str(self.mechanism.noisy_threshold(resources.bits)), "salt": salt}).encode()

    def look(self, stored: bytes) -> ThresholdCheck:
        """One look at the count, against the threshold that was stored."""
        return ThresholdCheck(self.query, self.mechanism, int(json.loads(stored)["threshold"]), self.look_seconds)


def watchable(plan: Plan, *, threshold: Number, neighbours: Neighbours, run: int, label: str) -> Watchable:
    """The watch of a planned query, or a refusal by name; nothing is read or charged."""
    query, measure = _one_cell(plan)
    price = plan.releases[0]
    if not isinstance(price, Laplace):
        raise NotAllowed("A watch has a mechanism of its own.", next_step="Leave mechanism out of OPTIONS.")
    unit = measure.steps[0].step if measure.kind is MeasureKind.TOTAL else Fraction(1)
    least = math.ceil(
        exact(threshold) / unit
    )  # exact: whole steps reach a threshold where they reach the next whole step
    if abs(least) >= _FURTHEST:
        raise BadInput("The threshold lies beyond every count.", next_step="Give a smaller threshold.")
    mechanism = AboveThreshold(
        epsilon=price.epsilon, sensitivity=norms(query, measure, (), neighbours).l1, threshold=least
    )
    which = read_count(run, name="run")
    label = f"watch for {threshold}: {label}"[:_LONGEST_LABEL]
    return Watchable(query, mechanism, neighbours, which, label, seconds_of(plan))


def _one_cell(plan: Plan) -> tuple[Query, Measure]:
    """The only measure of the only query, shown as it is: the threshold is in its unit."""
    plain = Release(0, tuple((name, Estimate("measure", (0,))) for name in plan.columns))
    cells = [(query, measure) for query in plan.queries for measure in query.measures]
    query, measure = cells[0]
    alone = len(cells) == len(plan.columns) == 1 and not query.keys and query.sets == ((),)
    if not alone or query.choose is not None or plan.view != plain:
        raise NotAllowed(
            "A watch is of one number, without groups and without arithmetic.",
            next_step="Watch SELECT COUNT(*), COUNT(x), COUNT(DISTINCT person) or SUM(x), with WHERE.",
        )
    if measure.kind not in _COUNTED or any(measure.centres):
        raise NotAllowed(
            "Only counts of rows, values or people and sums can be watched.",
            next_step="Watch COUNT(*), COUNT(x), COUNT(DISTINCT person) or SUM(x).",
        )
    if not plan.releases:
        raise NotAllowed("That number is public.", next_step="Ask for it as often as you like: it is free.")
    return query, measure


class Watch(WatchFace):
    """A watch of the curator at hand."""

    __slots__ = ("_call", "_key", "_ledger", "_pipeline", "_version", "_wanted", "receipt", "replayed")

    def __init__(
        self, wanted: Watchable, pipeline: Pipeline, *, version: int, call: Call, paid: Reservation | None
    ) -> None:
        self._wanted, self._pipeline, self._ledger = wanted, pipeline, pipeline.ledger
        self._version, self._call, self._key = version, call, wanted.key
        self.receipt = paid.receipt if paid else ""
        self.replayed = paid is None or (paid.replayed and not paid.charged)

    def __repr__(self) -> str:
        return f"Watch({self._wanted.label!r}, receipt={self.receipt[:12]!r})"

    @property
    def answers(self) -> dict[int, bool]:
        """What was said, by data version."""
        return dict(self._known().bits)

    @property
    def ended(self) -> str | None:
        """Why there is nothing more to come: above, failed or lost; None while it goes on."""
        return self._known().ended

    @property
    def facts(self) -> WatchFacts:
        """All of it at once, as it is told to others."""
        known = self._known()
        looks = tuple(Look(version, known.bits[version]) for version in sorted(known.bits))
        return WatchFacts(self.receipt, self._version, looks, known.ended)

    def evaluate(self) -> bool:
        """Whether the count of this data version is above, noisily: as stored, or read and stored before it is returned."""
        known = self._known()
        if self._version in known.bits:
            return known.bits[self._version]
        if known.ended is not None or known.threshold is None:
            raise _over(known)
        is_above = self._fresh(known.threshold)
        known = self._keep(is_above)
        if is_above is None:
            raise EngineFailure(
                "The engine could not answer, and the watch has ended. The price was paid.",
                next_step="Tell the owner of the data.",
            )
        if self._version not in known.bits:  # somebody else's above or failure came first
            raise _over(known)
        return known.bits[self._version]

    def _known(self) -> Watched:
        return self._ledger.watched(self._key, analyst=self._call.analyst)

    def _fresh(self, threshold: bytes) -> bool | None:
        """None where it failed: that is a bit about the data too, so it is the last one."""
        stored = self._pipeline.measure_again(self._wanted.look(threshold), self._call)
        return None if stored is None else bool(json.loads(stored))

    def _keep(self, is_above: bool | None) -> Watched:
        """Store the bit, or the failure, which stops the analyst until the owner looks."""
        known = self._ledger.evaluated(self._key, version=self._version, above=is_above, analyst=self._call.analyst)
        if is_above is None and self._call.analyst is not None:
            with suppress(AccountFrozen):
                self._ledger.freeze(self._call.analyst, by="a reading that failed")
        return known


def begin(wanted: Watchable, pipeline: Pipeline, call: Call, *, version: int) -> Watch:
    """Pay, draw the threshold and store it; or find the watch as it is in the books.

    Who joins pays before hearing how it went: whether it has ended is about the data.
    """
    _check_there(wanted, pipeline, call)
    paid = pipeline.run(wanted, call)
    return Watch(wanted, pipeline, version=version, call=call, paid=paid.reservation)


def resume(wanted: Watchable, pipeline: Pipeline, call: Call, *, version: int) -> Watch:
    """A watch that the analyst has paid for; nothing is spent, and any other is refused."""
    _check_there(wanted, pipeline, call)
    paid = pipeline.recall(wanted, call)
    if paid is None:
        raise NotAnswered("This watch was not begun, or it is not paid for.", next_step="Begin it, which is paid for.")
    return Watch(wanted, pipeline, version=version, call=call, paid=paid.reservation)


def _check_there(wanted: Watchable, pipeline: Pipeline, call: Call) -> None:
    known = pipeline.ledger.watched(wanted.key, analyst=call.analyst)
    if known.lost:
        raise _over(known)  # a threshold is never drawn a second time


def _over(known: Watched) -> NotAllowed | LedgerDamaged:
    if known.ended is None:
        return LedgerDamaged("This watch has no threshold.", next_step="Ask the owner to verify the books.")
    return NotAllowed(
        _ENDED[known.ended], next_step="Begin a new one, which is paid for anew: the same with run=2, and so on."
    )
