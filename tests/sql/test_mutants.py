"""Seeded sensitivity bugs: each is a mistake that a planner could make, and the brute-force check sees every one of them."""

from dataclasses import replace

import pytest
from sqlglot import exp

from discreet.engines import snapshot
from discreet.errors import DiscreetError
from discreet.loss import Neighbours
from discreet.sql import aggregates, joins, plan_query, pricing, relations, steps, subqueries
from discreet.sql.plan import Kind, Plan
from discreet.sql.pricing import Norms
from tests.sql.checking import check_neighbours, without_noise
from tests.sql.test_accepted import close
from tests.sql.worlds import WORLDS, catalog_of, engine_of, neighbours_of


def joins_that_do_not_multiply(patch):
    patch.setattr(joins, "_per_person", lambda scope, *_: scope.per_person)


def public_keys_that_never_repeat(patch):
    patch.setattr(joins, "_multiplicity", lambda *_: 1)


def unions_that_do_not_add_up(patch):
    real = relations.Reader._union
    patch.setattr(relations.Reader, "_union", lambda self, query, names: replace(real(self, query, names), per_person=self.rows(query.left, names).per_person))  # fmt: skip


def rollups_that_are_paid_for_once(patch):
    real = Plan.releases.fget
    patch.setattr(Plan, "releases", property(lambda plan: real(replace(plan, sets=plan.sets[:1]))))


