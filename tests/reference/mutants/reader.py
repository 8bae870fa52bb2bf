"""Mistakes of the reader: a text would mean other rows than it says."""

from discreet.algebra.query import Measure, MeasureKind
from discreet.sql.expressions import subqueries
from discreet.sql.reader.scope import Scope
from discreet.sql.relations import join_conditions, join_kinds, joins, row_selects
from discreet.sql.releases.measures import MeasureCollector
from tests.reference.mutants.noticing import Mutants, answers_as_duckdb, reads_as_duckdb

MUTANTS = Mutants()


@MUTANTS.caught_by(reads_as_duckdb("SELECT a.person, b.visit FROM visits a JOIN visits b ON a.ward = b.ward"))
def joins_that_do_not_name_the_person(patch):
    patch.setattr(joins, "_check_people", lambda *given: None)


@MUTANTS.caught_by(reads_as_duckdb("SELECT v.person, n.score FROM visits v JOIN notes n ON v.age = n.score"))
def any_equality_taken_for_a_path_to_the_person(patch):
    patch.setattr(join_conditions, "_follows_path", lambda ours, theirs: ours is not None and theirs is not None)


@MUTANTS.caught_by(reads_as_duckdb("SELECT person FROM visits WHERE zip IN (SELECT kind FROM events)"))
def an_in_over_everybody(patch):
    patch.setattr(subqueries, "_check_people", lambda *given: None)


@MUTANTS.caught_by(reads_as_duckdb("SELECT person, visit FROM visits v WHERE EXISTS (SELECT 1 FROM events e WHERE e.person = v.person AND e.kind = v.zip)"))  # fmt: skip
def subqueries_that_forget_what_they_are_linked_by(patch):
    patch.setattr(join_kinds, "without_owners", lambda pairs: [])


@MUTANTS.caught_by(reads_as_duckdb("SELECT person, (SELECT COUNT(*) FROM notes n WHERE n.visit = v.visit) AS n FROM visits v"))  # fmt: skip
def counts_that_forget_what_they_are_linked_by(patch):
    patch.setattr(subqueries, "without_owners", lambda pairs: [])


@MUTANTS.caught_by(reads_as_duckdb("SELECT person, COUNT(*) OVER (PARTITION BY ward) AS x FROM visits"))
def windows_without_the_person(patch):
    patch.setattr(Scope, "is_person", lambda self, expression: True)


@MUTANTS.caught_by(reads_as_duckdb("SELECT v.person, COUNT(*) AS n FROM visits v FULL JOIN people p ON v.person = p.person GROUP BY v.person"))  # fmt: skip
def half_of_a_full_join_taken_for_the_person(patch):
    patch.setattr(Scope, "is_person", lambda self, expression: expression.properties.person)


@MUTANTS.caught_by(reads_as_duckdb("SELECT p.person, v.visit FROM people p LEFT JOIN visits v ON v.person = p.person AND p.height > 0.5"))  # fmt: skip
def conditions_of_a_left_join_that_drop_its_rows(patch):
    real = joins.joined
    patch.setattr(joins, "joined", lambda *given, keeps_left: real(*given, keeps_left=False))


@MUTANTS.caught_by(reads_as_duckdb("SELECT v.person, p.sex FROM visits v JOIN people p ON v.person = p.person AND v.cost > p.height"))  # fmt: skip
def conditions_over_both_sides_that_are_dropped(patch):
    patch.setattr(join_kinds, "side_by_side", lambda *given: None)


@MUTANTS.caught_by(reads_as_duckdb("SELECT p.person, (SELECT COUNT(*) FROM visits v WHERE v.person = p.person AND p.height > 0.5) AS n FROM people p"))  # fmt: skip
def conditions_about_the_row_outside_that_are_dropped(patch):
    patch.setattr(subqueries, "_outer_conditions", lambda parts: [])


@MUTANTS.caught_by(reads_as_duckdb("SELECT p.person, (SELECT COUNT(*) FROM visits v WHERE v.person = p.person) AS n FROM people p"))  # fmt: skip
def a_count_of_nothing_that_is_null(patch):
    patch.setattr(subqueries, "_zero_if_missing", lambda value, fold: value)


@MUTANTS.caught_by(reads_as_duckdb("SELECT v.person, w.floor FROM visits v JOIN wards w ON v.ward = w.ward"))
def public_keys_that_never_repeat(patch):
    patch.setattr(join_kinds, "multiplicity", lambda *given: 1)


@MUTANTS.caught_by(reads_as_duckdb("SELECT DISTINCT person, amount > 0 AS big FROM events"))
def rows_that_are_not_distinct(patch):
    patch.setattr(row_selects, "distinct_rows", lambda several: several)


@MUTANTS.caught_by(reads_as_duckdb("SELECT person, COUNT(*) AS n FROM visits GROUP BY person HAVING COUNT(*) > 1"))
def having_that_keeps_everybody(patch):
    patch.setattr(row_selects, "_keep", lambda *given: None)


@MUTANTS.caught_by(reads_as_duckdb("SELECT person, visit FROM visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward AND w.floor + v.person > v.person + 1)"))  # fmt: skip
def public_rows_of_which_only_the_first_is_looked_at(patch):
    patch.setattr(join_kinds, "multiplicity", lambda *given: 1)


@MUTANTS.caught_by(answers_as_duckdb("SELECT AVG(cost) AS a FROM visits"))
def averages_over_all_rows(patch):
    patch.setattr(MeasureCollector, "_present", lambda self, value, where: Measure(kind=MeasureKind.ROWS, where=where))
