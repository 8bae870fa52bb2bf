"""The JSON form of a session's queries.

A query is a condition in SQL, or an object with a condition for each column: a value, a list of values, or
`{"from": …, "to": …}`. A date is `{"date": "2024-12-31"}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any

from discreet.errors import BadInput
from discreet.results.answer_json import parameters_from_json, parameters_to_json
from discreet.sessions.count_queries import Between, SessionQuery


def query_to_json(query: SessionQuery) -> dict[str, Any] | str:
    """Write a query as JSON."""
    if isinstance(query, str):
        return query
    if not isinstance(query, Mapping):
        raise BadInput("A query is a mapping of columns to conditions.", next_step='Give {"ward": "ICU"}.')
    return {name: _condition_to_json(condition) for name, condition in query.items()}


def _condition_to_json(condition: Any) -> Any:
    if isinstance(condition, Between):
        ends = {"from": condition.lower, "to": condition.upper}
        return {name: _value_to_json(end) for name, end in ends.items() if end is not None}
    if isinstance(condition, list | tuple | AbstractSet):
        return [_value_to_json(value) for value in condition]
    return _value_to_json(condition)


def _value_to_json(value: Any) -> Any:
    (plain,) = parameters_to_json([float(value) if isinstance(value, Fraction) else value])
    return plain


def query_from_json(data: Mapping[str, Any] | str) -> SessionQuery:
    """Read a query from JSON. A query without a meaning is refused later, when it is looked up in the domain."""
    return data if isinstance(data, str) else {name: _condition_from_json(each) for name, each in data.items()}


def _condition_from_json(data: Any) -> Any:
    if isinstance(data, list):
        return list(parameters_from_json(data))
    if isinstance(data, dict) and set(data) <= {"from", "to"}:
        lower, upper = parameters_from_json([data.get("from"), data.get("to")])
        return Between(lower, upper)
    (value,) = parameters_from_json([data])
    return value
