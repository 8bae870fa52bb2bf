"""Plan to DuckDB statements: one row a group, exact integers only."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from discreet.sql.plan import Cut, GroupSet, Kind, Measure, Plan, quantile_of


def integers(plan: Plan, one: GroupSet) -> str:
    """Keys, then a number for each measure (0 for quantiles), then the number of people where groups are selected."""
    parts = [f"k{index}" for index in one.keys]
    parts += [f"{_aggregate(index, measure)} AS m{index}" for index, measure in enumerate(plan.measures)]
    parts += ["count(DISTINCT person)"] if one.selection else []
    return f"SELECT {', '.join(parts)} FROM {_rows(plan)}{_grouped(one)}"


def histogram(plan: Plan, one: GroupSet, index: int) -> str:
    """Keys, the numbers of candidates that have rows, and how many rows each has."""
    keys = "".join(f"k{i}, " for i in one.keys)
    kept = f" AND f{index}" if plan.measures[index].where else ""
    bins = _bins(f"x{index}", plan.measures[index])
    counted = (
        f"SELECT {keys}{bins} AS bin, count(*) AS n FROM {_rows(plan)} WHERE x{index} IS NOT NULL{kept} GROUP BY ALL"
    )
    return f"SELECT {keys}list(bin ORDER BY bin), list(n ORDER BY bin) FROM ({counted}){_grouped(one)}"


def quantiles(plan: Plan) -> Iterator[int]:
    """The numbers of the measures that are histograms."""
    return (index for index, measure in enumerate(plan.measures) if measure.kind is Kind.QUANTILE)


def _grouped(one: GroupSet) -> str:
    return f" GROUP BY {', '.join(f'k{index}' for index in one.keys)}" if one.keys else ""


def _bins(steps: str, measure: Measure) -> str:
    """Grid steps brought to the coarser grid of the candidates, counted from the first of them."""
    mechanism = quantile_of(measure, epsilon=Fraction(1), rows=1)  # any epsilon has these candidates
    factor = int(mechanism.grid.step)
    first, last = mechanism.candidates[0], mechanism.candidates[-1]
    coarse = f"CAST(floor(({steps} + {factor // 2}) / {factor}) AS BIGINT)" if factor > 1 else steps
    return f"least(greatest({coarse}, {first}), {last}) - {first}"


def _rows(plan: Plan) -> str:
    """One row for each row of a person: who, the keys, and what each measure looks at; cut where the plan says so."""
    relation = plan.relation
    parts = [f"{relation.owner} AS person"]
    parts += [f"{key.sql} AS k{index}" for index, key in enumerate(plan.keys)]
    for index, measure in enumerate(plan.measures):
        parts += [f"{measure.sql} AS x{index}"] if measure.sql else []
        parts += [f"coalesce({measure.where}, false) AS f{index}"] if measure.where else []
    if relation.cut is None:
        return f"(SELECT {', '.join(parts)} FROM {relation.sql})"
    return _cut(relation.cut, parts, relation.sql, [f"k{index}" for index in range(len(plan.keys))])


def _cut(cut: Cut, parts: list[str], sql: str, keys: list[str]) -> str:
    """The rows of a person in their own order: so many in all, or so many groups of so many."""
    order = [f"o{index}" for index in range(len(cut.order))]
    parts = [*parts, *(f"{text} AS {name}" for name, text in zip(order, cut.order, strict=True))]
    rows, within = f"(SELECT {', '.join(parts)} FROM {sql})", ", ".join(order)
    if cut.rows is not None:
        rows = f"(SELECT * FROM {rows} QUALIFY row_number() OVER (PARTITION BY person ORDER BY {within}) <= {cut.rows})"
    if cut.groups is not None:
        by = ", ".join(keys)
        # The groups of each person are found first, and rows joined with them: a window over all rows needs far more memory.
        groups = (
            f"SELECT person, {by} FROM (SELECT DISTINCT person, {by} FROM every) "
            f"QUALIFY row_number() OVER (PARTITION BY person ORDER BY hash({by}, person), {by}) <= {cut.groups}"
        )
        same = " AND ".join(f"every.{key} IS NOT DISTINCT FROM kept.{key}" for key in ("person", *keys))
        within_group = f"row_number() OVER (PARTITION BY person, {by} ORDER BY {within}) <= {cut.rows_per_group}"
        rows = (
            f"(WITH every AS NOT MATERIALIZED (SELECT * FROM {rows}), kept AS ({groups}) "
            f"SELECT * FROM every SEMI JOIN kept ON {same} QUALIFY {within_group})"
        )
    return rows


def _aggregate(index: int, measure: Measure) -> str:
    value, kept = f"x{index}", f" FILTER (WHERE f{index})" if measure.where else ""
    match measure.kind:
        case Kind.ROWS:
            return f"count(*){kept}"
        case Kind.PEOPLE:
            return f"count(DISTINCT person){kept}"
        case Kind.PRESENT:
            return f"count({value}){kept}"
        case Kind.DISTINCT:
            return f"count(DISTINCT {value}){kept}"
        case Kind.TOTAL:
            centre = f" - CAST({measure.centre} AS HUGEINT) * count({value}){kept}" if measure.centre else ""
            return f"sum({value}){kept}{centre}"
        case Kind.SQUARES:
            away = f"(CAST({value} AS BIGINT) - {measure.centre})"
            return f"sum(CAST({away} * {away} + {measure.half} AS BIGINT) >> {measure.coarser}){kept}"
        case Kind.QUANTILE:
            return "0"
