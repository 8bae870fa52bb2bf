"""Models as JSON: what is to be learned, and what a model decides. Nothing is ever run that was read."""

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
from discreet.learning.runs.learning_request import check_wanted
from discreet.learning.runs.model_release import MODELS, built, settings_in
from discreet.measurement.feature_vectors import Deciding, Score, Split

MOST_HYPOTHESES = 2**14
"""Of a class that comes from elsewhere: all of them are written down before anything is paid for."""


def model_to_json(model: Model) -> dict[str, Any]:
    """A model that is to be learned, as JSON has it.

    Args:
        model: As a curator takes it.
    """
    check_wanted(model)
    *features, last = [_feature_facts(feature) for feature in model.wanted]
    named = {"features": features, "target": last} if model.label is not None else {"features": [*features, last]}
    settings = {
        name: float(value) if isinstance(value, Fraction) else value
        for name, value in settings_in(model.described).items()
    }
    if "hypotheses" in settings and settings["hypotheses"] is None:
        raise BadInput(
            "Functions of your own stay where they are.",
            next_step="Use conjunctions, stumps, thresholds or halfspaces; or a curator at hand.",
        )
    return {"kind": type(model).__name__, **named, **settings}


def model_from_json(facts: Mapping[str, Any]) -> Model:
    """The model again, or a refusal.

    Args:
        facts: As they came in.
    """
    settings = {name: value for name, value in facts.items() if name not in ("kind", "features")}
    kind, features = MODELS.get(facts["kind"]), [_feature(each) for each in facts["features"]]
    if kind is None:
        raise BadInput("There is no such model.", next_step=f"Use one of: {', '.join(MODELS)}.")
    if size_of(settings.get("hypotheses", {})) > MOST_HYPOTHESES:
        raise TooLarge(
            f"A class has at most {MOST_HYPOTHESES:,} hypotheses here.", next_step="Take fewer columns or points."
        )
    if "target" in settings:
        settings["target"] = _feature(settings["target"])
    if not settings.keys() <= {each.name for each in fields(kind) if each.init}:
        raise BadInput(
            f"{kind.__name__} takes other parameters.",
            next_step="Leave out what it has not, such as passes or a target.",
        )
    return built(kind, features, settings)


def _feature_facts(feature: Feature) -> Any:
    match feature:
        case Number():
            return {"number": feature.name} | ({} if feature.bins is None else {"bins": feature.bins})
        case Category():
            return {"category": feature.name}
    return name_of(feature)


def _feature(facts: Any) -> Feature:
    match facts:
        case {"number": name}:
            return Number(name, bins=facts.get("bins"))
        case {"category": name}:
            return Category(name)
    return str(facts)


def decider_to_json(decider: Decider) -> dict[str, Any]:
    """What a model decides, as JSON has it: for each class a constant and the entries of each column; or, level by level, which codes of which
    column go to the second part, and the class of each part.

    Args:
        decider: Of a model that has learned.
    """
    named = {"model": decider.model, "columns": list(decider.columns), "target": decider.target}
    seen = {"bins": dict(decider.bins), "seen": decider.seen, "classes": decider.deciding.classes}
    if decider.deciding.scores:
        return {**named, **seen, "scores": [_score_facts(score) for score in decider.deciding.scores]}
    levels = [
        [{"column": split.column, "second": _sides(split)} for split in level] for level in decider.deciding.partition
    ]
    return {**named, **seen, "splits": levels, "class_of_part": list(decider.deciding.class_of_part)}


def _score_facts(score: Score) -> dict[str, Any]:
    return {"constant": score.constant, "entries": [list(score.entries[place]) for place in sorted(score.entries)]}


def _sides(split: Split) -> str:
    return "".join("01"[side] for side in split.is_second)


def decider_from_json(facts: Mapping[str, Any]) -> Decider:
    """The same again; whether it fits rows is seen when they are known.

    Args:
        facts: As they came in.
    """
    scores = tuple(_score(**score) for score in facts.get("scores", ()))
    partition = tuple(
        tuple(Split(split["column"], tuple(side == "1" for side in split["second"])) for split in level)
        for level in facts.get("splits", ())
    )
    return Decider(
        facts["model"],
        tuple(facts["columns"]),
        facts["target"],
        facts["bins"],
        facts["seen"],
        Deciding(facts["classes"], scores, partition, tuple(facts.get("class_of_part", ()))),
    )


def _score(constant: int, entries: Sequence[Sequence[int]]) -> Score:
    return Score({place: tuple(each) for place, each in enumerate(entries)}, constant)
