"""JSON of models to learn and of the decisions of learned ones. Nothing that is read is executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

from discreet.errors import BadInput, TooLarge
from discreet.learning.data.features import Category, Feature, Number, name_of
from discreet.learning.data.hypotheses import size_of
from discreet.learning.models.learned_model import Model
from discreet.learning.runs.deciders import Decider
from discreet.learning.runs.learning_request import check_model
from discreet.learning.runs.model_release import MODELS, build_model, settings_in
from discreet.measurement.feature_vectors import Deciding, Score, Split

MOST_HYPOTHESES = 2**14
"""Hypotheses of a class that comes over HTTP: all of them are built before the charge."""


def model_to_json(model: Model) -> dict[str, Any]:
    """Return a model that is to be learned, as JSON."""
    check_model(model)
    *features, last = [_feature_to_json(feature) for feature in model.all_features]
    named = {"features": features, "target": last} if model.label is not None else {"features": [*features, last]}
    settings = {
        name: float(value) if isinstance(value, Fraction) else value
        for name, value in settings_in(model.described).items()
    }
    if "hypotheses" in settings and settings["hypotheses"] is None:
        raise BadInput(
            "Your own functions cannot be sent to a server.",
            next_step="Use conjunctions, stumps, thresholds or halfspaces, or a local curator.",
        )
    return {"kind": type(model).__name__, **named, **settings}


def model_from_json(data: Mapping[str, Any]) -> Model:
    """Read a model that is to be learned.

    Args:
        data: A JSON object of the right form.
    """
    settings = {name: value for name, value in data.items() if name not in ("kind", "features")}
    kind, features = MODELS.get(data["kind"]), [_feature_from_json(each) for each in data["features"]]
    if kind is None:
        raise BadInput("Unknown kind of model.", next_step=f"Use one of: {', '.join(MODELS)}.")
    if size_of(settings.get("hypotheses", {})) > MOST_HYPOTHESES:
        raise TooLarge(
            f"A class over HTTP has at most {MOST_HYPOTHESES:,} hypotheses.", next_step="Use fewer columns or points."
        )
    if "target" in settings:
        settings["target"] = _feature_from_json(settings["target"])
    if not settings.keys() <= {each.name for each in fields(kind) if each.init}:
        raise BadInput(
            f"{kind.__name__} has other parameters.",
            next_step="Leave out parameters that it does not have, such as passes or a target.",
        )
    return build_model(kind, features, settings)


def _feature_to_json(feature: Feature) -> Any:
    match feature:
        case Number():
            return {"number": feature.name} | ({} if feature.bins is None else {"bins": feature.bins})
        case Category():
            return {"category": feature.name}
    return name_of(feature)


def _feature_from_json(data: Any) -> Feature:
    match data:
        case {"number": name}:
            return Number(name, bins=data.get("bins"))
        case {"category": name}:
            return Category(name)
    return str(data)


def decider_to_json(decider: Decider) -> dict[str, Any]:
    """Return the decisions of a model as JSON.

    Either a constant per class and entries per column; or, level by level, which codes of which column go to the second
    part, and the class of each part.
    """
    named = {"model": decider.model, "columns": list(decider.columns), "target": decider.target}
    known = {"bins": dict(decider.bins), "seen": decider.seen, "classes": decider.deciding.classes}
    if decider.deciding.scores:
        return {**named, **known, "scores": [_score_to_json(score) for score in decider.deciding.scores]}
    levels = [
        [{"column": split.column, "second": _sides(split)} for split in level] for level in decider.deciding.partition
    ]
    return {**named, **known, "splits": levels, "class_of_part": list(decider.deciding.class_of_part)}


def _score_to_json(score: Score) -> dict[str, Any]:
    return {"constant": score.constant, "entries": [list(score.entries[at]) for at in sorted(score.entries)]}


def _sides(split: Split) -> str:
    return "".join("01"[side] for side in split.is_second)


def decider_from_json(data: Mapping[str, Any]) -> Decider:
    """Read the decisions of a model. Whether they fit the rows is checked later.

    Args:
        data: A JSON object of the right form.
    """
    scores = tuple(_score_from_json(**score) for score in data.get("scores", ()))
    partition = tuple(
        tuple(Split(split["column"], tuple(side == "1" for side in split["second"])) for split in level)
        for level in data.get("splits", ())
    )
    return Decider(
        data["model"],
        tuple(data["columns"]),
        data["target"],
        data["bins"],
        data["seen"],
        Deciding(data["classes"], scores, partition, tuple(data.get("class_of_part", ()))),
    )


def _score_from_json(constant: int, entries: Sequence[Sequence[int]]) -> Score:
    return Score({at: tuple(each) for at, each in enumerate(entries)}, constant)
