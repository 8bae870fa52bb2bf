"""What a curator does about synthetic data: says what it would cost and be made of, and makes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Unpack

from discreet.api.faces.synthesis import SynthesisPlan, SyntheticFace
from discreet.api.run_parts import CuratorPart
from discreet.core.exact import Number
from discreet.errors import NotAnswered
from discreet.measurement.run_options import check_options
from discreet.measurement.runs import TableRun
from discreet.pipeline.pipeline import Asking, SqlRelease
from discreet.planning.effort import declared_rows
from discreet.results.answer import Answer
from discreet.sql import Table
from discreet.sql.coded_rows import Found, values_question
from discreet.sql.reader.query_text import Parameters
from discreet.synthetic.quality.predicted_error import Predicted, predicted
from discreet.synthetic.synthesis_run import SynthesisOptions, method_named, synthesis, tables_of
from discreet.synthetic.synthetic_release import SyntheticRelease


@dataclass(frozen=True, slots=True)
class _Finding:
    """The question which values of a column people have, and what it may cost."""

    sql: str
    column: str
    epsilon: Number
    parameters: Parameters


class MakesSynthetic(CuratorPart, SyntheticFace):
    """A part of the curator."""

    def synthesize(
        self,
        source: str | Table,
        *,
        name: str | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        asking: Asking | None = None,
        **wanted: Unpack[SynthesisOptions],
    ) -> SyntheticRelease:
        """Synthetic rows of a table, or of a SELECT that yields people's rows: paid for once, and resumed where a crash left it.

        Args:
            analyst: Who asks; nobody is the owner at hand.
            asking: How it can be taken back.
        """
        findings = self._findings(source, wanted)
        values = {finding.column: self._found_before(finding, analyst) for finding in findings}
        wait = None if asking is None else asking.taken_back
        with self._planning(analyst, wait):
            run = self._synthesis(source, wanted, analyst=analyst, name=name, found=values)
        if None in values.values():
            self._check_all(run, findings, analyst, asking)
            values = {finding.column: self._found(finding, analyst, asking) for finding in findings}
            with self._planning(analyst, wait):
                run = self._synthesis(source, wanted, analyst=analyst, name=name, found=values)
        return self._made(SyntheticRelease, run, analyst=analyst, request_id=request_id, asking=asking)

    def plan_synthesis(
        self,
        source: str | Table,
        *,
        name: str | None = None,
        rows_about: int | None = None,
        analyst: str | None = None,
        **wanted: Unpack[SynthesisOptions],
    ) -> SynthesisPlan:
        """What `synthesize` would make and cost, and how exact it would be; or its refusal. Spends nothing and looks at no protected row.

        Args:
            analyst: Who asks; nobody is the owner at hand.
        """
        findings = self._findings(source, wanted)
        values = {finding.column: self._found_before(finding, analyst) for finding in findings}
        with self._planning(analyst, None):
            run = self._synthesis(source, wanted, analyst=analyst, name=name, found=values)
            unknown = [finding for finding in findings if values[finding.column] is None]
            exactly = None if unknown else _predicted(run, rows_about)
        facts = self._planned(run, analyst, before=self._questions(unknown))
        sizes = {name: size for name, size in facts["columns"].items() if name.lower() not in _names(unknown)}
        notes = (*facts["notes"], *(_note(finding) for finding in unknown))
        return SynthesisPlan(
            tables=len(tables_of(run.purpose)),
            predicted=exactly,
            finding={finding.column: float(finding.epsilon) for finding in unknown},
            **{**facts, "columns": sizes, "notes": notes},
        )

    def _findings(self, source: str | Table, wanted: SynthesisOptions) -> list[_Finding]:
        """The questions that come before the run."""
        parameters = wanted.get("parameters", ())
        return [
            _Finding(values_question(str(source), column, self.declared), column, share, parameters)
            for column, share in (wanted.get("discover") or {}).items()
        ]

    def _synthesis(
        self,
        source: str | Table,
        wanted: SynthesisOptions,
        *,
        analyst: str | None,
        name: str | None,
        found: Found | None = None,
    ) -> TableRun:
        """The run, or a refusal by name: everything that can be known before it is paid for."""
        check_options(wanted, SynthesisOptions)
        basis = self._basis(source, wanted, name=name, found=found)
        reuse = self._reuse(basis, analyst) if wanted.get("reuse") else None
        return synthesis(basis, workload=wanted.get("workload", 3), method=wanted.get("method", "aim"), reuse=reuse)

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
        self._pipeline.check_name(run, analyst=analyst)
        self._pipeline.check_caps([run, *self._questions(findings)], analyst=analyst)

    def _questions(self, findings: Iterable[_Finding]) -> list[SqlRelease]:
        """Findings as the pipeline takes them."""
        plans = [self.plan(finding.sql, epsilon=finding.epsilon, parameters=finding.parameters) for finding in findings]
        return [self._release(plan, "") for plan in plans]

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


def _names(findings: Iterable[_Finding]) -> set[str]:
    return {finding.column.lower() for finding in findings}


def _note(finding: _Finding) -> str:
    return (
        f"the values of {finding.column} are found first, for epsilon {float(finding.epsilon):g} beside the price; rows whose value too few people "
        "have count in no table"
    )


def _predicted(run: TableRun, rows_about: int | None) -> Predicted:
    """How exact a run will be, on as many rows as its owner declares, unless others are assumed."""
    rows = declared_rows(run.rows.question) if rows_about is None else rows_about
    return predicted(method_named(run.purpose["method"]), run.domain, tables_of(run.purpose), run.budget, rows)


def _values_in(answer: Answer) -> tuple[Any, ...]:
    values = [row["value"] for row in answer.rows]
    return (*sorted(value for value in values if value is not None), *(value for value in values if value is None))
