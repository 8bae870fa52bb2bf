"""Methods made from requests: a verb has the parameters of its request, for the type checker and for `help()`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from discreet.api.requests.base import Plan, Request, T, params

P = ParamSpec("P")
Method = TypeVar("Method", bound=Callable[..., Any])
Interface = TypeVar("Interface")


class Executor(Protocol):
    """What takes requests."""

    def execute(self, request: Request[T, Any], /) -> T:
        """Charge for a request and return its result."""

    def plan(self, request: Request[Any, Plan], /) -> Plan:
        """Say what a request would cost and return. Nothing is spent."""


class BoundToGraph(Protocol):
    """The interface of one network."""

    api: Executor
    name: str


def verb(kind: Callable[P, Request[T, Any]]) -> Callable[Concatenate[Any, P], T]:
    """The method that executes a request."""

    def call(api: Executor, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return api.execute(kind(*args, **kwargs))

    return _described(call, kind, str(kind.__doc__))


def plan_verb(kind: Callable[P, Request[Any, Plan]], doc: str) -> Callable[Concatenate[Any, P], Plan]:
    """The method that plans a request. `doc` is its docstring: what the plan contains."""

    def call(api: Executor, /, *args: P.args, **kwargs: P.kwargs) -> Plan:
        return api.plan(kind(*args, **kwargs))

    return _described(call, kind, doc)


def graph_verb(kind: Callable[Concatenate[str, P], Request[T, Any]]) -> Callable[Concatenate[Any, P], T]:
    """The method of a network's interface that executes a request about this network."""

    def call(network: BoundToGraph, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return network.api.execute(kind(network.name, *args, **kwargs))

    return _described(call, kind, str(kind.__doc__), without="graph")


def name_verbs(interface: type[Interface]) -> type[Interface]:
    """Give the methods that were made from requests the names that an interface has for them."""
    for name, method in vars(interface).items():
        if hasattr(method, "request"):
            method.__name__, method.__qualname__ = name, f"{interface.__qualname__}.{name}"
            method.__module__ = interface.__module__
    return interface


def _described(method: Method, kind: Callable[..., Any], doc: str, *, without: str = "") -> Method:
    """Give a method the signature and the documentation of its request, without the parameter that is bound already."""
    taken = [each for each in params(cast("type[Request[Any, Any]]", kind)) if each.name != without]
    known = inspect.signature(kind).parameters
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = inspect.Signature([own, *(known[each.name] for each in taken)])  # type: ignore[attr-defined]  # what `inspect` looks for
    entries = "".join(f"\n    {each.name}: {each.doc}" for each in taken)
    method.__doc__ = f"{inspect.cleandoc(doc)}\n\nArgs:{entries}" if entries else inspect.cleandoc(doc)
    method.request = kind  # type: ignore[attr-defined]
    return method
