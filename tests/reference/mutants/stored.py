"""Mistakes of the snapshot: what is stored would not be what the catalog declares, or depend on other people's rows."""

import re
from dataclasses import replace

from discreet.catalog import Type, parse_catalog
from discreet.engines.duckdb import snapshot
from discreet.engines.sqlgen.dialects.duckdb import hashed
from tests.reference.mutants.noticing import Mutants, crowded, extremes, stores_as_meant
from tests.reference.worlds import CATALOG, World, random_world

MUTANTS = Mutants()
SourceReader = snapshot.SourceReader


def changed_text(patch, name, *changes):
    """A statement of the door with parts of its text replaced."""
    real = getattr(SourceReader, name)

    def changed(self, table):
        text = real(self, table)
        for before, after in changes:
            text = re.sub(before, after, text)
        return text

    patch.setattr(SourceReader, name, changed)


def unlisted():
    """Rows of people whom the table of everybody does not have."""
    made = random_world(4, is_listed=True)
    return World(made.catalog, {**made.rows, "people": made.rows["people"][:1]})


def named(kind, *names):
    """A world with a visit, and a note about it, of each of these people."""
    catalog = parse_catalog(CATALOG.replace("PERSON", kind))
    rows = {name: [] for name in catalog.tables}
    rows["visits"] = [(name, 1, "A", "x", 1.0, 1, True, None, at, 0.0, None) for at, name in enumerate(names)]
    rows["notes"] = [(1, "n", 1)]
    return World(catalog, rows)


def everything():
    return random_world(3)


@MUTANTS.caught_by(stores_as_meant(crowded))
def ranks_by_content(patch):
    patch.setattr(snapshot, "hashed", lambda parts: "md5($salt)")


@MUTANTS.caught_by(stores_as_meant(crowded, lambda: crowded().shuffled(1)))
def ranks_by_position(patch):
    patch.setattr(snapshot, "hashed", lambda parts: "md5($salt)")
    changed_text(patch, "ranked_rows", (r"(md5\(\$salt\))(, c\d+ NULLS LAST)+", r"\1"))


@MUTANTS.caught_by(stores_as_meant(crowded))
def ranks_without_the_salt(patch):
    patch.setattr(snapshot, "hashed", lambda parts: hashed(["left($salt, 0)", *parts[1:]]))


@MUTANTS.caught_by(stores_as_meant(everything))
def values_as_far_out_as_they_are(patch):
    patch.setattr(snapshot, "within_bounds", lambda name, column: name)


@MUTANTS.caught_by(stores_as_meant(crowded))
def every_row_kept(patch):
    real = SourceReader.ranked_rows
    patch.setattr(SourceReader, "ranked_rows", lambda self, table: real(self, replace(table, is_bounded_once=False)))


@MUTANTS.caught_by(stores_as_meant(everything, *(lambda seed=seed: random_world(seed) for seed in range(3))))
def zeros_with_a_sign(patch):
    real = snapshot.canonical_as_read

    def signed(name, column):
        text = real(name, column)
        return text.replace(f"abs({name}) <", f"{name} <> 0 AND abs({name}) <") if column.type is Type.REAL else text

    patch.setattr(snapshot, "canonical_as_read", signed)


@MUTANTS.caught_by(stores_as_meant(everything))
def reals_beyond_what_a_product_can_hold(patch):
    patch.setattr(snapshot, "canonical_as_read", lambda name, column: name)


@MUTANTS.caught_by(stores_as_meant(lambda: named("integer", 2**53, 2**53 + 1)))
def people_rounded_to_doubles(patch):
    patch.setattr(snapshot, "person", lambda column, types: f"TRY_CAST(TRY_CAST(s.{column.name} AS DOUBLE) AS BIGINT)")


@MUTANTS.caught_by(stores_as_meant(lambda: named("text", "x" * 5000, "x" * 5001)))
def people_with_a_name_that_is_cut(patch):
    patch.setattr(snapshot, "person", lambda column, types: f"left(s.{column.name}, {column.max_length})")


@MUTANTS.caught_by(stores_as_meant(unlisted))
def people_whom_nobody_listed(patch):
    patch.setattr(SourceReader, "_listed", lambda self, table: "")


@MUTANTS.caught_by(stores_as_meant(lambda: named("integer", 1, 1)))
def a_note_once_for_each_visit(patch):
    changed_text(patch, "_people", ("SELECT DISTINCT", "SELECT"))


@MUTANTS.caught_by(stores_as_meant(crowded))
def repeats_that_are_not_numbered(patch):
    changed_text(patch, "ranked_rows", (r"row_number\(\) OVER \(PARTITION BY o, c\d+ ORDER BY r\)", "1"))


@MUTANTS.caught_by(stores_as_meant(everything, extremes))
def steps_that_round_down(patch):
    real = snapshot._steps
    patch.setattr(snapshot, "_steps", lambda at, column: real(at, column).replace("+ CAST('0.5'", "+ CAST('0.0'"))


@MUTANTS.caught_by(stores_as_meant(extremes, lambda: extremes().shuffled(3)))
def public_rows_as_they_come(patch):
    changed_text(patch, "public_rows", (r"OVER \(ORDER BY .* NULLS LAST\) AS r", "OVER () AS r"))
