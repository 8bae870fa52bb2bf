"""What a curator does about learning: says what a model would look at and cost, and learns it. Rows stay in the engine."""

from __future__ import annotations

from functools import partial
from typing import Unpack

from discreet.answering.at_hand import rehearsed
from discreet.answering.parts import CuratorPart
from discreet.answering.pipeline import Asking
from discreet.answering.run_options import RunOptions, check_options
from discreet.answering.runs import Basis, TableRun
from discreet.answering.transcript import Step, Transcript
from discreet.errors import BadInput, TooLarge
from discreet.figures import CONFIDENCE
from discreet.learning.classifier import Classifier
from discreet.learning.evaluating import PURPOSE as EVALUATE
from discreet.learning.evaluating import Evaluation, check_same, measure
from discreet.learning.face import Kind, LearningFace, LearningOptions, LearningPlan, PlannedLook
from discreet.learning.features import check_undeclared, name_of
from discreet.learning.model import Model
from discreet.learning.release import ModelRelease
from discreet.ledger.releases import rebuild
from discreet.sql import Table
from discreet.sql.people import columns_question

MOST_WORK = 800
"""Columns that the passes of a model go over, one after another: within the time that a run is given."""


class LearnsModels(CuratorPart, LearningFace):
    """A part of the curator."""

    def learn(
        self,
        model: Kind,
        source: str | Table,
        *,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Asking | None = None,
        **price: Unpack[LearningOptions],
    ) -> Kind:
        """Learn a model from a table, or from a SELECT that yields people's rows: all of it is charged once before the first look.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be taken back.
        """
        with self._planning(analyst, None if asking is None else asking.taken_back):
            run, _ = self._learning(model, source, price, name=name)
        made = self._made(ModelRelease, run, analyst=analyst, request_id=request_id, asking=asking)
        return model.learned_from(made.stored, receipt=made.receipt, replayed=made.replayed)

    def plan_learning(
        self, model: Model, source: str | Table, *, analyst: str | None = None, **price: Unpack[LearningOptions]
    ) -> LearningPlan:
        """What `learn` would look at and cost, or its refusal. Nothing is read and nothing is spent.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        with self._planning(analyst, None):
            run, rehearsal = self._learning(model, source, price)
        return LearningPlan(looks=tuple(map(_planned_look, rehearsal.steps)), **self._planned(run, analyst))

    def _learning(
        self, model: Model, source: str | Table, price: LearningOptions, *, name: str | None = None
    ) -> tuple[TableRun, Transcript]:
        """The run, and its looks at nobody's rows: whatever would be refused is refused before anything is charged."""
        _check(model)
        basis = self._rows_for(model, source, price, name)
        if model.work(basis.domain) > MOST_WORK:
            raise TooLarge(
                "The passes of this model would take too long.", next_step="Ask for fewer passes, classes or columns."
            )
        rehearsal = model.rehearse(basis.domain, basis.budget)
        return basis.run(type(model).__name__, purpose=model.described, measure=model.measure), rehearsal

    def _rows_for(self, model: Model, source: str | Table, price: LearningOptions, name: str | None) -> Basis:
        """The columns of a model as codes, and the budget that was named."""
        check_options(price, LearningOptions)
        named = [name_of(feature) for feature in model.wanted]
        text = columns_question(str(source), named, self.declared)
        bins = {name_of(feature): count for feature in model.wanted if (count := model.bins_in(feature)) is not None}
        cap = self.declared.cap.cap.delta
        delta = price.get("delta") or (cap if price.get("rho") is None and cap else None)
        kind = Model if model.has_learned else type(model)
        budget = kind.budget(epsilon=price.get("epsilon"), delta=delta, rho=price.get("rho"), is_pure=not cap)
        options: RunOptions = {"bins": bins, "parameters": price.get("parameters", ())}
        return self._basis(text, options, required=model.label, budget=budget, name=name)

    def evaluate(
        self,
        model: Classifier,
        source: str | Table,
        *,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Asking | None = None,
        **price: Unpack[LearningOptions],
    ) -> Evaluation:
        """How well a model that was learned decides about people's rows: a noisy table of decided and true classes, paid for once.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be taken back.
        """
        if not isinstance(model, Classifier) or not model.has_learned:
            raise BadInput(
                "What is evaluated is a model of classes that has learned.", next_step="Let the curator learn it first."
            )
        with self._planning(analyst, None if asking is None else asking.taken_back):
            basis = self._rows_for(model, source, price, name)
            check_same(model, basis.domain)
            deciding = model.deciding()
            look = partial(measure, deciding=deciding, label=model.target)
            rehearsed(basis.domain, basis.budget, look)
            purpose = {"kind": EVALUATE, "label": model.target, "deciding": deciding.described}
            run = basis.run(f"evaluation of {type(model).__name__}", purpose=purpose, measure=look)
        return self._made(Evaluation, run, analyst=analyst, request_id=request_id, asking=asking)


def _check(model: object) -> None:
    if not isinstance(model, Model):
        raise BadInput(
            "A model is needed here.", next_step='Give one, such as NaiveBayes(target="died", features=["age"]).'
        )
    if (model.epsilon, model.delta, model.rho) != (None, None, None):
        raise BadInput("A curator is told the price beside the model.", next_step="Give epsilon to `learn` alone.")
    if isinstance(model, Classifier) and model.classes is not None:
        raise BadInput("The catalog says which classes there are.", next_step="Leave classes out.")
    for feature in model.wanted:
        check_undeclared(feature)


def _planned_look(step: Step) -> PlannedLook:
    mechanism = rebuild(step.about["paid"])
    return PlannedLook(step.kind, step.outcome.size, float(mechanism.error(CONFIDENCE)))
