"""`discreet learn` and `discreet evaluate`: models of people's rows, what they look at and cost before they are paid, every number with its ±."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from discreet.api.faces.models import LearningPlan
from discreet.api.opening import open_curator
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.read_progress import tell_reading
from discreet.cli.terminal.run_commands import (
    Delta,
    DryRun,
    Epsilon,
    Name,
    Rho,
    Source,
    looking_on,
    show_plan,
    tell_made,
)
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
    typer.Option("--feature", help="A column; age:16 puts numbers into 16 bins, age:values takes each for itself."),
]
Target = Annotated[str | None, typer.Option("--target", help="The column to predict.")]
Count = Annotated[
    int | None, typer.Option("--count", min=1, help="Passes, depth, clusters or components; as usual if left out.")
]
Learned = Annotated[str, typer.Argument(help="The name that a model was learned under.")]


def learn(
    source: Source,
    *,
    model: ModelName,
    feature: Features = None,
    target: Target = None,
    count: Count = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    name: Name = None,
    dry_run: DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Learn a model of people's rows: pays once before the first look, goes on where a crash left it, and is free when it is asked for again."""
    wanted = _model(model, [_feature(text) for text in feature or []], target, count)
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho}
    with open_curator(config, tell=tell_reading) as curator:
        if dry_run:
            _show(curator.plan_learning(wanted, source, analyst=analyst, **price), as_json=as_json)
            return
        with looking_on() as on_look:
            asking = Call(on_look=on_look)
            learned = curator.learn(wanted, source, name=name, analyst=analyst, asking=asking, **price)
    release = ModelRelease.of(learned, name=name)
    _tell(release, f"{type(learned).__name__} of {len(learned.learned):,} numbers", learned.card(), as_json=as_json)


def evaluate(
    model: Learned,
    source: Source,
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    name: Name = None,
    dry_run: DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Count how often a model of classes is right about people's rows, with noise: pays once, and is free when it is asked for again."""
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho}
    with open_curator(config, tell=tell_reading) as curator:
        release = curator.as_analyst(analyst).release(model)
        if not isinstance(release, ModelRelease) or not isinstance(release.model, Classifier):
            raise BadRelease(
                "This release is no model of classes.", next_step="Name one: `discreet releases` lists them."
            )
        if dry_run:
            _show(curator.plan_evaluation(release.model, source, analyst=analyst, **price), as_json=as_json)
            return
        found = curator.evaluate(release.model, source, name=name, analyst=analyst, **price)
    _tell(found, f"{model} is right about {100 * found.accuracy.value:.3g} % of rows", found.card(), as_json=as_json)


def _model(kind: str, features: list[Feature], target: str | None, count: int | None) -> Model:
    if kind not in KINDS:
        raise BadInput("There is no such model.", next_step=f"Use one of: {', '.join(KINDS)}.")
    made, counted = KINDS[kind]
    has_target = issubclass(made, Classifier | LinearRegression)
    if has_target != (target is not None) or (count is not None and counted is None):
        raise BadInput(
            "This model takes other options.",
            next_step="Give --target to logistic, linear, bayes and tree alone, and --count to what has passes, depth, clusters or components.",
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
            "looks": [
                f"{look.what}: {look.numbers:,} numbers, each ± {amount(look.within)}; a person moves them by at most {amount(look.norm)}"
                for look in plan.looks
            ]
        },
    )


def _tell(release: Any, how: str, card: Card, *, as_json: bool) -> None:
    if as_json:
        print_json({**release.facts, "replayed": release.replayed, "numbers": card.numbers(CONFIDENCE)})
        return
    typer.echo(repr(card))
    tell_made(release, how)
