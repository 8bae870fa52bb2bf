"""The curator: catalog, ledger and engine behind one friendly face."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple, Self

from discreet.accounting import Composed
from discreet.algebra.digest import FORMAT
from discreet.api.base import CuratorFace
from discreet.api.operations.bounds_estimate import bins_question, ends_of, to_be_bounded
from discreet.api.operations.comparison import ComparesReal
from discreet.api.operations.models import LearnsModels
from discreet.api.operations.named_releases import FindsReleases
from discreet.api.operations.networks import AnswersGraphs
from discreet.api.operations.sessions import OpensSessions
from discreet.api.operations.synthesis import MakesSynthetic
from discreet.api.operations.tables import AnswersWorkloads
from discreet.catalog import Catalog
from discreet.catalog.public_view import facts_of, graphs_of, trees_of
from discreet.core.exact import Number, exact, read_sensitivity
from discreet.core.loss import Loss
from discreet.engines import Engine, Places
from discreet.errors import BadInput, NotAnswered, ScaleOutOfRange, TooLarge
from discreet.ledger import Ledger
from discreet.mechanisms.mechanism import least
from discreet.pipeline.parsed_queries import Readings
from discreet.pipeline.pipeline import Asking, Pipeline, SqlRelease
from discreet.pipeline.threshold_watch import Watch, Watchable, begin, resume, watchable
from discreet.planning.answer_size import AnswerLimit
from discreet.planning.query_planning import at_price, digest_of
from discreet.postprocessing.half_widths import width_of
from discreet.postprocessing.plan import Plan
from discreet.results.answer import Answer
from discreet.results.explanation import explained
from discreet.results.ledger_views import balances, card, history, holder
from discreet.results.models import PAGE, Balance, Card, CatalogFacts, Explanation, PastRelease
from discreet.sessions.session_pool import Room
from discreet.sql import Table
from discreet.sql.reader.query_text import Parameters, wording

__all__ = [
    "Asking",
    "Curator",
    "Estimate",
]

_DESKS = 8
"""Questions that are planned at the same time, one for each who asks: planning takes milliseconds, unless public tables are large."""
_EARLIER = (
    "this very text was paid for in books of an earlier release; that answer is not replayed, because it was measured on rows that were "
    "not yet canonical and under another name"
)


class Estimate(NamedTuple):
    """Bounds that were found privately, if any, and the answer that they were read from."""

    bounds: tuple[Fraction, Fraction] | None
    answer: Answer


class Curator(
    MakesSynthetic,
    AnswersWorkloads,
    LearnsModels,
    AnswersGraphs,
    OpensSessions,
    FindsReleases,
    ComparesReal,
    CuratorFace,
):
    """Stands between a database and an analyst who may be hostile."""

    def __init__(
        self, catalog: Catalog, ledger: Ledger, engine: Engine, *, version: int = 1, dataset: str = "dataset"
    ) -> None:
        self.declared, self.ledger, self.version, self.dataset = catalog, ledger, version, dataset
        self._engine, self._pipeline = engine, Pipeline(ledger, engine)
        self._desks = Places(_DESKS, each=1, long=0)
        self._sessions = Room()
        self._readings = Readings(catalog, engine, today=ledger.data_day())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the engine and the books."""
        self.close_data()
        self.ledger.close()

    def close_data(self) -> None:
        """Let go of the engine alone: another curator goes on with the books."""
        self.close_sessions()
        self._engine.close()

    def table(self, name: str) -> Table:
        """A question built step by step instead of written: `table("visits").where("cost > 5").group_by("ward").count()`."""
        return Table(name)

    def plan(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        taken_back: threading.Event | None = None,
    ) -> Plan:
        """What a question would read, measure and cost. Spends nothing and looks at no protected row; stops where it is taken back.

        Args:
            sql: One SELECT, or a table with steps.
            epsilon: What it may cost; or say how exact it must be. There is no default.
            delta: For groups whose values are not declared.
            mechanism: "laplace", "gaussian" or "choose".
            parameters: A mapping for :name, or a sequence for ?.
            taken_back: Set by whoever takes the question back.
        """
        reading = self._readings.read(str(sql), parameters, taken_back=taken_back or threading.Event())
        return at_price(reading, self.declared, epsilon=epsilon, delta=delta, mechanism=mechanism)

    def epsilon_within(self, sql: str | Table, *, within: Number, confidence: Number, **details: Any) -> float:
        """The least epsilon at which every number of the answer is within ± `within` in `confidence` of all answers.

        Args:
            sql: One SELECT, or a table with steps.
            within: How exact: every number within ± this much.
            confidence: In which share of all answers, such as 0.95; goes with `within`.
            **details: As for `plan`.
        """
        wanted = read_sensitivity(within)
        with self._engine.one_limit() as until:

            def close_enough(epsilon: float) -> bool:
                if time.monotonic() > until:
                    raise TooLarge("The question takes too long to plan.", next_step="Name its epsilon.")
                try:
                    return width_of(self.plan(sql, epsilon=epsilon, **details), confidence) <= wanted
                except ScaleOutOfRange:
                    return False  # too wide to be drawn

            return least(close_enough, precision=1e-4)

    def _priced(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None,
        within: Number | None,
        confidence: Number | None,
        **details: Any,
    ) -> Plan:
        """The plan at the price that was named, or at the price of the accuracy that was named."""
        if (epsilon is not None and within is not None) or (within is None) != (confidence is None):
            raise BadInput(
                "A question takes either epsilon, or within and confidence.",
                next_step="Give an epsilon, such as 0.5, or within and confidence, such as 50 and 0.95.",
            )
        if within is not None and confidence is not None:
            epsilon = self.epsilon_within(sql, within=within, confidence=confidence, **details)
        return self.plan(sql, epsilon=epsilon, **details)

    def ask(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Asking | None = None,
        label: str | None = None,
    ) -> Answer:
        """Plan, charge on disk, read, add noise, store, answer: in this order, each once.

        Say how much it may cost (`epsilon`, here or in OPTIONS), or how exact it must be (`within` and `confidence`). The books call it by
        its text, or by `label` where nobody wrote one.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be taken back.
            label: What it is called in the books, instead of its text.
        """
        taken_back = None if asking is None else asking.taken_back
        details = {"delta": delta, "mechanism": mechanism, "parameters": parameters, "taken_back": taken_back}
        with self._planning(analyst, taken_back):
            plan = self._priced(sql, epsilon=epsilon, within=within, confidence=confidence, **details)
            wanted = self._release(plan, label or wording(str(sql)))
            if asking is not None and asking.limit is not None:
                asking.limit.check(plan)
        paid = self._pipeline.answer(wanted, analyst=analyst, request_id=request_id, asking=asking)
        books = paid.reservation
        if books is None:
            return Answer(plan, paid.stored, loss=Loss(0), replayed=True, receipt="")
        drawn = wanted.drawn(paid.stored)
        return Answer(plan, paid.stored, drawn, loss=self.loss(plan), replayed=books.is_free, receipt=books.receipt)

    @contextmanager
    def _planning(self, analyst: str | None, taken_back: threading.Event | None) -> Iterator[None]:
        """A place to plan at, and all that is looked up there within the seconds of one question."""
        asked = taken_back or threading.Event()
        with self._desks.held(analyst, taken_back=asked), self._engine.one_limit(asked):
            yield

    def _release(self, plan: Plan, label: str) -> SqlRelease:
        return SqlRelease(plan, digest_of(plan, self.declared, data_version=self.version), label)

    def recall(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
        turn: str | None = None,
        limit: AnswerLimit | None = None,
    ) -> Answer:
        """The stored answer to a question that was paid for, or a refusal. Nothing is spent, read or written down.

        Args:
            sql: One SELECT, or a table with steps.
            epsilon: What it may cost; or say how exact it must be. There is no default.
            within: How exact: every number within ± this much.
            confidence: In which share of all answers, such as 0.95; goes with `within`.
            delta: For groups whose values are not declared.
            mechanism: "laplace", "gaussian" or "choose".
            parameters: A mapping for :name, or a sequence for ?.
            analyst: Who has paid for it; nobody is the owner at hand.
            turn: Who looks, and waits for a place to plan at, where that is somebody else.
            limit: How large the answer may be.
        """
        details = {"delta": delta, "mechanism": mechanism, "parameters": parameters}
        with self._planning(turn or analyst, None):
            plan = self._priced(sql, epsilon=epsilon, within=within, confidence=confidence, **details)
        if limit is not None:
            limit.check(plan)
        paid = self._pipeline.recalled(self._release(plan, str(sql)), analyst=analyst)
        if paid is None or paid.reservation is None:
            raise NotAnswered("There is no answer to this question yet, or it is not paid for.", next_step="Ask it.")
        return Answer(plan, paid.stored, loss=self.loss(plan), replayed=True, receipt=paid.reservation.receipt)

    def explain(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        within: Number | None = None,
        confidence: Number | None = None,
        delta: Number | None = None,
        mechanism: str | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
    ) -> Explanation:
        """What a question would read, measure and cost. Spends nothing and looks at no protected row.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        details = {"delta": delta, "mechanism": mechanism, "parameters": parameters}
        with self._planning(analyst, None):
            plan = self._priced(sql, epsilon=epsilon, within=within, confidence=confidence, **details)
        earlier = any(  # of which the first releases kept the comments too
            self.ledger.paid_under_earlier_format(words, question_format=FORMAT, data_version=self.version)
            for words in {str(sql), wording(str(sql))}
        )
        wanted = self._release(plan, str(sql))
        charged = self._pipeline.would_charge(wanted, analyst=analyst)
        return explained(
            plan,
            self.declared,
            data_version=self.version,
            loss=self.loss(plan),
            asked_before=self._pipeline.is_paid(wanted, analyst=analyst),
            accounts=self.budget(analyst=analyst),
            charged={holder(name): allowed for name, allowed in charged.items()},
            analyst=analyst,
            notes=[_EARLIER] if earlier else [],
        )

    def budget(self, *, analyst: str | None = None) -> list[Balance]:
        """The dataset's account and the analyst's; all of them for the owner.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        return balances(self.ledger, analyst)

    def history(self, *, before: int | None = None, limit: int = PAGE, analyst: str | None = None) -> list[PastRelease]:
        """The last questions, newest first, with who paid for them; those of one analyst, or all for the owner.

        With `before`, those that came before the one with this number.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        return history(self.ledger, analyst, before=before, limit=limit)

    def catalog(self) -> CatalogFacts:
        """What is public about the data."""
        declared = self.declared
        return CatalogFacts(
            self.dataset, self.version, tuple(facts_of(declared)), tuple(trees_of(declared)), tuple(graphs_of(declared))
        )

    def card(self) -> Card:
        """What was spent on what, for everybody."""
        return card(self.ledger, self.declared, dataset=self.dataset, version=self.version)

    def estimate_bounds(self, table: str, column: str, *, epsilon: Number, analyst: str | None = None) -> Estimate:
        """Bounds for a numeric column that has none, found privately and paid for; None where all is noise.

        Args:
            table: Its name.
            column: Its name.
            epsilon: What it may cost.
            analyst: Who asks; nobody is the owner at hand.
        """
        kind = to_be_bounded(self.declared, table, column).type
        label = f"bounds of {table}.{column}, estimated"
        answer = self.ask(bins_question(table, column), epsilon=epsilon, analyst=analyst, label=label)
        return Estimate(ends_of(answer, kind), answer)

    def watch(
        self,
        sql: str | Table,
        *,
        threshold: Number,
        epsilon: Number | None = None,
        parameters: Parameters = (),
        run: int = 1,
        request_id: str | None = None,
        analyst: str | None = None,
        asking: Asking | None = None,
    ) -> Watch:
        """Watch one count or sum over data versions until it is above, noisily: paid for in full now, and once.

        `threshold` is in the unit of what is counted. After a watch has ended, another of the same count is run 2, paid for anew.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be taken back.
        """
        taken_back = None if asking is None else asking.taken_back
        with self._planning(analyst, taken_back):
            plan = self.plan(sql, epsilon=epsilon, parameters=parameters, taken_back=taken_back)
        wanted = self._watchable(plan, threshold, run, wording(str(sql)))
        return begin(
            wanted, self._pipeline, version=self.version, analyst=analyst, request_id=request_id, asking=asking
        )

    def watched(
        self,
        sql: str | Table,
        *,
        threshold: Number,
        epsilon: Number | None = None,
        parameters: Parameters = (),
        run: int = 1,
        analyst: str | None = None,
    ) -> Watch:
        """A watch that was begun with the same words and is paid for, or a refusal. Nothing is spent.

        Args:
            sql: One count or sum.
            threshold: In the unit of what is counted.
            epsilon: What all of it costs.
            parameters: A mapping for :name, or a sequence for ?.
            run: 1, and one more after each that has ended.
            analyst: Who has paid for it; nobody is the owner at hand.
        """
        with self._planning(analyst, None):
            plan = self.plan(sql, epsilon=epsilon, parameters=parameters)
        wanted = self._watchable(plan, threshold, run, wording(str(sql)))
        return resume(wanted, self._pipeline, version=self.version, analyst=analyst)

    def _watchable(self, plan: Plan, threshold: Number, run: int, label: str) -> Watchable:
        return watchable(plan, threshold=threshold, neighbours=self.declared.neighbours, run=run, label=label)

    def take_back(self, asking: Asking) -> None:
        """Plan no further for a question that somebody else is asking. One that is paid for is read and stored all the same.

        Args:
            asking: What was given to `ask`.
        """
        self._desks.take_back(asking.taken_back)
        self._pipeline.take_back(asking)

    def stop(self, asking: Asking) -> None:
        """Stop a question at once, wherever it is: for a server that goes away. Its price stays paid, and nothing is stored.

        Args:
            asking: What was given to `ask`.
        """
        self.take_back(asking)
        self._pipeline.stop(asking)

    def loss(self, plan: Plan) -> Loss:
        """What a question costs: its epsilons added up; or, where there are none, at the delta for conversion.

        Args:
            plan: What `plan` gave.
        """
        cost = Composed.of(plan.releases)
        aside = float(exact(cost.delta))
        pure = cost.pure_epsilon
        if math.isfinite(pure):
            return Loss(pure, aside)
        conversion = self.declared.cap.cap.delta / 2 or 1e-6
        return Loss(cost.epsilon_at(conversion + aside), conversion + aside)
