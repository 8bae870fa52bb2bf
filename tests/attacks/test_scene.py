"""People made up in a catalog's shape: attacks are posed on them, and neither data nor books of the catalog are touched."""

import numpy as np
import pytest

from discreet import attacks
from discreet.attacks.lab.scene import LAB, scene_of
from discreet.catalog import parse_catalog
from discreet.errors import BadInput
from discreet.samples.clinic import CATALOG

HEAD = '[source]\npath = "not there"\n[ledger]\npath = "nor here.sqlite"\n[budget]\nepsilon = 1\n'
CATALOGS = {
    "a clinic": CATALOG,
    "each row is a person, odd names": HEAD
    + '[tables."the \\"orders"]\nprivacy_unit = "row"\ncolumns."na me" = { type = "text" }\n'
    + 'columns.paid = { type = "real", lower = -5, upper = 0 }\n',
    "many rows, text ids, the names of the attacker's own table": HEAD
    + '[tables.lists]\nprivacy_unit = "a"\nmax_rows = 20\ncolumns.a = { type = "text" }\ncolumns.b = { type = "date" }\n',
    "replace-one, numbers within bounds": 'neighbours = "replace-one"\n'
    + HEAD
    + '[tables.t]\nprivacy_unit = "id"\npeople = true\ncolumns.id = { type = "integer", lower = 5, upper = 9000 }\n'
    + 'columns.age = { type = "integer", lower = -1, upper = 0 }\n',
}
POSED = [attack.name for attack in attacks.list_attacks() if attack.any_catalog]


def test_three_attacks_can_be_posed_on_any_catalog():
    assert POSED == ["differencing", "averaging", "reconstruction"]
    with pytest.raises(BadInput, match="its own generated people"):
        attacks.run("linkage", scene=scene_of(parse_catalog(CATALOG)))


@pytest.mark.parametrize("shape", CATALOGS)
def test_weak_releases_fall_and_discreet_holds_where_neither_data_nor_books_are(tmp_path, shape):
    scene = scene_of(parse_catalog(CATALOGS[shape], base=tmp_path / "nothing"))
    for name in POSED:
        assert attacks.run(name, people=64, trials=4, size="small", seed=1, scene=scene).success > 0.9
        ours = attacks.run(name, against="discreet", epsilon=0.1, people=16, trials=2, size="small", scene=scene)
        assert ours.bound == scene.bound(0.1, 0.0) < 0.56
        assert next(iter(ours.sample)) == scene.declared.name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shape", CATALOGS)
def test_the_condition_says_of_everybody_the_bit_that_was_drawn(shape):
    """Counted by the real engine with next to no noise."""
    scene = scene_of(parse_catalog(CATALOGS[shape]))
    secrets = np.arange(40) % 4 == 0
    tables, catalog = scene.world(secrets, np.random.default_rng(1))
    game = attacks.lab.attack.Game(
        against="discreet", loss=attacks.lab.attack.Loss(1e6), people=40, trials=1, rng=None, scene=scene
    )
    with game.protect(tables, catalog) as world:
        analyst = game.analyst(world)
        for person in (0, 1, 4, 39):
            here = f"{scene.number} = {scene.first + person} AND {scene.secret}"
            observed = analyst.number(f"SELECT COUNT(*) AS n FROM {scene.table} WHERE {here}", epsilon=1e5)
            assert round(observed) == secrets[person]


def test_a_catalog_without_anybody_to_ask_for_says_so():
    nobody = HEAD + '[tables.t]\nprivacy_unit = "row"\ncolumns.age = { type = "integer", lower = 0, upper = 110 }\n'
    with pytest.raises(BadInput, match="the lab's own people"):
        scene_of(parse_catalog(nobody))
    assert LAB.is_the_labs
