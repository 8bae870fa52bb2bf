"""JSON schemas of models: the specification of a model to train, and the decision rule of a trained model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from discreet.learning.models.decision_tree import MOST_DEPTH
from discreet.server.schemas.strict_json import Positive, WithoutNulls

_MOST = 2_000
"""Largest number of columns, classes and parts of a model."""
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Whole = Annotated[int, Field(ge=1, le=_MOST)]


class NumberFeature(WithoutNulls):
    """A numeric column with one weight, or with `bins` one weight per bin."""

    number: _Name
    bins: _Whole | None = None


class CategoryFeature(WithoutNulls):
    """A column of values, one cell per value."""

    category: _Name


_Feature = _Name | NumberFeature | CategoryFeature


class HypothesisClass(WithoutNulls):
    """A finite class: conjunctions, stumps with thresholds in steps of 1/1024, or halfspaces with such offsets."""

    kind: Annotated[Literal["conjunctions", "stumps", "halfspaces"], Field(alias="class")]
    columns: Annotated[int, Field(ge=1, le=_MOST)]
    steps: Annotated[list[Annotated[int, Field(ge=-(2**50), le=2**50)]], Field(max_length=2**14)] | None = None
    both: bool | None = None
    weights: Annotated[int, Field(ge=1, le=100)] | None = None


class WantedModel(WithoutNulls):
    """A model to learn, by column names; the catalog has their bounds, values and classes."""

    kind: _Name
    features: Annotated[list[_Feature], Field(min_length=1, max_length=_MOST)]
    target: _Feature | None = None
    passes: _Whole | None = None
    depth: _Whole | None = None
    clusters: _Whole | None = None
    components: _Whole | None = None
    ridge: Positive | None = None
    hypotheses: HypothesisClass | None = None


_Entry = Annotated[int, Field(ge=-(2**31), le=2**31)]


class ClassScore(WithoutNulls):
    """The score of one class: a constant, and for each column one entry per code."""

    constant: _Entry
    entries: Annotated[list[list[_Entry]], Field(max_length=_MOST)]


class SplitFacts(WithoutNulls):
    """The index of a column, and for each of its codes whether it goes to the second part: 1 or 0."""

    column: Annotated[int, Field(ge=0, le=_MOST)]
    second: Annotated[str, Field(pattern="^[01]+$")]


class Decisions(WithoutNulls):
    """The decisions of a model: the class with the largest sum of entries, or the class of the part of a row."""

    model: _Name
    columns: Annotated[list[_Name], Field(min_length=1, max_length=_MOST)]
    target: _Name
    bins: dict[_Name, int]
    seen: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    classes: Annotated[int, Field(ge=2, le=_MOST)]
    scores: Annotated[list[ClassScore], Field(min_length=2, max_length=_MOST)] | None = None
    splits: Annotated[list[list[SplitFacts]], Field(min_length=1, max_length=MOST_DEPTH)] | None = None
    class_of_part: Annotated[list[Annotated[int, Field(ge=0, le=_MOST)]], Field(max_length=_MOST)] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Decisions:
        if (self.scores is None) == (self.splits is None) or (self.splits is None) != (self.class_of_part is None):
            message = "give scores, or splits and class_of_part"
            raise ValueError(message)
        return self
