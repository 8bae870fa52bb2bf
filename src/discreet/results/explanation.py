"""Explain what a plan would read, measure and cost, without reading protected rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from discreet.algebra.query import Measure, MeasureKind, Query
from discreet.algebra.relations import Join, Mark, Relation, Scan, UnionAll
from discreet.catalog import EACH_ROW, Catalog
from discreet.core.exact import exact
from discreet.core.loss import Loss
from discreet.core.number_format import CONFIDENCE
from discreet.mechanisms import Gaussian, Mechanism, PermuteAndFlip, Quantile
from discreet.planning.output_names import key_names, measure_name
from discreet.postprocessing.estimation.half_widths import expected_half_widths
from discreet.postprocessing.plan import Plan
from discreet.results import answer_notes
from discreet.results.models import Balance, Explanation, GroupFacts, MeasureFacts


def explain_plan(
    plan: Plan,
    catalog: Catalog,
    *,
    data_version: int,
    loss: Loss,
    asked_before: bool,
    accounts: Sequence[Balance],
    charged: Mapping[str, bool],
    analyst: str | None = None,
) -> Explanation:
    """Return the explanation of a plan. `charged` has the accounts that would be charged, and whether their caps allow it."""
    frozen = [account.account for account in accounts if account.frozen and account.account == analyst]
    person = _person_of(plan, catalog)
    return Explanation(
        tables=_tables_of(plan),
        person=person,
        rows_per_person=max(query.limits.rows for query in plan.queries),
        bounding=_bounding_of(plan, person),
        data_version=data_version,
        keys=_keys_of(plan),
        groups=_groups_of(plan),
        measures=tuple(_measures_of(plan)),
        columns=plan.columns,
        half_widths=expected_half_widths(plan, CONFIDENCE),
        confidence=CONFIDENCE,
        loss=loss,
        in_words=loss.in_words(),
        asked_before=asked_before,
        accounts=tuple(accounts),
        notes=(*plan.notes, *answer_notes.of_price(loss)),
        pays=tuple(charged),
        beyond=tuple(dict.fromkeys([*(name for name, allowed in charged.items() if not allowed), *frozen])),
    )


def _tables_of(plan: Plan) -> tuple[str, ...]:
    """Return the tables that are read, protected ones first."""
    scans = [scan for query in plan.queries for scan in _scans(query.rows)]
    ordered = sorted(scans, key=lambda scan: scan.table.is_public)
    return tuple(dict.fromkeys(scan.table.name for scan in ordered))


def _scans(relation: Relation) -> Iterator[Scan]:
    match relation:
        case Scan():
            yield relation
        case Join():
            yield from _scans(relation.left)
            yield from _scans(relation.right)
        case UnionAll():
            for part in relation.parts:
                yield from _scans(part)
        case Mark():
            yield from _scans(relation.rows)
            yield from _scans(relation.others)
        case _:
            yield from _scans(relation.rows)


def _person_of(plan: Plan, catalog: Catalog) -> str:
    """Return the column that identifies the person."""
    units = [catalog.tables[name].unit for name in _tables_of(plan)]
    return next(unit.column for unit in units if unit is not None)


def _bounding_of(plan: Plan, person: str) -> str:
    """Describe the contribution bounds."""
    bounds = []
    for query in plan.queries:
        limits = query.limits
        rows = f"at most {limits.rows:,} row{'' if limits.rows == 1 else 's'} of a {person}"
        if person == EACH_ROW.column:
            rows = "each row is a person" + (f", who counts at most {limits.rows:,} times" if limits.rows > 1 else "")
        if limits.groups is not None:
            rows += f", in {limits.groups} groups of {limits.rows_per_group}"
        how = (
            "bounded by this query, after its WHERE"
            if query.needs_bounding
            else "bounded in the snapshot, before its WHERE"
        )
        bounds.append(f"{rows}: {how}")
    return "; ".join(dict.fromkeys(bounds))


def _keys_of(plan: Plan) -> tuple[GroupFacts, ...]:
    """Return every key with the number of its public values."""
    return tuple(
        GroupFacts(name, None if values is None else len(values))
        for (number, at), name in key_names(plan).items()
        for values in [plan.queries[number].keys[at].values]
    )


def _groups_of(plan: Plan) -> int | None:
    """Return the number of groups in all, if it is public."""
    counts = [query.groups_in(keys) for query in plan.queries for keys in query.sets]
    return None if None in counts else sum(count or 0 for count in counts)


def _measures_of(plan: Plan) -> Iterator[MeasureFacts]:
    """Return every measure of every grouping set with its sensitivity and noise. Public measures are left out."""
    names = key_names(plan)
    for number, (query, parts) in enumerate(zip(plan.queries, plan.grouping_sets, strict=True)):
        for part in parts:
            by = tuple(names[number, key] for key in part.keys)
            for measure, mechanisms in zip(query.measures, part.mechanisms, strict=True):
                if mechanisms:
                    yield _measure(measure, measure_name(measure, query.rows), by, mechanisms[0])
            yield from (_winner(query, by, place, choice) for place, choice in enumerate(part.choices, start=1))


def _winner(query: Query, by: tuple[str, ...], place: int, choice: PermuteAndFlip) -> MeasureFacts:
    """Describe one winner. Its half-width is how far its score may be below the best score."""
    assert query.choose is not None  # noqa: S101  only these have choices
    measure = query.measures[query.choose.measure]
    unit = _unit_of(measure)
    return MeasureFacts(
        f"winner {place} by {measure_name(measure, query.rows)}",
        by,
        type(choice).__name__,
        float(exact(choice.sensitivity)) * unit,
        None,
        choice.error(CONFIDENCE) * unit,
    )


def _measure(measure: Measure, name: str, by: tuple[str, ...], mechanism: Mechanism) -> MeasureFacts:
    kind = type(mechanism).__name__
    if isinstance(mechanism, Quantile):
        moves = float(exact(mechanism.selection.sensitivity)) / exact(mechanism.q).limit_denominator(10**6).denominator
        return MeasureFacts(name, by, kind, moves, None, None, float(mechanism.error(CONFIDENCE)))
    unit = _unit_of(measure)
    return MeasureFacts(
        name,
        by,
        kind,
        float(exact(mechanism.sensitivity)) * unit,  # type: ignore[attr-defined]  # every other mechanism here has one
        _scale(mechanism) * unit,
        float(exact(mechanism.error(CONFIDENCE))) * unit,
    )


def _scale(mechanism: Mechanism) -> float:
    return float(mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale)  # type: ignore[attr-defined]


def _unit_of(measure: Measure) -> float:
    """Return the value of one grid step of a measure; for squares and products, that of both values."""
    unit = 1.0
    if measure.kind in (MeasureKind.TOTAL, MeasureKind.SQUARES, MeasureKind.PRODUCTS):
        for steps in measure.steps:
            unit *= float(steps.step)
    return unit**2 * 2**measure.coarser if measure.kind is MeasureKind.SQUARES else unit * 2**measure.coarser
