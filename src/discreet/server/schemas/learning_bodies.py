"""What comes in about learning: a model that is wanted, and what one that was learned decides."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from discreet.api.faces.models import LearningPlan
from discreet.api.local import Curator
from discreet.learning.models.decision_tree import MOST_DEPTH
from discreet.learning.models.learned_model import Model
from discreet.learning.runs.deciders import Decider
from discreet.learning.runs.evaluation import Evaluation
from discreet.learning.runs.model_json import decider_from_json, model_from_json
from discreet.learning.runs.model_release import ModelRelease
from discreet.pipeline.call import Call
from discreet.server.schemas.run_bodies import PaidRun
from discreet.server.schemas.strict_json import Positive, WithoutNulls

_STRICT = ConfigDict(extra="forbid", strict=True)
_MOST = 2_000
"""Columns, classes, and parts that a model tells apart."""
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Whole = Annotated[int, Field(ge=1, le=_MOST)]


class NumberFeature(WithoutNulls):
    """A column of numbers: one weight for all of them, or with `bins` one for each bin."""

    number: _Name
    bins: _Whole | None = None


class CategoryFeature(WithoutNulls):
    """A column of values, each for itself."""

    category: _Name


_Feature = _Name | NumberFeature | CategoryFeature


class HypothesisClass(WithoutNulls):
    """A finite class: all conjunctions, stumps with a threshold at some steps of 1/1024, or halfspaces with whole weights and offsets at such steps."""

    kind: Annotated[Literal["conjunctions", "stumps", "halfspaces"], Field(alias="class")]
    columns: Annotated[int, Field(ge=1, le=_MOST)]
    steps: Annotated[list[Annotated[int, Field(ge=-(2**50), le=2**50)]], Field(max_length=2**14)] | None = None
    both: bool | None = None
    weights: Annotated[int, Field(ge=1, le=100)] | None = None


class WantedModel(WithoutNulls):
    """A model that is to be learned, by the names of columns; the catalog knows their bounds, values and classes."""

    kind: _Name
    features: Annotated[list[_Feature], Field(min_length=1, max_length=_MOST)]
    target: _Feature | None = None
    passes: _Whole | None = None
    depth: _Whole | None = None
    clusters: _Whole | None = None
    components: _Whole | None = None
    ridge: Positive | None = None
    hypotheses: HypothesisClass | None = None


class Learning(PaidRun):
    """A model of a table, or of a SELECT that yields people's rows."""

    model_config = ConfigDict(
        **_STRICT,
        json_schema_extra={
            "example": {
                "source": "SELECT age, sex, ward = 'ICU' AS is_icu FROM visits JOIN patients USING (patient_id)",
                "model": {
                    "kind": "LogisticRegression",
                    "features": [{"number": "age", "bins": 16}, "sex"],
                    "target": "is_icu",
                },
                "epsilon": 1,
                "name": "icu-2026",
            }
        },
    )
    model: WantedModel

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Call) -> ModelRelease:
        """The release: what the model is worked out from, by whoever wants it."""
        details = {**self.price, "name": self.name}
        return curator.learned_release(
            self._model, self.source, analyst=analyst, request_id=request_id, asking=asking, **details
        )

    def explained_by(self, curator: Curator, *, analyst: str | None) -> LearningPlan:
        """What it would look at, how exactly, and what it would cost."""
        return curator.plan_learning(self._model, self.source, analyst=analyst, **self.price)

    @property
    def _model(self) -> Model:
        return model_from_json(self.model.model_dump(exclude_none=True, by_alias=True))


_Entry = Annotated[int, Field(ge=-(2**31), le=2**31)]


class ClassScore(WithoutNulls):
    """Of one class: a constant, and for each column an entry for each of its codes."""

    constant: _Entry
    entries: Annotated[list[list[_Entry]], Field(max_length=_MOST)]


class SplitFacts(WithoutNulls):
    """A column by its number, and for each of its codes whether it goes to the second part: 1 or 0."""

    column: Annotated[int, Field(ge=0, le=_MOST)]
    second: Annotated[str, Field(pattern="^[01]+$")]


class Decisions(WithoutNulls):
    """What a model decides: the class with the largest sum of entries; or that of the part which splits lead to, level by level."""

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


class Evaluating(PaidRun):
    """How often what a model decides is right about a table, or about a SELECT that yields people's rows."""

    model_config = ConfigDict(
        **_STRICT,
        json_schema_extra={
            "example": {
                "source": "visits",
                "decider": {
                    "model": "NaiveBayes",
                    "columns": ["sex"],
                    "target": "is_icu",
                    "bins": {},
                    "seen": "0" * 64,
                    "classes": 2,
                    "scores": [{"constant": 0, "entries": [[3, 1]]}, {"constant": 1, "entries": [[0, 2]]}],
                },
                "epsilon": 0.5,
            }
        },
    )
    decider: Decisions

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Call) -> Evaluation:
        """The noisy table of decided and true classes."""
        details = {**self.price, "name": self.name}
        return curator.evaluate_decider(
            self._decider, self.source, analyst=analyst, request_id=request_id, asking=asking, **details
        )

    def explained_by(self, curator: Curator, *, analyst: str | None) -> LearningPlan:
        """What would be counted, how exactly, and what it would cost."""
        return curator.plan_decider(self._decider, self.source, analyst=analyst, **self.price)

    @property
    def _decider(self) -> Decider:
        return decider_from_json(self.decider.model_dump(exclude_none=True))
