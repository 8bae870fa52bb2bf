"""Create the pydantic model of a request's JSON body from the request's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field, create_model

from discreet.api.request_json import request_from_json
from discreet.api.requests.base import Param, Request, body_params
from discreet.core.number_format import CONFIDENCE
from discreet.server.schemas.model_values import Decisions, WantedModel
from discreet.server.schemas.session_queries import SessionQueries
from discreet.server.schemas.strict_json import Parameter, Positive, Share, WithoutNulls
from discreet.server.schemas.workload_terms import WorkloadTerms

_MARGINALS = Annotated[int, Field(ge=1, le=1000)] | Annotated[list[list[str]], Field(max_length=10_000)]
_ANNOTATIONS: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "str": str,
    "str | Table": str,
    "tuple[str, ...]": list[str],
    "AnyModel": WantedModel,
    "Classifier | Decider": Decisions,
    "Counts": dict[str, int],
    "Marginals": _MARGINALS,
    "Parameters": dict[str, Parameter] | list[Parameter],
    "Prices": dict[str, Positive],
    "Sequence[SessionQuery]": SessionQueries,
    "Workload": WorkloadTerms,
    "str | RunRelease": str,
}
"""The JSON form of each type."""


class Body(WithoutNulls):
    """A request's parameters, and the dataset."""

    dataset: str | None = None

    def request(self, kind: type[AnyRequest], **more: Any) -> AnyRequest:
        """Return the request; `more` are parameters outside the body."""
        known = {each.name for each in body_params(kind)}
        given = self.model_dump(include=known, exclude_unset=True, by_alias=True)
        return request_from_json(kind, given, **more)


class PlannableBody(Body):
    """A body with `dry`, for a route that can also plan."""

    dry: bool = Field(default=False, description="Return the cost without a charge.")


class LevelBody(Body):
    """A body with `level`, for a result with intervals."""

    level: Share = Field(default=CONFIDENCE, description="The share of answers that intervals cover.")


AnyRequest = TypeVar("AnyRequest", bound=Request[Any, Any])
AnyBody = TypeVar("AnyBody", bound=Body)


def body_of(kind: type[Request[Any, Any]], base: type[AnyBody]) -> type[AnyBody]:
    """Create the model of a request's body: `base` plus the request's parameters."""
    fields: Mapping[str, Any] = {each.name: _field(each) for each in body_params(kind)}
    model = create_model(kind.__name__, __base__=base, __doc__=kind.__doc__, **fields)
    model.model_config["json_schema_extra"] = {"example": dict(kind.http_example)}
    return model


def _annotation(each: Param) -> Any:
    """Return a parameter's type with its limits."""
    if each.type == "Number":  # whole numbers stay exact
        return Annotated[int, Field(**each.limits)] | Annotated[float, Field(allow_inf_nan=False, **each.limits)]
    return Annotated[_ANNOTATIONS[each.type], Field(**each.limits)]


def _field(each: Param) -> tuple[Any, Any]:
    """Return a parameter's type and default. The request itself checks its choices, as its error lists them."""
    extra: dict[str, Any] = {"enum": list(each.choices)} if each.choices else {}
    annotation = _annotation(each)
    described: dict[str, Any] = {"description": each.doc, "json_schema_extra": extra}
    if each.is_required:
        return annotation, Field(**described)
    if each.default in (None, ()):
        return annotation | None, Field(default=None, **described)
    return annotation, Field(default=each.default, **described)
