"""A refusal says where in the text it is, and what a misspelt name may have meant."""

import pytest

from discreet.errors import QueryRefused
from tests.sql.checking import planned
from tests.sql.worlds import HAND_MADE, engine_of

PLACES = [
    ("SELECT COUNT(*)\nFROM vists", "vists", (2, 6), ("visits",)),
    ("SELECT wrad, COUNT(*) FROM visits\nGROUP BY wrad", "wrad", (2, 10), ("ward",)),
    ("SELECT COUNT(*) FROM visits a\n  JOIN visits b ON a.ward = b.ward", "visits b ON a.ward = b.ward", (2, 8), ()),
    ("SELECT AVG(cost), ward FROM visits", "ward", (1, 19), ()),
    ("SELECT COUNT(* FROM visits", "FROM", (1, 16), ()),
    ("SELECT COUNT(*) FROM visits WHERE ward = 'ÄÖ😀' AND csot > 1", "csot", (1, 52), ("cost",)),
    ("SELECT WITH DIFFERENTIAL_PRIVACY\n OPTIONS(epsilon = 1) COUNT(csot) FROM visits", "csot", (2, 29), ("cost",)),
]


@pytest.fixture(scope="module")
def engine(catalog):
    opened = engine_of(HAND_MADE, catalog)
    yield opened
    opened.close()


@pytest.mark.parametrize("expected", PLACES, ids=lambda expected: expected[1])
def test_a_refusal_names_its_place_and_the_names_that_were_meant(expected, catalog, engine):
    sql, part, at, instead = expected
    with pytest.raises(QueryRefused) as caught:
        planned(sql, catalog, engine)
    place = caught.value.place
    assert sql[place.start : place.end] == part
    assert (place.line, place.column) == at
    assert caught.value.instead == instead
    assert all(name in caught.value.next_step for name in instead)


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM visits WHERE csot > ?", "SELECT 'a FROM visits", ""])
def test_where_the_place_is_not_known_none_is_told(sql, catalog, engine):
    with pytest.raises(QueryRefused) as caught:
        planned(sql, catalog, engine, parameters=[1] if "?" in sql else ())
    assert caught.value.place is None
