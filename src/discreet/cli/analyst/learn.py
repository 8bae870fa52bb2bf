"""`discreet learn` and `discreet evaluate`: models of protected rows and their plans, every number with its ±."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from discreet.api.opening import open_curator
from discreet.api.plans import LearningPlan
from discreet.api.requests.evaluate import EvaluateRequest
from discreet.api.requests.learn import LearnRequest
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.read_progress import print_read_progress
from discreet.cli.terminal.request_options import with_options_of
from discreet.cli.terminal.run_commands import DryRun, print_release, show_measurement_progress, show_plan
from discreet.core.number_format import CONFIDENCE, amount
from discreet.errors import BadInput, BadRelease
from discreet.learning import (
    PCA,
    Category,
    DecisionTree,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Moments,
    NaiveBayes,
    Number,
)
from discreet.learning.data.features import Feature
from discreet.learning.models.classifier import Classifier
from discreet.learning.models.learned_model import Model
from discreet.learning.runs.model_card import Card
from discreet.learning.runs.model_release import ModelRelease
from discreet.pipeline.call import Call

KINDS: dict[str, tuple[type[Model], str | None]] = {
    "logistic": (LogisticRegression, "passes"),
    "linear": (LinearRegression, None),
    "bayes": (NaiveBayes, None),
    "tree": (DecisionTree, "depth"),
    "kmeans": (KMeans, "clusters"),
    "pca": (PCA, "components"),
    "moments": (Moments, None),
}
"""Models by the names that a terminal has for them, and the parameter that is a number of steps or parts."""
ModelName = Annotated[str, typer.Option("--model", help=f"One of {', '.join(KINDS)}.")]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--feature", help="Feature column. age:16 makes 16 bins of a number; age:values uses each value. Repeatable."
    ),
]
Target = Annotated[str | None, typer.Option("--target", help="The column to predict.")]
Count = Annotated[
    int | None,
    typer.Option(
        "--count", min=1, help="Number of passes, tree depth, clusters or components (default depends on the model)."
    ),
]


@with_options_of(LearnRequest, without=("model",))
def learn(
    options: Mapping[str, Any],
    *,
    model: ModelName,
    feature: Features = None,
    target: Target = None,
    count: Count = None,
    dry_run: DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Train a model on protected rows. Charged once. Running the same command again, for example after a crash, is free."""
    request = LearnRequest(_model(model, [_feature(text) for text in feature or []], target, count), **options)
    with open_curator(config, tell=print_read_progress) as curator:
        if dry_run:
            _show(curator.as_analyst(analyst).plan(request), as_json=as_json)
            return
        with show_measurement_progress() as on_measurement:
            learned = curator.with_call(Call(analyst=analyst, on_measurement=on_measurement)).execute(request)
    release = ModelRelease.of(learned, name=request.name)
    _print_result(
        release, f"{type(learned).__name__} of {len(learned.learned):,} numbers", learned.card(), as_json=as_json
    )


@with_options_of(EvaluateRequest)
def evaluate(
    options: Mapping[str, Any],
    *,
    dry_run: DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Measure with noise how often a classifier is right on protected rows. Charged once; repeating it is free."""
    with open_curator(config, tell=print_read_progress) as curator:
        caller, name = curator.as_analyst(analyst), options["model"]
        release = caller.release(name)
        if not isinstance(release, ModelRelease) or not isinstance(release.model, Classifier):
            raise BadRelease("This release is not a classifier.", next_step="Name one: `discreet releases` lists them.")
        request = EvaluateRequest(**{**options, "model": release.model})
        if dry_run:
            _show(caller.plan(request), as_json=as_json)
            return
        found = caller.execute(request)
    _print_result(
        found, f"{name} is right about {100 * found.accuracy.value:.3g} % of rows", found.card(), as_json=as_json
    )


def _model(kind: str, features: list[Feature], target: str | None, count: int | None) -> Model:
    if kind not in KINDS:
        raise BadInput("There is no model of this name.", next_step=f"Use one of: {', '.join(KINDS)}.")
    made, counted = KINDS[kind]
    has_target = issubclass(made, Classifier | LinearRegression)
    if has_target != (target is not None) or (count is not None and counted is None):
        raise BadInput(
            "This option does not apply to this model.",
            next_step="--target applies to logistic, linear, bayes and tree; --count to models with passes, depth, clusters or components.",
        )
    given: dict[str, Any] = {"target": target} if has_target else {}
    return made(features=features, **given, **({} if count is None or counted is None else {counted: count}))


def _feature(text: str) -> Feature:
    name, _, how = text.rpartition(":")
    if name and how == "values":
        return Category(name)
    return Number(name, bins=int(how)) if name and how.isdigit() else text


def _show(plan: LearningPlan, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(plan))
        return
    show_plan(
        plan,
        {
            "measured": [
                f"{each.what}: {each.numbers:,} numbers, each ± {amount(each.within)}; a person moves them by at most {amount(each.norm)}"
                for each in plan.measurements
            ]
        },
    )


def _print_result(release: Any, how: str, card: Card, *, as_json: bool) -> None:
    if as_json:
        print_json({**release.summary, "replayed": release.replayed, "numbers": card.numbers(CONFIDENCE)})
        return
    typer.echo(repr(card))
    print_release(release, how)
