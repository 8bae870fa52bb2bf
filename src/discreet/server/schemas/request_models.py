"""The pydantic model of a request's JSON body, made from the request's own parameters."""

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
    """A request's parameters, and the dataset that they are meant for."""

    dataset: str | None = None

    def request(self, kind: type[AnyRequest], **more: Any) -> AnyRequest:
        """The request that it describes; `more` is what the body does not carry."""
        known = {each.name for each in body_params(kind)}
        given = self.model_dump(include=known, exclude_unset=True, by_alias=True)
        return request_from_json(kind, given, **more)


class PlannableBody(Body):
    """The same of a request whose plan has the same address."""

    dry: bool = Field(default=False, description="Say what it would cost, and spend nothing.")


class LevelBody(Body):
    """The same of a request whose result has intervals."""

    level: Share = Field(default=CONFIDENCE, description="The share of answers that intervals cover.")


AnyRequest = TypeVar("AnyRequest", bound=Request[Any, Any])
AnyBody = TypeVar("AnyBody", bound=Body)


def body_of(kind: type[Request[Any, Any]], base: type[AnyBody]) -> type[AnyBody]:
    """The model of a request's body: `base` with the request's parameters."""
    fields: Mapping[str, Any] = {each.name: _field(each) for each in body_params(kind)}
    model = create_model(kind.__name__, __base__=base, __doc__=kind.__doc__, **fields)
    model.model_config["json_schema_extra"] = {"example": dict(kind.http_example)}
    return model


def _annotation(each: Param) -> Any:
    """A type with its limits."""
    if each.type == "Number":  # whole numbers stay exact
        return Annotated[int, Field(**each.limits)] | Annotated[float, Field(allow_inf_nan=False, **each.limits)]
    return Annotated[_ANNOTATIONS[each.type], Field(**each.limits)]


def _field(each: Param) -> tuple[Any, Any]:
    """A type with its limits, and a default. The request itself refuses what is not among its choices, and names them."""
    extra: dict[str, Any] = {"enum": list(each.choices)} if each.choices else {}
    annotation = _annotation(each)
    described: dict[str, Any] = {"description": each.doc, "json_schema_extra": extra}
    if each.is_required:
        return annotation, Field(**described)
    if each.default in (None, ()):
        return annotation | None, Field(default=None, **described)
    return annotation, Field(default=each.default, **described)
