"""Base classes and types of strict JSON bodies."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False, strict=True)]

_Date = Annotated[dict[Literal["date", "timestamp"], str], Field(min_length=1, max_length=1)]
Parameter = str | bool | int | float | _Date | None
"""A query parameter: a scalar, a date or a timestamp."""


def in_document(model: type[BaseModel]) -> dict[str, Any]:
    """Return the OpenAPI entry of a route that reads its body itself."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}}


class Strict(BaseModel):
    """A model that refuses unknown fields and converts nothing."""

    model_config = ConfigDict(extra="forbid", strict=True)


class WithoutNulls(Strict):
    """A model in which missing values are omitted, never null."""

    @model_validator(mode="before")
    @classmethod
    def _no_nulls(cls, values: Any) -> Any:
        """Refuse null: its meaning would be ambiguous."""
        if isinstance(values, dict) and any(value is None for value in values.values()):
            message = "omit the field instead of null"
            raise ValueError(message)
        return values
