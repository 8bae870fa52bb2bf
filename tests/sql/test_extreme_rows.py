"""An extreme row of one person changes no status, no columns, no declared groups and no error, whatever is asked."""

from functools import cache

import pyarrow as pa
import pytest

from discreet.core.loss import Loss
from discreet.errors import DiscreetError
from discreet.noise import RandomBits
from discreet.pipeline.release import release
from discreet.results.answer import Answer, stored_form
from tests.sql.checking import planned, run
from tests.sql.fixtures import accepted, refused
from tests.sql.statements import Writer
from tests.sql.worlds import HAND_MADE, catalog_of, engine_of

NAMES = ("person", "visit", "ward", "zip", "cost", "age", "ok", "day")
USUAL = {
    "ward": "A",
    "zip": "x",
    "cost": "1.0",
    "age": "1",
    "ok": "true",
    "day": "2020-05-05",
}
EXTREMES = {
    "nan": {"cost": "nan"},
    "infinite": {"cost": "inf"},
    "minus infinite": {"cost": "-inf"},
    "huge": {"cost": "1e308", "age": "1e308"},
    "largest": {"person": str(2**63 - 1), "visit": str(2**63 - 1), "age": str(2**63 - 1)},
    "smallest": {"person": str(-(2**63)), "visit": str(-(2**63)), "age": str(-(2**63)), "cost": "-1e308"},
    "beyond integers": {"visit": str(2**200), "age": str(2**64)},
    "empty": dict.fromkeys(NAMES[1:], ""),
    "nothing": dict.fromkeys(NAMES[1:]),
    "nobody": {"person": None},
    "NUL": {"zip": "a\0b", "ward": "\0"},
    "a megabyte": {"zip": "x" * 10**6, "ward": "y" * 10**6},
    "a quote": {"zip": "'; DROP TABLE visits; --", "ward": '"'},
    "a bad date": {"day": "2024-13-45"},
    "the last date": {"day": "5881580-07-10"},
    "no end": {"day": "infinity"},
    "zero": {"cost": "0", "age": "0"},
}


@cache
def queries():
    """Five hundred: every accepted one, some refused ones, and many at random."""
    writer = Writer(5)
    known = [sql for _, sql, _ in accepted()] + [sql for _, sql in refused()][::4]
    return [*known, *(writer.statement() for _ in range(500 - len(known)))]


def behaviour(extremes, asked):
    """What is seen from outside, of every question, where a person with each of these rows is there, too."""
    catalog = catalog_of()
    frames = HAND_MADE.frames()
    rows = [dict(row) for row in frames["visits"].to_pylist()]
    texts = [
        {name: None if row[name] is None else str(row[name]).replace("True", "true") for name in NAMES} for row in rows
    ]
    texts += [{**USUAL, "person": f"{at}", "visit": f"{at}1", **extreme} for at, extreme in enumerate(extremes, 9)]
    frames["visits"] = pa.table({name: pa.array([row[name] for row in texts], pa.string()) for name in NAMES})
    world = type("Frames", (), {"frames": lambda _: frames})()
    engine, bits, seen = engine_of(world, catalog), RandomBits(), []
    for sql in asked:
        try:
            plan = planned(sql, catalog, engine, epsilon=50)
            noisy = release(plan, run(plan, engine), bits)
            answer = Answer(plan, stored_form(noisy), loss=Loss(50), replayed=False, receipt="")
            declared = [
                [key.to_pylist() for key in shown.keys]
                for sets, priced in zip(noisy, plan.grouping_sets, strict=True)
                for shown, part in zip(sets, priced, strict=True)
                if part.selection is None
            ]
            assert len(answer.half_widths(0.9)) == len(answer.rows)
            seen.append(("answered", answer.columns, declared, [len(query.measures) for query in plan.queries]))
        except DiscreetError as error:
            seen.append((error.code, str(error)))
    engine.close()
    return seen


@cache
def without():
    return behaviour([], queries())


def change_nothing(*names, every=1, first=0):
    """With these rows and without any, every so-many-th question is seen to go alike."""
    chosen = slice(first % every, None, every)
    seen, usual = behaviour([EXTREMES[name] for name in names], queries()[chosen]), without()[chosen]
    assert sum(part[0] == "answered" for part in seen) > len(seen) // 2
    assert not any(part[0] == "engine-failure" for part in seen)
    assert seen == usual


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_row_changes_nothing_that_is_seen_from_outside(name):
    change_nothing(name, every=24, first=list(EXTREMES).index(name))  # `make soak` asks all of them


@pytest.mark.slow
def test_all_extreme_rows_together_change_nothing_whatever_is_asked():
    assert len(queries()) == 500
    change_nothing(*EXTREMES)
