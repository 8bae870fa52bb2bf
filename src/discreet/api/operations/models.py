"""What a curator does about learning: says what a model would look at and cost, and learns it. Rows stay in the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

from discreet.api.faces.models import Kind, LearningFace, LearningOptions, LearningPlan, PlannedLook
from discreet.api.run_parts import CuratorPart
from discreet.core.number_format import CONFIDENCE
from discreet.errors import TooLarge
from discreet.learning.data.features import Feature, name_of
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Model
from discreet.learning.models.product_moments import Moments
from discreet.learning.runs.deciders import Decider
from discreet.learning.runs.evaluation import PURPOSE as EVALUATE
from discreet.learning.runs.evaluation import Evaluation, measure
from discreet.learning.runs.learning_request import check_wanted
from discreet.learning.runs.measurement_plan import NoisyLook
from discreet.learning.runs.model_affordability import MOST_COLUMNS, afforded, paid_for
from discreet.learning.runs.model_release import ModelRelease
from discreet.measurement.in_memory_run import of_nobody
from discreet.measurement.run_options import RunOptions, check_options
from discreet.measurement.runs import Basis, TableRun
from discreet.mechanisms.adaptive_budget import AdaptiveBudget
from discreet.pipeline.call import Call
from discreet.sql import Table
from discreet.sql.coded_rows import columns_query


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
        asking: Call | None = None,
        **price: Unpack[LearningOptions],
    ) -> Kind:
        """Learn a model from a table, or from a SELECT that yields people's rows: all of it is charged once before the first look.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be cancelled.
        """
        release = self.learned_release(
            model, source, name=name, analyst=analyst, request_id=request_id, asking=asking, **price
        )
        return model.learned_from(release.stored, receipt=release.receipt, replayed=release.replayed)

    def learned_release(
        self,
        model: Model,
        source: str | Table,
        *,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Call | None = None,
        **price: Unpack[LearningOptions],
    ) -> ModelRelease:
        """The same, as what was drawn: the model is worked out where it is wanted, which may take longer than drawing it.

        Args:
            model: What to learn, by the names of columns.
            source: A table's name, or a SELECT of rows.
            name: What the release is looked up by.
            analyst: Who asks; nobody is the owner at hand.
            request_id: A name for this call: repeated under it, it is paid for once.
            asking: How it can be cancelled.
            **price: What it may cost.
        """
        with self._planning(analyst, None if asking is None else asking.cancelled):
            run, _ = self._learning(model, source, price, name=name)
        return self._made(ModelRelease, run, analyst=analyst, request_id=request_id, asking=asking)

    def plan_learning(
        self, model: Model, source: str | Table, *, analyst: str | None = None, **price: Unpack[LearningOptions]
    ) -> LearningPlan:
        """What `learn` would look at and cost, or its refusal. Nothing is read and nothing is spent.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        with self._planning(analyst, None):
            run, looks = self._learning(model, source, price)
        return LearningPlan(looks=tuple(map(_planned_look, looks)), **self._planned(run, analyst))

    def moments(
        self,
        source: str | Table,
        *columns: Feature,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Call | None = None,
        **price: Unpack[LearningOptions],
    ) -> Moments:
        """How many rows there are, the sums of columns and of their products, in one release: `LinearRegression.from_moments` for any of the
        columns and `PCA.from_moments` cost nothing more.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be cancelled.
        """
        wanted = Moments(features=columns)
        return self.learn(wanted, source, name=name, analyst=analyst, request_id=request_id, asking=asking, **price)

    def _learning(
        self, model: Model, source: str | Table, price: LearningOptions, *, name: str | None = None
    ) -> tuple[TableRun, list[NoisyLook[Any]]]:
        """The run, and its looks with their noise: whatever would be refused is refused before anything is charged."""
        check_wanted(model)
        names = [name_of(feature) for feature in model.wanted]
        bins = {name_of(feature): count for feature in model.wanted if (count := model.bins_in(feature)) is not None}
        basis = self._rows_for(model.budget, names, bins, source, price, label=model.label, name=name)
        looks, work = afforded(model, basis.domain, basis.budget)
        what, purpose = type(model).__name__, model.described_for(basis.domain)
        run = basis.run(what, purpose=purpose, measure=model.measure, looks=work.columns, computing=work.seconds)
        return run, looks

    def _rows_for(
        self,
        budget_of: Callable[..., AdaptiveBudget],
        columns: Sequence[str],
        bins: Mapping[str, int],
        source: str | Table,
        price: LearningOptions,
        *,
        label: str | None,
        name: str | None,
    ) -> Basis:
        """The columns of a model as codes, and the budget that was named."""
        check_options(price, LearningOptions)
        text = columns_query(str(source), columns, self.declared)
        cap = self.declared.cap.cap.delta
        delta = price.get("delta") or (cap if price.get("rho") is None and cap else None)
        budget = budget_of(epsilon=price.get("epsilon"), delta=delta, rho=price.get("rho"), is_pure=not cap)
        options: RunOptions = {"bins": bins, "parameters": price.get("parameters", ())}
        return self._basis(text, options, required=label, budget=budget, name=name)

    def evaluate(
        self,
        model: Classifier,
        source: str | Table,
        *,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Call | None = None,
        **price: Unpack[LearningOptions],
    ) -> Evaluation:
        """How well a model that was learned decides about people's rows: a noisy table of decided and true classes, paid for once.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be cancelled.
        """
        decider = Decider.of(model)
        return self.evaluate_decider(
            decider, source, name=name, analyst=analyst, request_id=request_id, asking=asking, **price
        )

    def evaluate_decider(
        self,
        decider: Decider,
        source: str | Table,
        *,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Call | None = None,
        **price: Unpack[LearningOptions],
    ) -> Evaluation:
        """The same of what a model decides, wherever the model is.

        Args:
            decider: What it decides about rows of which columns.
            source: A table's name, or a SELECT of rows with the same columns.
            name: What the release is looked up by.
            analyst: Who asks; nobody is the owner at hand.
            request_id: A name for this call: repeated under it, it is paid for once.
            asking: How it can be cancelled.
            **price: What it may cost.
        """
        with self._planning(analyst, None if asking is None else asking.cancelled):
            run, _ = self._evaluation(decider, source, price, name=name)
        return self._made(Evaluation, run, analyst=analyst, request_id=request_id, asking=asking)

    def plan_evaluation(
        self, model: Classifier, source: str | Table, *, analyst: str | None = None, **price: Unpack[LearningOptions]
    ) -> LearningPlan:
        """What `evaluate` would count, how exactly, and what it would cost, or its refusal. Nothing is read and nothing is spent.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        return self.plan_decider(Decider.of(model), source, analyst=analyst, **price)

    def plan_decider(
        self, decider: Decider, source: str | Table, *, analyst: str | None = None, **price: Unpack[LearningOptions]
    ) -> LearningPlan:
        """The same of what a model decides, wherever the model is.

        Args:
            decider: What it decides about rows of which columns.
            source: A table's name, or a SELECT of rows with the same columns.
            analyst: Who asks; nobody is the owner at hand.
            **price: What it may cost.
        """
        with self._planning(analyst, None):
            run, look = self._evaluation(decider, source, price)
        return LearningPlan(looks=(_planned_look(look),), **self._planned(run, analyst))

    def _evaluation(
        self, decider: Decider, source: str | Table, price: LearningOptions, *, name: str | None = None
    ) -> tuple[TableRun, NoisyLook[Any]]:
        label, deciding, columns = decider.target, decider.deciding, [*decider.columns, decider.target]
        basis = self._rows_for(Model.budget, columns, decider.bins, source, price, label=label, name=name)
        decider.check(basis.domain)
        looked_over = deciding.classes * len(columns)
        if looked_over > MOST_COLUMNS:
            raise TooLarge("This evaluation would take too long.", next_step="Evaluate a model of fewer columns.")
        measurer, meter = of_nobody(basis.domain, basis.budget)
        noise = measurer.confusion_noise(deciding, label, measurer.left)
        look = NoisyLook("confusion", noise.size, noise)
        seconds = paid_for([look], meter).seconds
        purpose = {"kind": EVALUATE, "label": label, "deciding": deciding.described}
        draw, what = partial(measure, deciding=deciding, label=label), f"evaluation of {decider.model}"
        return basis.run(what, purpose=purpose, measure=draw, looks=looked_over, computing=seconds), look


def _planned_look(look: NoisyLook[Any]) -> PlannedLook:
    norm, within = float(look.noise.sensitivity), float(look.noise.error(CONFIDENCE))
    return PlannedLook(look.what, look.numbers, norm / look.unit, within / look.unit)
