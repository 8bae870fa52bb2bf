"""Plan a query: from its text to the mechanisms that measure it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.algebra.digest import Json, digest, query_tree
from discreet.algebra.identity_cache import IdentityCache
from discreet.catalog import Catalog, default_delta
from discreet.core.exact import Number, read_delta, read_epsilon
from discreet.errors import BadInput, UnknownName
from discreet.ledger.charges.release_json import mechanism_to_json
from discreet.planning.pricing import plan_mechanisms, selection_delta
from discreet.planning.winner_selection import as_choice
from discreet.postprocessing.plan import Plan
from discreet.sql.reader.public_lookup import PublicLookup
from discreet.sql.reader.queries import Reading, read_query
from discreet.sql.reader.query_text import Parameters


def plan_query(
    sql: str,
    catalog: Catalog,
    lookup: PublicLookup,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    mechanism: str | None = None,
    parameters: Parameters = (),
    today: date | None = None,
) -> Plan:
    """Return the plan of a query, or refuse it. Reads only the catalog and public tables.

    `epsilon` is the cost of the whole query, `delta` the part for selecting groups, `mechanism` laplace or gaussian; each may be in
    OPTIONS instead. `parameters` are the values of ? and :name, `today` of CURRENT_DATE.
    """
    reading = read_query(sql, catalog, lookup, parameters=parameters, today=today)
    return at_price(reading, catalog, epsilon=epsilon, delta=delta, mechanism=mechanism)


def at_price(
    reading: Reading, catalog: Catalog, *, epsilon: Number | None, delta: Number | None, mechanism: str | None
) -> Plan:
    """Return the plan of a parsed query for this epsilon."""
    options = reading.options
    _check_unit(reading, catalog)
    drawn_by = _given_once(mechanism, options.mechanism, "mechanism") or "laplace"
    if drawn_by == "choose":
        reading, drawn_by = as_choice(reading), "laplace"
    total = read_epsilon(_given_once(epsilon, options.epsilon, "epsilon"))
    given = _given_once(delta, options.delta, "delta")
    aside = selection_delta(
        reading.queries, given=None if given is None else read_delta(given), usual=default_delta(catalog)
    )
    return Plan(
        queries=reading.queries,
        grouping_sets=plan_mechanisms(
            reading.queries,
            epsilon=total,
            delta=aside,
            mechanism=drawn_by,
            neighbours=catalog.neighbours,
        ),
        view=reading.view,
        notes=reading.notes,
    )


_tree_of = IdentityCache(query_tree)


def digest_of(plan: Plan, catalog: Catalog, *, data_version: int) -> str:
    """Return the digest of a query: equal if the same is measured at the same cost on the same data.

    What is computed after the noise is not part of it: names, arithmetic, HAVING and ORDER BY read the same stored numbers.
    """
    measured: list[Json] = [_tree_of(query) for query in plan.queries]
    prices: list[Json] = [[_price(part) for part in parts] for parts in plan.grouping_sets]
    parts: Mapping[str, Json] = {
        "version": data_version,
        "neighbours": catalog.neighbours.value,
        "questions": measured,
        "prices": prices,
    }
    return digest(parts)


def _price(part: Any) -> Json:
    selection = None if part.selection is None else mechanism_to_json(part.selection)
    mechanisms: list[Json] = [[mechanism_to_json(mechanism) for mechanism in several] for several in part.mechanisms]
    return [
        list(part.keys),
        mechanisms,
        selection,
        part.selections,
        [mechanism_to_json(choice) for choice in part.choices],
    ]


def _given_once(given: Any, option: Fraction | str | None, name: str) -> Any:
    """Return the value, which may be given twice if both are equal."""
    if given is not None and option is not None and given != option:
        raise BadInput(
            f"{name} is given twice with different values.", next_step="Give it in OPTIONS or as an argument."
        )
    return option if given is None else given


def _check_unit(reading: Reading, catalog: Catalog) -> None:
    column = reading.options.privacy_unit_column
    units = {table.unit.column.lower() for table in catalog.tables.values() if table.unit is not None}
    if column is not None and column.lower() not in units:
        raise UnknownName(
            "privacy_unit_column is not that of the catalog.",
            next_step="Leave it out: the catalog declares the privacy unit.",
        )
