"""The JSON form of queries in a session."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from discreet.server.schemas.strict_json import Parameter

_Range = dict[str, Parameter]
_Condition = Parameter | _Range | Annotated[list[Parameter], Field(max_length=10_000)]
_Sql = Annotated[str, Field(min_length=1, max_length=20_000)]
SessionQueries = list[dict[str, _Condition] | _Sql]
