"""Queries of a session as JSON: a condition in SQL, or a value, a list of values, or `{"from": …, "to": …}` for each column; a date is `{"date": "2024-12-31"}`."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any

from discreet.errors import BadInput
from discreet.results.answer_json import parameters_from_json, parameters_to_json
from discreet.sessions.count_queries import Between, SessionQuery


def query_to_json(query: SessionQuery) -> dict[str, Any] | str:
    """A query as JSON has it.

    Args:
        query: Conditions by column, or one in SQL.
    """
    if isinstance(query, str):
        return query
    if not isinstance(query, Mapping):
        raise BadInput("A question is a condition for each of some columns.", next_step='Give {"ward": "ICU"}.')
    return {name: _condition_facts(condition) for name, condition in query.items()}


def _condition_facts(condition: Any) -> Any:
    if isinstance(condition, Between):
        ends = {"from": condition.lower, "to": condition.upper}
        return {name: _value_facts(end) for name, end in ends.items() if end is not None}
    if isinstance(condition, list | tuple | AbstractSet):
        return [_value_facts(value) for value in condition]
    return _value_facts(condition)


def _value_facts(value: Any) -> Any:
    (plain,) = parameters_to_json([float(value) if isinstance(value, Fraction) else value])
    return plain


def query_from_json(facts: Mapping[str, Any] | str) -> SessionQuery:
    """The query again; what is none is refused where queries are read.

    Args:
        facts: As they came in.
    """
    return facts if isinstance(facts, str) else {name: _condition(condition) for name, condition in facts.items()}


def _condition(facts: Any) -> Any:
    if isinstance(facts, list):
        return list(parameters_from_json(facts))
    if isinstance(facts, dict) and set(facts) <= {"from", "to"}:
        lower, upper = parameters_from_json([facts.get("from"), facts.get("to")])
        return Between(lower, upper)
    (value,) = parameters_from_json([facts])
    return value
