"""The pydantic model of a request's JSON body, made from the request's own parameters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import Field, create_model

from discreet.api.request_json import request_from_json
from discreet.api.requests.base import HTTP, Param, Request, params
from discreet.server.schemas.query_bodies import Parameter, Positive, WithoutNulls

AnyRequest = TypeVar("AnyRequest", bound=Request[Any, Any])

_MARGINALS = Annotated[int, Field(ge=1, le=1000)] | Annotated[list[list[str]], Field(max_length=10_000)]
_ANNOTATIONS: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "str": str,
    "str | Table": str,
    "Counts": dict[str, int],
    "Marginals": _MARGINALS,
    "Number": Annotated[float, Field(allow_inf_nan=False)],
    "Parameters": dict[str, Parameter] | list[Parameter],
    "Prices": dict[str, Positive],
}
"""The JSON form of each type."""


class Body(WithoutNulls):
    """A request's parameters, and the dataset that they are meant for."""

    dataset: str | None = None

    def request(self, kind: type[AnyRequest], **more: Any) -> AnyRequest:
        """The request that it describes; `more` is what the body does not carry."""
        known = {each.name for each in params(kind, where=HTTP)}
        given = self.model_dump(include=known, exclude_unset=True, by_alias=True)
        return request_from_json(kind, given, **more)


class PlannableBody(Body):
    """The same of a request with a free plan."""

    dry: bool = Field(default=False, description="Say what it would cost, and spend nothing.")


@lru_cache
def body_of(kind: type[Request[Any, Any]]) -> type[Body]:
    """The model of a request's body."""
    fields: Mapping[str, Any] = {each.name: _field(each) for each in params(kind, where=HTTP)}
    base = PlannableBody if kind.plan_path == kind.path else Body
    return create_model(kind.__name__, __base__=base, __doc__=kind.__doc__, **fields)


def _field(each: Param) -> tuple[Any, Any]:
    """A type with its limits, and a default. The request itself refuses what is not among its choices, and names them."""
    extra: dict[str, Any] = {"enum": list(each.choices)} if each.choices else {}
    annotation: Any = Annotated[_ANNOTATIONS[each.type], Field(**each.limits)]
    described: dict[str, Any] = {"description": each.doc, "json_schema_extra": extra}
    if each.is_required:
        return annotation, Field(**described)
    if each.default in (None, ()):
        return annotation | None, Field(default=None, **described)
    return annotation, Field(default=each.default, **described)
