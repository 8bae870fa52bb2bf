"""The local curator: the interface over a catalog, a ledger and an engine in this process."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, Self

from discreet.api.base import Api
from discreet.api.context import Context
from discreet.api.operations import ask
from discreet.api.operations.bounds_estimate import bins_query, ends_of, to_be_bounded
from discreet.api.requests.ask import AskRequest
from discreet.api.requests.base import PaidRequest, Plan, Request
from discreet.catalog import Catalog
from discreet.core.exact import Number
from discreet.engines import Engine
from discreet.ledger import Ledger
from discreet.pipeline.call import Call
from discreet.pipeline.parsed_queries import ParsedQueries
from discreet.pipeline.pipeline import Pipeline
from discreet.results.answer import Answer
from discreet.sessions.session_pool import SessionPool


class Estimate(NamedTuple):
    """Bounds that were found privately, if any, and the answer that they were read from."""

    bounds: tuple[Fraction, Fraction] | None
    answer: Answer


class LocalApi(Api):
    """The interface over data in this process, for one account.

    Args:
        context: The curator's parts, and whom calls are charged to.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    def as_analyst(self, analyst: str | None) -> LocalApi:
        """The same interface, charged to an analyst's account beside the dataset's.

        Args:
            analyst: Name of the account. None is the data owner.
        """
        return self.with_call(replace(self.context.call, analyst=analyst))

    def with_call(self, call: Call) -> LocalApi:
        """The same interface, where every call reports its progress and can be cancelled as `call` says.

        Args:
            call: Also names the account to charge.
        """
        return LocalApi(replace(self.context, call=call))

    def outcome(self, request: Request[Any, Any]) -> Any:
        """What is released for a request, before it is presented as the result.

        Args:
            request: A verb with its parameters.
        """
        return _operation(request).run(request, self._context_of(request))

    def plan(self, request: Request[Any, Plan]) -> Plan:
        """Say what a request would cost and return. Spends nothing and reads no protected row.

        Args:
            request: A verb with its parameters.
        """
        planned: Plan = _operation(request).plan(request, self._context_of(request))
        return planned

    def recall(self, request: Request[Any, Any]) -> Any:
        """Return the stored result of a charged request, or refuse. Nothing is charged, read or written.

        Args:
            request: Request with the same parameters as the charged one.
        """
        return _operation(request).recall(request, self._context_of(request))

    def estimate_bounds(self, table: str, column: str, *, epsilon: Number) -> Estimate:
        """Find bounds for a numeric column that has none, privately; None if there is only noise.

        Args:
            table: Its name.
            column: Its name.
            epsilon: Privacy cost of the estimate.
        """
        context = self.context
        kind = to_be_bounded(context.catalog, table, column).type
        request = AskRequest(bins_query(table, column), epsilon=epsilon)
        answer = ask.run(request, context, label=f"bounds of {table}.{column}, estimated")
        return Estimate(ends_of(answer, kind), answer)

    def _context_of(self, request: Request[Any, Any]) -> Context:
        if isinstance(request, PaidRequest) and request.request_id is not None:
            return self.context.of(request_id=request.request_id)
        return self.context


def _operation(request: Request[Any, Any]) -> ModuleType:
    """The module that serves a request; it is imported when it is first used, because most are heavy."""
    name = type(request).__module__.rpartition(".")[2]
    return import_module(f"discreet.api.operations.{name}")


class Curator(LocalApi):
    """Stands between a database and an analyst who may be hostile.

    Args:
        catalog: Public description of the data.
        ledger: Durable record of charges.
        engine: Holds the data.
        version: Of the data.
        dataset: Its name.
    """

    def __init__(
        self, catalog: Catalog, ledger: Ledger, engine: Engine, *, version: int = 1, dataset: str = "dataset"
    ) -> None:
        self.declared, self.ledger, self.version, self.dataset = catalog, ledger, version, dataset
        self._engine, self._pipeline = engine, Pipeline(ledger, engine)
        self.context = Context(
            catalog=catalog,
            ledger=ledger,
            engine=engine,
            pipeline=self._pipeline,
            version=version,
            dataset=dataset,
            readings=ParsedQueries(catalog, engine, today=ledger.data_day()),
            sessions=SessionPool(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the engine and the ledger."""
        self.close_data()
        self.ledger.close()

    def close_data(self) -> None:
        """Close the engine alone: another curator continues with the ledger."""
        self.context.sessions.close()
        self._engine.close()

    def cancel(self, call: Call) -> None:
        """Plan no further for a call. If it has been charged, it is read and stored all the same.

        Args:
            call: What was given to `with_call`.
        """
        self.context.planning_slots.cancel(call.cancelled)
        self._pipeline.cancel(call)

    def stop(self, call: Call) -> None:
        """Stop a call at once, wherever it is, because a server stops. It stays charged, and nothing is stored.

        Args:
            call: What was given to `with_call`.
        """
        self.cancel(call)
        self._pipeline.stop(call)