def rounding_that_ends_at_the_bound(patch):
    patch.setattr(steps, "nearest", lambda value: value.numerator // value.denominator)


def columns_renamed_to_the_owner(patch):
    real = relations.Reader._select

    def by_name(self, select, names):
        made = real(self, select, names)
        return replace(made, owners=frozenset(field.name for field in made.fields if field.name == made.unit))

    patch.setattr(relations.Reader, "_select", by_name)
    patch.setattr(joins, "_link", lambda *_: "")


def people_counted_once_over_all_groups(patch):
    real = pricing.norms
    patch.setattr(pricing, "norms", lambda relation, measure, keys, **rest: Norms(1, 1) if measure.kind is Kind.PEOPLE else real(relation, measure, keys, **rest))  # fmt: skip


def one_row_for_each_group_of_a_person(patch):
    real = relations.Reader._select
    patch.setattr(
        relations.Reader, "_select", lambda self, select, names: replace(real(self, select, names), per_person=1)
    )


def values_that_are_not_clamped(patch):
    patch.setattr(
        steps, "rounded_text", lambda value, step, low, high: f"CAST(floor({value} / {float(step)!r} + 0.5) AS BIGINT)"
    )


def full_joins_that_only_multiply(patch):
    real = joins._per_person
    patch.setattr(joins, "_per_person", lambda scope, new, facts: real(scope, replace(new, how="INNER"), facts))  # fmt: skip


def windows_over_everybody(patch):
    real = relations.Scope.is_owner
    patch.setattr(
        relations.Scope,
        "is_owner",
        lambda scope, node: real(scope, node) or isinstance(node.parent, exp.Window) or not node.parent,
    )


def subqueries_over_everybody(patch):
    patch.setattr(subqueries, "_same_person", lambda *_: True)
    real = subqueries._inner

    def loose(*given):
        inner, text = real(*given)
        return inner, text.rpartition(" AND ")[0] if inner.owner_sql else text

    patch.setattr(subqueries, "_inner", loose)


def a_snapshot_that_keeps_every_row(patch):
    real = snapshot._ranked
    patch.setattr(
        snapshot,
        "_ranked",
        lambda catalog, table, sources: real(catalog, replace(table, is_bounded_once=False), sources),
    )


def squares_divided_below_the_bound(patch):
    patch.setattr(aggregates.Measure, "largest", property(lambda measure: max(abs(measure.low - measure.centre), abs(measure.high - measure.centre), 1) if measure.kind in (Kind.TOTAL, Kind.SQUARES) else 1))  # fmt: skip


def quantiles_of_one_row(patch):
    real = pricing._quantiles
    patch.setattr(pricing, "_quantiles", lambda measure, norm, price: real(measure, Norms(1, 1), price))


def selection_paid_for_once(patch):
    real = pricing._selecting
    patch.setattr(pricing, "_selecting", lambda *given: replace(real(*given), selections=1))


def replacement_counted_as_removal(patch):
    real = pricing.norms
    patch.setattr(
        pricing, "norms", lambda *given, **rest: real(*given, **{**rest, "neighbours": Neighbours.ADD_REMOVE})
    )


def gaussians_with_the_norm_of_many_groups(patch):
    real = pricing.norms

    def spread(relation, measure, keys, **rest):
        made = real(relation, measure, keys, **rest)
        return Norms(made.l1, made.l1)

    patch.setattr(pricing, "norms", spread)


MUTANTS = [
    (joins_that_do_not_multiply, "SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person"),
    (public_keys_that_never_repeat, "SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward"),
    (unions_that_do_not_add_up, "SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)"),
    (rollups_that_are_paid_for_once, "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)"),
    (rounding_that_ends_at_the_bound, "SELECT SUM(cost) FROM visits"),
    (columns_renamed_to_the_owner, "SELECT COUNT(*) FROM (SELECT person % 2 AS person FROM visits) a JOIN (SELECT person % 2 AS person FROM visits) b ON a.person = b.person"),
    (people_counted_once_over_all_groups, "SELECT ward, COUNT(DISTINCT person) FROM visits GROUP BY ward"),
    (one_row_for_each_group_of_a_person, "SELECT COUNT(*) FROM (SELECT person, ward FROM visits GROUP BY person, ward)"),
    (values_that_are_not_clamped, "SELECT SUM(cost * 1.0) FROM visits"),
    (full_joins_that_only_multiply, "SELECT COUNT(*) FROM people p FULL JOIN people q ON p.person = q.person AND p.sex <> q.sex"),
    (windows_over_everybody, "SELECT SUM(x) FROM (SELECT person, SUM(age) OVER (PARTITION BY ward) AS x FROM visits)"),
    (subqueries_over_everybody, "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE p.height > 5)"),
    (a_snapshot_that_keeps_every_row, "SELECT COUNT(*) FROM visits"),
    (squares_divided_below_the_bound, "SELECT VARIANCE(amount) FROM events"),
    (quantiles_of_one_row, "SELECT MEDIAN(cost) FROM visits"),
    (selection_paid_for_once, "SELECT zip, COUNT(*) FROM visits GROUP BY zip"),
    (gaussians_with_the_norm_of_many_groups, "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism = 'gaussian') SUM(age) FROM visits"),
]  # fmt: skip


def is_caught(sql, catalog):
    """Whether the check finds fault with a question in one of the worlds; a refusal is no fault."""
    for world in WORLDS.values():
        engine, neighbours = neighbours_of(world, catalog)
        try:
            check_neighbours(plan_query(sql, catalog, engine, epsilon=1), engine, neighbours)
        except DiscreetError:
            continue
        except AssertionError:
            return True
        finally:
            for one in (engine, *neighbours):
                one.close()
    return False


@pytest.mark.parametrize(("mutant", "sql"), MUTANTS, ids=lambda case: getattr(case, "__name__", ""))
def test_a_planner_with_a_mistake_is_caught_and_ours_is_not(mutant, sql, monkeypatch):
    catalog = catalog_of()
    assert not is_caught(sql, catalog)
    mutant(monkeypatch)
    assert is_caught(sql, catalog)


def test_replacement_counted_as_removal_is_caught(monkeypatch):
    catalog = catalog_of(relation=("[source]", 'neighbours = "replace-one"\n[source]'))
    engines = [engine_of(WORLDS["hand-made"].without(person), catalog) for person in (7, 8)]
    sql = "SELECT SUM(cost) FROM visits"
    check_neighbours(plan_query(sql, catalog, engines[0], epsilon=1), engines[0], engines)
    replacement_counted_as_removal(monkeypatch)
    with pytest.raises(AssertionError):
        check_neighbours(plan_query(sql, catalog, engines[0], epsilon=1), engines[0], engines)


def test_an_average_over_all_rows_is_caught_by_duckdbs_own_answer(tame, monkeypatch):
    """AVG divides by the rows that have a value; with COUNT(*) instead, rows without one would pull it down."""
    engine, plain = tame
    catalog, sql = catalog_of(), "SELECT AVG(cost) AS a FROM visits"
    truth = plain.execute(sql).fetchone()[0]

    def answered():
        plan = plan_query(sql, catalog, engine, epsilon=1)
        return without_noise(plan, engine.run(plan)).rows[0]["a"]

    assert close(answered(), truth)
    real = aggregates.Lifter._measured
    monkeypatch.setattr(aggregates.Lifter, "_measured", lambda self, m: real(self, m if m.kind is not Kind.PRESENT else aggregates.Measure(Kind.ROWS)))  # fmt: skip
    assert not close(answered(), truth)
