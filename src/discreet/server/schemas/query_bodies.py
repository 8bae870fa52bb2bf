"""JSON schemas of request bodies. Nothing is converted: a string is never a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from discreet.accounting import Filter, open_filter
from discreet.api.requests.ask import AskRequest
from discreet.errors import BadTask
from discreet.local import Task
from discreet.server.schemas.request_models import Body, body_of
from discreet.server.schemas.strict_json import Positive, Share, Strict

if TYPE_CHECKING:
    AskBody: TypeAlias = Body
else:
    AskBody = body_of(AskRequest, Body)


class NewSaved(Strict):
    """A query to save under a name, private or shared with all analysts."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "example": {
                "name": "visits by ward",
                "query": {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.5},
            }
        },
    )
    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$")]
    query: AskBody
    shared: bool = False


class SignIn(Strict):
    """A key, or the token of a sign-in link."""

    key: str | None = None
    link: str | None = None


class NewCap(Strict):
    """A cap for an analyst's account."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": {"epsilon": 2, "delta": 1e-6}})
    epsilon: Positive
    delta: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] = 0.0
    renews: Literal["daily", "weekly", "monthly", "quarterly", "yearly"] | None = None
    """The cap renews each calendar period (UTC); if omitted, it never renews."""

    @property
    def filter(self) -> Filter:
        """The privacy filter of the account."""
        return open_filter(self.epsilon, self.delta, renews=self.renews)


class Rotation(Strict):
    """The validity of a new key."""

    days: Annotated[int, Field(ge=1, le=3650)] = 90


class NewKey(Rotation):
    """A new key; with `cap` for an analyst who has no account yet."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"example": {"name": "alice", "cap": {"epsilon": 2}}}
    )
    name: Annotated[str, Field(min_length=1, max_length=200)]
    role: str = "analyst"
    cap: NewCap | None = None


class NewUser(Strict):
    """The role of a user whom the trusted proxy signs in."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": {"role": "analyst"}})
    role: str


class CatalogText(Strict):
    """The text of a catalog."""

    text: Annotated[str, Field(max_length=90_000)]


class NewCollection(Strict):
    """Short form of a collection task: the frequencies of some values, or the mean of a number between two bounds."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    epsilon: Positive
    values: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=1000)] | None = None
    between: Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=10)] | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> NewCollection:
        if (self.values is None) == (self.between is None):
            message = "give values or between"
            raise ValueError(message)
        return self

    @property
    def spec(self) -> dict[str, Any]:
        """The full specification, with the best protocol."""
        if self.between is not None:
            if len(self.between) != 2:
                raise BadTask("`between` must have two numbers.", next_step="Give the lower and the upper bound.")
            low, high = self.between
            return dict(Task.mean(self.name, lower=low, upper=high, epsilon=self.epsilon).spec)
        return dict(Task.frequency(self.name, domain=self.values or [], epsilon=self.epsilon).spec)


class NewTask(Strict):
    """A collection task, in full or short form, and the days until its reports are deleted."""

    spec: dict[str, Any] | None = None
    asks: NewCollection | None = None
    retention_days: Annotated[int, Field(ge=1, le=36500)] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> NewTask:
        if (self.spec is None) == (self.asks is None):
            message = "give spec or asks"
            raise ValueError(message)
        return self


class Rehearsal(Strict):
    """Made-up people: how many have each value, and the tally of those before them."""

    truth: Annotated[list[Annotated[int, Field(ge=0, le=100_000)]], Field(min_length=2, max_length=1000)]
    tally: Annotated[list[Annotated[int, Field(ge=-(2**53), le=2**53)]], Field(max_length=100_000)] | None = None
    people_before: Annotated[int, Field(ge=0, le=10**9)] = 0

    @model_validator(mode="after")
    def _not_too_many(self) -> Rehearsal:
        if sum(self.truth) > 200_000:
            message = "at most 200,000 people join at once"
            raise ValueError(message)
        return self


class Attempt(Strict):
    """One attack on generated data; /v1/attacks lists its parameters as knobs."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"example": {"against": "discreet", "epsilon": 1}}
    )
    against: Annotated[str, Field(min_length=1, max_length=60)] = "weak"
    people_of: Literal["lab", "catalog"] = "lab"
    """The lab's own people, or people generated in the shape of this catalog."""
    epsilon: Positive | None = None
    delta: Share | None = None
    people: Annotated[int, Field(ge=2, le=100_000)] | None = None
    trials: Annotated[int, Field(ge=1, le=1000)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**32)] | None = None
    options: dict[Annotated[str, Field(max_length=40)], Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default={}
    )
    earlier: Annotated[list[Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]], Field(max_length=2000)] = Field(
        default=[]
    )
    """Scores of earlier trials at the same settings."""
