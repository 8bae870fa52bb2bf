"""Watch a count over data versions with the sparse vector technique (AboveThreshold), charged in full when the watch starts.

A person is in all data versions or in none, so the versions are the queries of one run: the same count, once for each version. The noisy
threshold is drawn before anything is read, stored in the ledger and never shown. An evaluation is a function of the exact count, that
threshold and fresh noise. Its bit is on disk before it is returned, and a repeated evaluation of the same version returns the stored bit.
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
from discreet.ledger.charges.watch_rows import WatchState
from discreet.mechanisms import AboveThreshold, Laplace, Mechanism
from discreet.pipeline.call import Call
from discreet.pipeline.pipeline import Pipeline, Resources, ThresholdCheck
from discreet.planning.effort import seconds_of
from discreet.planning.pricing import norms
from discreet.postprocessing.plan import Plan
from discreet.results.models import Evaluation, WatchStatus
from discreet.results.watch_base import WatchBase

_KINDS = (MeasureKind.ROWS, MeasureKind.PRESENT, MeasureKind.PEOPLE, MeasureKind.TOTAL)
_LARGEST_THRESHOLD = 2**126
_MOST_LABEL_LETTERS = 20_000
_WHY_ENDED = {
    "above": "This watch has ended: the count was above the threshold once.",
    "failed": "This watch has ended: an evaluation failed.",
    "lost": "This watch has ended: its noisy threshold is no longer in the ledger.",
}


@dataclass(frozen=True, slots=True)
class WatchRun:
    """One integer and the mechanism that watches it. It is charged once, however many data versions follow.

    `run` distinguishes watches of the same count: after one has ended, the next has another number and is charged again.
    """

    query: Query
    mechanism: AboveThreshold
    neighbours: Neighbours
    run: int
    label: str
    evaluation_seconds: float
    """How long one evaluation is expected to take."""

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        return (self.mechanism,)

    @property
    def digest(self) -> str:
        """Without the data version, since a watch spans versions; with every bound that its sensitivity depends on."""
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
        """Its key in the ledger."""
        return Request(id="watch", query=self.digest, releases=self.releases, format=FORMAT).key

    @property
    def queries(self) -> tuple[Query, ...]:
        """None: starting a watch reads nothing."""
        return ()

    @property
    def seconds(self) -> float:
        """Zero: starting a watch reads nothing."""
        return 0.0

    @property
    def name(self) -> str | None:
        return None

    @property
    def edges_of(self) -> str | None:
        return None

    def compute(self, resources: Resources) -> bytes:
        """Draw the noisy threshold, before any data is read.

        It is stored with a salt: its hash enters the chain, and a bare integer could be found by trying all.
        """
        salt = resources.bits.words(4, 64).tobytes().hex()
        return canonical({"threshold": str(self.mechanism.noisy_threshold(resources.bits)), "salt": salt}).encode()

    def check(self, stored: bytes) -> ThresholdCheck:
        """Return the job that compares the count with the stored threshold."""
        return ThresholdCheck(self.query, self.mechanism, int(json.loads(stored)["threshold"]), self.evaluation_seconds)


def watch_run(plan: Plan, *, threshold: Number, neighbours: Neighbours, run: int, label: str) -> WatchRun:
    """Return the watch of a planned query, or refuse it. Nothing is read or charged."""
    query, measure = _one_cell(plan)
    noise = plan.releases[0]
    if not isinstance(noise, Laplace):
        raise NotAllowed("A watch has its own mechanism.", next_step="Leave mechanism out of OPTIONS.")
    unit = measure.steps[0].step if measure.kind is MeasureKind.TOTAL else Fraction(1)
    # Rounding up is exact: a whole number reaches a threshold if it reaches the next whole number.
    steps = math.ceil(exact(threshold) / unit)
    if abs(steps) >= _LARGEST_THRESHOLD:
        raise BadInput("The threshold is larger than any count.", next_step="Give a smaller threshold.")
    mechanism = AboveThreshold(
        epsilon=noise.epsilon, sensitivity=norms(query, measure, (), neighbours).l1, threshold=steps
    )
    number = read_count(run, name="run")
    label = f"watch for {threshold}: {label}"[:_MOST_LABEL_LETTERS]
    return WatchRun(query, mechanism, neighbours, number, label, seconds_of(plan))


def _one_cell(plan: Plan) -> tuple[Query, Measure]:
    """Return the only query and its only measure. It must be shown unchanged: the threshold is in its unit."""
    plain = Release(0, tuple((name, Estimate("measure", (0,))) for name in plan.columns))
    cells = [(query, measure) for query in plan.queries for measure in query.measures]
    query, measure = cells[0]
    alone = len(cells) == len(plan.columns) == 1 and not query.keys and query.sets == ((),)
    if not alone or query.choose is not None or plan.view != plain:
        raise NotAllowed(
            "A watch needs one number, without groups and without arithmetic.",
            next_step="Watch SELECT COUNT(*), COUNT(x), COUNT(DISTINCT person) or SUM(x), with WHERE.",
        )
    if measure.kind not in _KINDS or any(measure.centres):
        raise NotAllowed(
            "Only counts of rows, values or people and sums can be watched.",
            next_step="Watch COUNT(*), COUNT(x), COUNT(DISTINCT person) or SUM(x).",
        )
    if not plan.releases:
        raise NotAllowed("That number is public.", next_step="Query it as often as you like: it is free.")
    return query, measure


class Watch(WatchBase):
    """A watch of a local curator."""

    __slots__ = ("_call", "_key", "_ledger", "_pipeline", "_run", "_version", "receipt", "replayed")

    def __init__(
        self, run: WatchRun, pipeline: Pipeline, *, version: int, call: Call, reservation: Reservation | None
    ) -> None:
        self._run, self._pipeline, self._ledger = run, pipeline, pipeline.ledger
        self._version, self._call, self._key = version, call, run.key
        self.receipt = reservation.receipt if reservation else ""
        self.replayed = reservation is None or (reservation.replayed and not reservation.charged)

    def __repr__(self) -> str:
        return f"Watch({self._run.label!r}, receipt={self.receipt[:12]!r})"

    @property
    def answers(self) -> dict[int, bool]:
        """The stored answers, by data version."""
        return dict(self._stored().bits)

    @property
    def ended(self) -> str | None:
        """Why the watch has ended: above, failed or lost; None while it goes on."""
        return self._stored().ended

    @property
    def status(self) -> WatchStatus:
        """Its evaluations and whether it has ended."""
        stored = self._stored()
        evaluations = tuple(Evaluation(version, stored.bits[version]) for version in sorted(stored.bits))
        return WatchStatus(self.receipt, self._version, evaluations, stored.ended)

    def evaluate(self) -> bool:
        """Return whether the count of this data version is above the threshold, with noise.

        The answer is the stored one, or it is read now and stored before it is returned.
        """
        stored = self._stored()
        if self._version in stored.bits:
            return stored.bits[self._version]
        if stored.ended is not None or stored.threshold is None:
            raise _ended_error(stored)
        is_above = self._measure(stored.threshold)
        stored = self._store(is_above)
        if is_above is None:
            raise EngineFailure(
                "The engine could not answer, and the watch has ended. It was charged.",
                next_step="Report this to the owner of the data.",
            )
        if (
            self._version not in stored.bits
        ):  # another process stored an answer above the threshold, or a failure, first
            raise _ended_error(stored)
        return stored.bits[self._version]

    def _stored(self) -> WatchState:
        return self._ledger.watch_state(self._key, analyst=self._call.analyst)

    def _measure(self, threshold: bytes) -> bool | None:
        """Return the new answer; None if it failed. A failure is one bit about the data too, so it ends the watch."""
        measured = self._pipeline.measure_again(self._run.check(threshold), self._call)
        return None if measured is None else bool(json.loads(measured))

    def _store(self, is_above: bool | None) -> WatchState:
        """Store the bit; or the failure, which freezes the analyst's account until the owner has looked at it."""
        stored = self._ledger.evaluated(self._key, version=self._version, above=is_above, analyst=self._call.analyst)
        if is_above is None and self._call.analyst is not None:
            with suppress(AccountFrozen):
                self._ledger.freeze(self._call.analyst, by="a reading that failed")
        return stored


