"""What a curator does about synthetic data: says what it would cost and be made of, makes it, and finds it again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from discreet.answering.answer import Answer
from discreet.answering.books import holder
from discreet.answering.budgets import budget_of
from discreet.answering.pipeline import Asking, Pipeline, SqlRelease
from discreet.answering.plan import Plan
from discreet.answering.runs import TableRun
from discreet.catalog import Catalog
from discreet.engines import Engine
from discreet.errors import NotAnswered
from discreet.exact import Number
from discreet.ledger import Ledger
from discreet.mechanisms import Adaptive
from discreet.sql import Table
from discreet.sql.people import plan_rows, values_question
from discreet.sql.text import Parameters
from discreet.synthetic.asking import Wanted, synthesis, tables_of
from discreet.synthetic.release import SyntheticRelease
from discreet.workloads.tabulating import TabulatedRelease, is_tabulated

AnyRelease: TypeAlias = SyntheticRelease | TabulatedRelease


@dataclass(frozen=True, slots=True)
class SynthesisPlan:
    """What synthetic data would be made of and cost; nothing was spent or read."""

    columns: Mapping[str, int]
    """How many values or bins each has."""
    tables: int
    """How many shall be good."""
    rows_per_person: int
    rho: float
    epsilon: float | None
    """None where it has no pure one."""
    asked_before: bool
    """Whether it would be free."""
    charged: Mapping[str, bool]
    """The accounts that would pay, and whether their caps allow it now."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Finding:
    """The question which values of a column people have, and what it may cost."""

    sql: str
    column: str
    epsilon: Number
    parameters: Parameters


