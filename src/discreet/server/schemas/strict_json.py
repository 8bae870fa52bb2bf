"""Strict JSON: what every body that comes in is made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False, strict=True)]

_Date = Annotated[dict[Literal["date", "timestamp"], str], Field(min_length=1, max_length=1)]
Parameter = str | bool | int | float | _Date | None
"""Of a query: no list, and no object but a date or a timestamp."""


def in_document(model: type[BaseModel]) -> dict[str, Any]:
    """What the API's document says of a route that reads a body of this form by itself."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}}


class Strict(BaseModel):
    """What is not declared is refused, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class WithoutNulls(Strict):
    """What is not said is left out."""

    @model_validator(mode="before")
    @classmethod
    def _no_nulls(cls, values: Any) -> Any:
        """Null is not the same as nothing: who writes it meant to say something."""
        if isinstance(values, dict) and any(value is None for value in values.values()):
            message = "null is no value"
            raise ValueError(message)
        return values
