"""The interface that the local and the remote curator share: one method per request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from discreet.api.graph_api import GraphApi
from discreet.api.requests.accounts import BudgetRequest, CardRequest, CatalogRequest, HistoryRequest
from discreet.api.requests.ask import AskRequest
from discreet.api.requests.base import Plan, Request, T
from discreet.api.requests.compare import ComparePairRequest, ComparePriceRequest, CompareRequest
from discreet.api.requests.evaluate import EvaluateRequest
from discreet.api.requests.learn import LearnRequest
from discreet.api.requests.releases import PublishRequest, ReleaseRequest, ReleasesRequest
from discreet.api.requests.session import SessionRequest
from discreet.api.requests.synthesize import SynthesizeRequest
from discreet.api.requests.tabulate import TabulateRequest
from discreet.api.requests.watch import WatchRequest
from discreet.api.verbs import name_verbs, plan_verb, verb
from discreet.sql.builder import Table

if TYPE_CHECKING:
    from discreet.learning.data.features import Feature
    from discreet.learning.models.product_moments import Moments


@name_verbs
class Api(ABC):
    """What an analyst can do, wherever the data is."""

    def execute(self, request: Request[T, Any]) -> T:
        """Charge for a request, unless it is free, and return its result.

        Args:
            request: A verb with its parameters.
        """
        return request.present(self.outcome(request))

    @abstractmethod
    def outcome(self, request: Request[Any, Any]) -> Any:
        """What is released for a request, before it is presented as the result: for a model, its noisy statistics.

        Args:
            request: A verb with its parameters.
        """

    @abstractmethod
    def plan(self, request: Request[Any, Plan]) -> Plan:
        """Say what a request would cost and return. Spends nothing and reads no protected row.

        Args:
            request: A verb with its parameters.
        """

    def table(self, name: str) -> Table:
        """Build a query step by step instead of writing SQL: `table("visits").where("cost > 5").group_by("ward").count()`.

        Args:
            name: Of a table in the catalog.
        """
        return Table(name)

    ask = verb(AskRequest)
    explain = plan_verb(AskRequest, "Say what a query would read, measure and cost. Spends nothing.")
    watch = verb(WatchRequest)
    synthesize = verb(SynthesizeRequest)
    plan_synthesis = plan_verb(
        SynthesizeRequest,
        "Say what `synthesize` would make, how exact it would be and what it would cost. Spends nothing.",
    )
    tabulate = verb(TabulateRequest)
    plan_tables = plan_verb(
        TabulateRequest,
        "Say what `tabulate` would measure, how exact it would be and what it would cost. Spends nothing.",
    )
    learn = verb(LearnRequest)
    plan_learning = plan_verb(
        LearnRequest, "Say what `learn` would measure, how exactly, and what it would cost. Spends nothing."
    )
    evaluate = verb(EvaluateRequest)
    plan_evaluation = plan_verb(
        EvaluateRequest, "Say what `evaluate` would count, how exactly, and what it would cost. Spends nothing."
    )

    def graph(self, name: str) -> GraphApi:
        """Choose a network of the catalog to ask about: `graph("friends").triangles(epsilon=1)`.

        Args:
            name: Of the network in the catalog.
        """
        networks = {listed["name"]: listed for listed in self.catalog().graphs}
        if name not in networks:
            from discreet.graphs.network_verbs import unknown_network  # noqa: PLC0415  heavy

            raise unknown_network(networks)
        return GraphApi(self, networks[name])

    def moments(self, source: str | Table, *columns: Feature, **options: Any) -> Moments:
        """Learn the number of rows, the sums of columns and the sums of their products, in one run.

        `LinearRegression.from_moments` for any of the columns and `PCA.from_moments` follow from it at no cost.

        Args:
            source: Table name, or a SELECT that returns protected rows.
            *columns: Column names; `Number("age", bins=16)` and `Category("ward")` say how a column is read.
            **options: The other parameters of `learn`, such as `epsilon` and `name`.
        """
        from discreet.learning.models.product_moments import Moments  # noqa: PLC0415  heavy

        return self.learn(Moments(features=columns), source, **options)

    session = verb(SessionRequest)
    plan_session = plan_verb(
        SessionRequest, "Say what `session` would cost and which error bound it would have. Spends nothing."
    )
    budget = verb(BudgetRequest)
    history = verb(HistoryRequest)
    catalog = verb(CatalogRequest)
    card = verb(CardRequest)
    releases = verb(ReleasesRequest)
    release = verb(ReleaseRequest)
    publish = verb(PublishRequest)
    compare = verb(CompareRequest)
    compare_pair = verb(ComparePairRequest)
    compare_price = verb(ComparePriceRequest)