class MakesSynthetic:
    """A part of the curator."""

    declared: Catalog
    ledger: Ledger
    version: int
    _engine: Engine
    _pipeline: Pipeline

    def ask(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
        asking: Asking | None = None,
        label: str | None = None,
    ) -> Answer:
        """As the curator does."""
        raise NotImplementedError

    def recall(
        self,
        sql: str | Table,
        *,
        epsilon: Number | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
    ) -> Answer:
        """As the curator does."""
        raise NotImplementedError

    def plan(self, sql: str | Table, *, epsilon: Number | None = None, parameters: Parameters = ()) -> Plan:
        """As the curator does."""
        raise NotImplementedError

    def _release(self, plan: Plan, label: str) -> SqlRelease:
        """As the curator does."""
        raise NotImplementedError

    def _planning(self, analyst: str | None, taken_back: threading.Event | None) -> AbstractContextManager[None]:
        """As the curator does."""
        raise NotImplementedError

    def synthesize(
        self,
        source: str | Table,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        workload: Wanted = 3,
        method: str = "aim",
        bins: Mapping[str, int] | None = None,
        discover: Mapping[str, Number] | None = None,
        name: str | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Asking | None = None,
    ) -> SyntheticRelease:
        """Synthetic rows of a table, or of a SELECT that yields people's rows: paid for once, and resumed where a crash left it.

        Args:
            source: A table's name, or a SELECT of rows.
            epsilon: With `delta`, what all of it may cost; alone where the account has no delta.
            delta: At which epsilon is converted; it is not spent.
            rho: The price as zCDP, instead of both.
            workload: All tables over so many columns, or tables by the names of their columns: what the rows shall be good at.
            method: "aim", or another by its name.
            bins: How many bins numbers have, by column, where it shall not be 32.
            discover: Columns whose values are not declared, each with the epsilon that finding them may cost, beside the price of the rest.
            name: What the release is looked up by.
            parameters: A mapping for :name, or a sequence for ?.
            analyst: Who asks; nobody is the owner at hand.
            request_id: Says that it is a repeat.
            asking: How it can be taken back.
        """
        price = {"epsilon": epsilon, "delta": delta, "rho": rho}
        details: dict[str, Any] = {
            "workload": workload,
            "method": method,
            "name": name,
            "bins": bins,
            "parameters": parameters,
        }
        values = {
            column: _Finding(values_question(str(source), column, self.declared), column, share, parameters)
            for column, share in (discover or {}).items()
        }
        found = {column: self._found_before(finding, analyst) for column, finding in values.items()}
        wait = None if asking is None else asking.taken_back
        with self._planning(analyst, wait):
            run = self._synthesis(str(source), price, found=found, **details)
        if None in found.values():
            self._check_all(run, values.values(), analyst, asking)
            found = {column: self._found(finding, analyst, asking) for column, finding in values.items()}
            with self._planning(analyst, wait):
                run = self._synthesis(str(source), price, found=found, **details)
        paid = self._pipeline.answer(run, analyst=analyst, request_id=request_id, asking=asking)
        assert paid.reservation is not None  # noqa: S101  a budget is never free
        books = paid.reservation
        free = books.replayed and not books.charged
        return SyntheticRelease(paid.stored, name=name, receipt=books.receipt, replayed=free)

    def plan_synthesis(
        self,
        source: str | Table,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        workload: Wanted = 3,
        method: str = "aim",
        bins: Mapping[str, int] | None = None,
        parameters: Parameters = (),
        analyst: str | None = None,
    ) -> SynthesisPlan:
        """What `synthesize` would make and cost, or its refusal. Spends nothing and looks at no protected row.

        Args:
            source: A table's name, or a SELECT of rows.
            epsilon: With `delta`, what all of it may cost; alone where the account has no delta.
            delta: At which epsilon is converted; it is not spent.
            rho: The price as zCDP, instead of both.
            workload: All tables over so many columns, or tables by the names of their columns.
            method: "aim", or another by its name.
            bins: How many bins numbers have, by column, where it shall not be 32.
            parameters: A mapping for :name, or a sequence for ?.
            analyst: Who asks; nobody is the owner at hand.
        """
        price = {"epsilon": epsilon, "delta": delta, "rho": rho}
        with self._planning(analyst, None):
            run = self._synthesis(
                str(source), price, workload=workload, method=method, name=None, bins=bins, parameters=parameters
            )
        charged = self._pipeline.would_charge(run, analyst=analyst)
        return SynthesisPlan(
            columns={column.name: column.size for column in run.domain.columns},
            tables=len(tables_of(run.purpose)),
            rows_per_person=run.domain.rows_per_person,
            rho=run.budget.rho,
            epsilon=None if isinstance(run.budget, Adaptive) else run.budget.pure_epsilon,
            asked_before=self._pipeline.is_paid(run, analyst=analyst),
            charged={holder(account): allowed for account, allowed in charged.items()},
            notes=(*run.rows.notes, *_notes(run)),
        )

    def releases(self, *, analyst: str | None = None) -> list[str]:
        """The names of releases that are finished: those that the analyst has paid for, or all for the owner.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        return self.ledger.named_releases(analyst=analyst)

    def release(self, name: str, *, analyst: str | None = None) -> AnyRelease:
        """A release by its name. Nothing is spent.

        Args:
            name: As it was given.
            analyst: Who asks; nobody is the owner at hand.
        """
        stored = self.ledger.named_answer(name, analyst=analyst)
        return (TabulatedRelease if is_tabulated(stored) else SyntheticRelease)(stored, name=name, replayed=True)

    def _budget(self, **price: Number | None) -> Any:
        is_pure = not self.declared.cap.cap.delta
        return budget_of(epsilon=price["epsilon"], delta=price["delta"], rho=price["rho"], is_pure_account=is_pure)

    def _synthesis(
        self,
        source: str,
        price: Mapping[str, Number | None],
        *,
        workload: Wanted,
        method: str,
        name: str | None,
        **details: Any,
    ) -> TableRun:
        """The run, or a refusal by name: everything that can be known before it is paid for."""
        budget = self._budget(**price)
        rows = plan_rows(source, self.declared, self._engine, today=self.ledger.data_day(), **details)
        run = synthesis(
            rows,
            neighbours=self.declared.neighbours,
            budget=budget,
            workload=workload,
            method=method,
            version=self.version,
            source=source,
            name=name,
        )
        self._engine.bind_rows(rows.question)
        return run

    def _found_before(self, finding: _Finding, analyst: str | None) -> tuple[Any, ...] | None:
        """The values of a column, if they were found and paid for; nothing is spent."""
        try:
            answer = self.recall(finding.sql, epsilon=finding.epsilon, parameters=finding.parameters, analyst=analyst)
        except NotAnswered:
            return None
        return _values_in(answer)

    def _check_all(
        self, run: TableRun, findings: Iterable[_Finding], analyst: str | None, asking: Asking | None
    ) -> None:
        """Refuse, before the first of several charges, what would be refused after it."""
        if asking is not None:
            asking.leaving(run.seconds)
        plans = [self.plan(finding.sql, epsilon=finding.epsilon, parameters=finding.parameters) for finding in findings]
        self._pipeline.check_caps([run, *(self._release(plan, "") for plan in plans)], analyst=analyst)

    def _found(self, finding: _Finding, analyst: str | None, asking: Asking | None) -> tuple[Any, ...]:
        """The values of a column that enough people have, selected privately: a question of its own, and free when it is asked again."""
        answer = self.ask(
            finding.sql,
            epsilon=finding.epsilon,
            parameters=finding.parameters,
            analyst=analyst,
            asking=None if asking is None else replace(asking, limit=None),
            label=f"values of {finding.column}, for synthetic data",
        )
        return _values_in(answer)


def _values_in(answer: Answer) -> tuple[Any, ...]:
    values = [row["value"] for row in answer.rows]
    return (*sorted(value for value in values if value is not None), *(value for value in values if value is None))


def _notes(run: TableRun) -> list[str]:
    """What should be known before it is paid."""
    notes, rows = [], run.domain.rows_per_person
    if rows > 1:
        notes.append(
            f"one person can have {rows} rows, so the noise is {rows} times that of one row a person, and nobody is a person in the rows"
        )
    if isinstance(run.budget, Adaptive):
        notes.append("Gaussian noise has no pure epsilon: an account that counts both counts rho alone from then on")
    return notes
