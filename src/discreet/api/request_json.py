"""Requests as JSON: what a remote curator sends is what a server reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from typing import Any, TypeVar
from urllib.parse import quote

from discreet.api.requests.base import HTTP, Request, body_params, params
from discreet.core.exact import exact
from discreet.errors import BadInput
from discreet.results.answer_json import parameters_from_json, parameters_to_json

AnyRequest = TypeVar("AnyRequest", bound=Request[Any, Any])


def _number(value: Any) -> int | float:
    number = exact(value)
    return int(number) if number.denominator == 1 else float(number)


def _marginals(value: Any) -> Any:
    return value if isinstance(value, int) else [list(columns) for columns in value]


def _prices(value: Mapping[str, Any]) -> dict[str, int | float]:
    return {name: _number(price) for name, price in value.items()}


def _workload(value: Any) -> list[dict[str, Any]]:
    from discreet.workloads.queries.workload import Workload  # noqa: PLC0415
    from discreet.workloads.queries.workload_json import workload_to_json  # noqa: PLC0415

    if not isinstance(value, Workload):
        raise BadInput("A workload is needed here.", next_step="Give one, such as discreet.workloads.marginals(2).")
    return workload_to_json(value, number=float)


def _read_workload(terms: Any) -> Any:
    from discreet.workloads.queries.workload_json import workload_from_json  # noqa: PLC0415

    return workload_from_json(terms)


def _model(value: Any) -> dict[str, Any]:
    from discreet.learning.runs.model_json import model_to_json  # noqa: PLC0415  heavy

    return model_to_json(value)


def _read_model(data: Any) -> Any:
    from discreet.learning.runs.model_json import model_from_json  # noqa: PLC0415  heavy

    return model_from_json(data)


def _decider(value: Any) -> dict[str, Any]:
    from discreet.learning.runs.deciders import Decider  # noqa: PLC0415  heavy
    from discreet.learning.runs.model_json import decider_to_json  # noqa: PLC0415  heavy

    return decider_to_json(Decider.of(value))


def _read_decider(data: Any) -> Any:
    from discreet.learning.runs.model_json import decider_from_json  # noqa: PLC0415  heavy

    return decider_from_json(data)


def _release_name(value: Any) -> str:
    if not isinstance(value, str):
        raise BadInput(
            "A server knows releases by their names.", next_step="Give the name of a release that you have paid for."
        )
    return value


def _session_queries(queries: Iterable[Any]) -> list[Any]:
    from discreet.sessions.query_json import query_to_json  # noqa: PLC0415

    return [query_to_json(query) for query in queries]


def _read_session_queries(queries: Iterable[Any]) -> list[Any]:
    from discreet.sessions.query_json import query_from_json  # noqa: PLC0415

    return [query_from_json(query) for query in queries]


_TO_JSON: dict[str, Callable[[Any], Any]] = {
    "AnyModel": _model,
    "Classifier | Decider": _decider,
    "Counts": dict,
    "Marginals": _marginals,
    "Number": _number,
    "Parameters": parameters_to_json,
    "Prices": _prices,
    "Sequence[SessionQuery]": _session_queries,
    "Workload": _workload,
    "str | RunRelease": _release_name,
    "str | Table": str,
    "tuple[str, ...]": list,
}
"""By the name of a type; values of all other types are JSON already."""
_FROM_JSON: dict[str, Callable[[Any], Any]] = {
    "AnyModel": _read_model,
    "Classifier | Decider": _read_decider,
    "Parameters": parameters_from_json,
    "Sequence[SessionQuery]": _read_session_queries,
    "Workload": _read_workload,
    "tuple[str, ...]": tuple,
}


def request_to_json(request: Request[Any, Any]) -> dict[str, Any]:
    """The parameters that differ from their defaults, as JSON."""
    given = [(each, getattr(request, each.name)) for each in body_params(type(request))]
    return {
        each.name: _TO_JSON.get(each.type, _itself)(value)
        for each, value in given
        if each.default is MISSING or value != each.default
    }


def address_of(request: Request[Any, Any]) -> str:
    """Where a server takes a request, with the parameters that are part of the address."""
    names = [each.name for each in params(type(request), where=HTTP)]
    return request.http_path.format(**{name: quote(str(getattr(request, name)), safe="") for name in names})


def request_from_json(kind: type[AnyRequest], data: Mapping[str, Any], **more: Any) -> AnyRequest:
    """The request again; `more` is what JSON does not carry."""
    types = {each.name: each.type for each in body_params(kind)}
    return kind(**{name: _FROM_JSON.get(types[name], _itself)(value) for name, value in data.items()}, **more)


def _itself(value: Any) -> Any:
    return value
