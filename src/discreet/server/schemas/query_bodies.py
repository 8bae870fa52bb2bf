"""What comes in: strict JSON, nothing that is almost a number."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discreet.accounting import Filter, open_filter
from discreet.api.local import Asking, Curator
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadTask
from discreet.local import Task
from discreet.pipeline.threshold_watch import Watch
from discreet.results.answer import Answer
from discreet.results.answer_json import read_parameters
from discreet.results.models import Explanation, WatchFacts, facts_of

Got_co = TypeVar("Got_co", covariant=True)

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False, strict=True)]

_Date = Annotated[dict[Literal["date", "timestamp"], str], Field(min_length=1, max_length=1)]
Parameter = str | bool | int | float | _Date | None
"""Of a question: no list, and no object but a date or a timestamp."""


def in_document(model: type[BaseModel]) -> dict[str, Any]:
    """What the API's document says of a route that reads a body of this form by itself."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Askable(Protocol[Got_co]):
    """What is asked of a curator."""

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Asking) -> Got_co:
        """Ask, and pay."""


class Explainable(Protocol):
    """What can be explained by a curator."""

    def explained_by(self, curator: Curator, *, analyst: str | None) -> Any:
        """What it would cost."""


class WithoutNulls(_Strict):
    """What is not said is left out."""

    @model_validator(mode="before")
    @classmethod
    def _no_nulls(cls, values: Any) -> Any:
        """Null is not the same as nothing: who writes it meant to say something."""
        if isinstance(values, dict) and any(value is None for value in values.values()):
            message = "null is no value"
            raise ValueError(message)
        return values


class Question(WithoutNulls):
    """A question, and either what it may cost or how exact it must be. A date among the parameters is {"date": "2024-12-31"},
    a timestamp {"timestamp": "2024-12-31T18:30:00"}.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"example": {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": 0.5}},
    )
    sql: Annotated[str, Field(min_length=1, max_length=20_000, examples=["SELECT COUNT(*) AS n FROM visits"])]
    epsilon: Positive | None = Field(default=None, examples=[0.5])
    within: Positive | None = None
    confidence: Share | None = None
    delta: Share | None = None
    mechanism: str | None = Field(default=None, examples=["laplace"])
    parameters: dict[str, Parameter] | list[Parameter] | None = None
    dataset: str | None = None

    @property
    def details(self) -> dict[str, Any]:
        """What is passed on with the question, which may also name its price in OPTIONS."""
        return {
            "epsilon": self.epsilon,
            "within": self.within,
            "confidence": self.confidence,
            "delta": self.delta,
            "mechanism": self.mechanism,
            "parameters": read_parameters(self.parameters or ()),
        }

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Asking) -> Answer:
        """The answer."""
        return curator.ask(self.sql, analyst=analyst, request_id=request_id, asking=asking, **self.details)

    def explained_by(self, curator: Curator, *, analyst: str | None) -> Explanation:
        """What it would read, measure and cost."""
        return curator.explain(self.sql, analyst=analyst, **self.details)


class Asked(Question):
    """The same, and the share of answers that intervals should cover."""

    level: Share = CONFIDENCE


class NewWatch(WithoutNulls):
    """One count or sum that is watched over data versions; the same words find it again."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"example": {"sql": "SELECT COUNT(*) FROM visits", "threshold": 3000, "epsilon": 0.5}},
    )
    sql: Annotated[str, Field(min_length=1, max_length=20_000)]
    threshold: int | Annotated[float, Field(allow_inf_nan=False)]
    epsilon: Positive | None = None
    parameters: dict[str, Parameter] | list[Parameter] | None = None
    run: int = 1
    dataset: str | None = None

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Asking) -> WatchSaid:
        """Begun and paid for, or found as it is."""
        watch = curator.watch(self.sql, analyst=analyst, request_id=request_id, asking=asking, **self._details)
        return WatchSaid(watch.facts, watch.replayed)

    def recalled_by(self, curator: Curator, *, analyst: str | None) -> WatchSaid:
        """What it said so far, if it is paid for."""
        return WatchSaid(self._found(curator, analyst).facts)

    def _found(self, curator: Curator, analyst: str | None) -> Watch:
        return curator.watched(self.sql, analyst=analyst, **self._details)

    @property
    def _details(self) -> dict[str, Any]:
        what = {"threshold": self.threshold, "epsilon": self.epsilon, "run": self.run}
        return {**what, "parameters": read_parameters(self.parameters or ())}


class WatchLook(NewWatch):
    """The words of a watch that is paid for, to look at the data version that is served."""

    def asked_of(self, curator: Curator, *, analyst: str | None, request_id: str, asking: Asking) -> WatchSaid:  # noqa: ARG002  a version is looked at once, whatever the request is called
        """Looked at, or found as it was said."""
        watch = self._found(curator, analyst)
        watch.evaluate(asking=asking)
        return WatchSaid(watch.facts)