def start(run: WatchRun, pipeline: Pipeline, call: Call, *, version: int) -> Watch:
    """Charge for a watch, draw its threshold and store it; or find the watch that is stored.

    A second analyst is charged before seeing the answers: whether the watch has ended is about the data.
    """
    _check_not_lost(run, pipeline, call)
    outcome = pipeline.run(run, call)
    return Watch(run, pipeline, version=version, call=call, reservation=outcome.reservation)


def resume(run: WatchRun, pipeline: Pipeline, call: Call, *, version: int) -> Watch:
    """Return a watch that the analyst was charged for. Nothing is spent; any other watch is refused."""
    _check_not_lost(run, pipeline, call)
    outcome = pipeline.recall(run, call)
    if outcome is None:
        raise NotAnswered(
            "This watch was not started, or you were not charged for it.", next_step="Start it, which is charged."
        )
    return Watch(run, pipeline, version=version, call=call, reservation=outcome.reservation)


def _check_not_lost(run: WatchRun, pipeline: Pipeline, call: Call) -> None:
    stored = pipeline.ledger.watch_state(run.key, analyst=call.analyst)
    if stored.lost:
        raise _ended_error(stored)  # a threshold is never drawn a second time


def _ended_error(stored: WatchState) -> NotAllowed | LedgerDamaged:
    if stored.ended is None:
        return LedgerDamaged("This watch has no threshold.", next_step="Ask the owner to verify the ledger.")
    return NotAllowed(
        _WHY_ENDED[stored.ended], next_step="Start a new one, which is charged again: the same with run=2, and so on."
    )
