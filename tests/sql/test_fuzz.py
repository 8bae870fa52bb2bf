"""Any statement gets an answer or a refusal by name; a refusal is free, the engine never fails, a plan pays for what it shows."""

from functools import partial

import pytest

from discreet.errors import DiscreetError
from tests.sql.checking import check_any_two, check_neighbours, planned
from tests.sql.statements import Writer
from tests.sql.worlds import CATALOG, HAND_MADE, LISTED, REPLACED, WORLDS, catalog_of, engine_of, neighbours_of
from tests.support.opening import open_curator

CODES = {"not-allowed", "unknown-name", "unparsable", "needs-bounds", "needs-delta", "too-large", "joins-people", "bad-probability"}  # fmt: skip


@pytest.mark.slow
def test_any_statement_is_answered_or_refused_by_name_and_a_refusal_is_free(tmp_path):
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG.replace("epsilon = 1000", "epsilon = 1e6"))
    writer, seen = Writer(11), {}
    with open_curator(path, frames=HAND_MADE.frames()) as curator:
        for _ in range(400):
            sql = writer.statement()
            before = curator.ledger.account().total
            try:
                answer = curator.ask(sql, epsilon=0.1, delta=1e-12)
                assert answer._repr_html_()
                assert len(answer.intervals(0.9)) == len(answer.rows)
                code = "answered"
            except DiscreetError as refusal:
                code = refusal.code
                assert curator.ledger.account().total == before, sql
            seen[code] = seen.get(code, 0) + 1
    assert seen["answered"] > 40
    assert set(seen) - {"answered"} <= CODES


def hold_against_neighbours(name, *, statements, seed):
    """How many random statements were accepted and pay for what each neighbour of a world changes."""
    catalog = catalog_of()
    engine, neighbours = neighbours_of(WORLDS[name], catalog)
    check = partial(check_neighbours, engine=engine, neighbours=neighbours)
    return _held(catalog, [engine, *neighbours], check, statements=statements, seed=seed)


def hold_against_replacements(*, listed, statements, seed):
    """The same where one person stands in another's place; `listed`, where the number of people is public too."""
    catalog = catalog_of(**(LISTED if listed else REPLACED))
    engines = [engine_of(HAND_MADE.without(person), catalog) for person in (1, 2, 3, 5)]
    return _held(catalog, engines, partial(check_any_two, engines=engines), statements=statements, seed=seed)


def _held(catalog, engines, check, *, statements, seed):
    writer, checked = Writer(seed), 0
    for _ in range(statements):
        sql = writer.statement()
        try:
            plan = planned(sql, catalog, engines[0])
        except DiscreetError:
            continue
        check(plan)
        checked += 1
    for engine in engines:
        engine.close()
    return checked


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_no_neighbour_moves_any_statement_further_than_it_pays_for(name):
    assert hold_against_neighbours(name, statements=200, seed=len(name)) > 20  # `make soak` writes 20,000


@pytest.mark.slow
@pytest.mark.parametrize("listed", [False, True])
def test_no_replacement_moves_any_statement_further_than_it_pays_for(listed):
    assert hold_against_replacements(listed=listed, statements=150, seed=int(listed)) > 15