@dataclass(frozen=True, slots=True)
class WatchSaid:
    """What a watch says, as it leaves; its looks cost nothing, its beginning may."""

    facts: WatchFacts
    replayed: bool = True

    @property
    def stored(self) -> bytes:
        """Its bytes."""
        return json.dumps(facts_of(self.facts)).encode()


class NewSaved(_Strict):
    """A question under a name, for oneself or for all who may ask."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "example": {
                "name": "visits by ward",
                "question": {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.5},
            }
        },
    )
    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$")]
    question: Question
    shared: bool = False


class SignIn(_Strict):
    """A key, or the token of a sign-in link."""

    key: str | None = None
    link: str | None = None


class NewCap(_Strict):
    """A cap for an analyst's account."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": {"epsilon": 2, "delta": 1e-6}})
    epsilon: Positive
    delta: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] = 0.0
    renews: Literal["daily", "weekly", "monthly", "quarterly", "yearly"] | None = None
    """So much in each calendar period (UTC); in all, where it is left out."""

    @property
    def filter(self) -> Filter:
        """What decides for the account."""
        return open_filter(self.epsilon, self.delta, renews=self.renews)


class Rotation(_Strict):
    """For how long the new key of somebody is good."""

    days: Annotated[int, Field(ge=1, le=3650)] = 90


class NewKey(Rotation):
    """A key for somebody; for an analyst who has no account, with the cap that it is opened with."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"example": {"name": "alice", "cap": {"epsilon": 2}}}
    )
    name: Annotated[str, Field(min_length=1, max_length=200)]
    role: str = "analyst"
    cap: NewCap | None = None


class NewUser(_Strict):
    """The role of a user whom the owner's proxy signs in."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": {"role": "analyst"}})
    role: str


class CatalogText(_Strict):
    """The text of a catalog."""

    text: Annotated[str, Field(max_length=90_000)]


class NewCollection(_Strict):
    """What to ask devices, in few words: which of some values, or a number between two bounds, of which the mean is wanted."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    epsilon: Positive
    values: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=1000)] | None = None
    between: Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=10)] | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> NewCollection:
        if (self.values is None) == (self.between is None):
            message = "a collection asks for one of some values, or for a number between two bounds"
            raise ValueError(message)
        return self

    @property
    def spec(self) -> dict[str, Any]:
        """The whole task, randomized as it is best."""
        if self.between is not None:
            if len(self.between) != 2:
                raise BadTask("A number lies between two bounds.", next_step="Give the lowest and the highest.")
            low, high = self.between
            return dict(Task.mean(self.name, lower=low, upper=high, epsilon=self.epsilon).spec)
        return dict(Task.frequency(self.name, domain=self.values or [], epsilon=self.epsilon).spec)


class NewTask(_Strict):
    """A collection task, whole or in few words, and after how many days all that it collected is deleted."""

    spec: dict[str, Any] | None = None
    asks: NewCollection | None = None
    retention_days: Annotated[int, Field(ge=1, le=36500)] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> NewTask:
        if (self.spec is None) == (self.asks is None):
            message = "give spec or asks"
            raise ValueError(message)
        return self


class Rehearsal(_Strict):
    """A made-up crowd: how many people have each value, and those who came before."""

    truth: Annotated[list[Annotated[int, Field(ge=0, le=100_000)]], Field(min_length=2, max_length=1000)]
    tally: Annotated[list[Annotated[int, Field(ge=-(2**53), le=2**53)]], Field(max_length=100_000)] | None = None
    people_before: Annotated[int, Field(ge=0, le=10**9)] = 0

    @model_validator(mode="after")
    def _not_too_many(self) -> Rehearsal:
        if sum(self.truth) > 200_000:
            message = "at most 200,000 people join at once"
            raise ValueError(message)
        return self


class Attempt(_Strict):
    """One attack on a generated world, at settings that /v1/attacks lists as knobs."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"example": {"against": "discreet", "epsilon": 1}}
    )
    against: Annotated[str, Field(min_length=1, max_length=60)] = "weak"
    people_of: Literal["lab", "catalog"] = "lab"
    """Who the people are: the lab's own, or made up in the shape of this catalog."""
    epsilon: Positive | None = None
    delta: Share | None = None
    people: Annotated[int, Field(ge=2, le=100_000)] | None = None
    trials: Annotated[int, Field(ge=1, le=1000)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**32)] | None = None
    options: dict[Annotated[str, Field(max_length=40)], Annotated[float, Field(allow_inf_nan=False)]] = {}
    earlier: Annotated[list[Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]], Field(max_length=2000)] = []
    """Scores of trials before, at the same settings."""
