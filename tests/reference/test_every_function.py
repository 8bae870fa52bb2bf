"""Each registered function alone, engine against meaning, over many rows of extremes: one person a row, so that each value is seen."""

import random
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice

import pytest

from discreet.algebra.expressions import Literal, call
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query
from discreet.algebra.registry import all_functions
from discreet.algebra.table_scan import scan
from discreet.catalog import Type, parse_catalog
from discreet.engines import DuckEngine
from discreet.errors import NotAllowed, TooLarge
from tests.reference.comparing import SALT, Bench
from tests.reference.promises import broken_expressions
from tests.reference.random_expressions import _ENDS, _SMALL, _TEXT_CONSTANTS
from tests.reference.worlds import EXTREMES, World

COUNT, TOGETHER = 400, 6
_KINDS = {"i": Type.INTEGER, "r": Type.REAL, "t": Type.TEXT, "d": Type.DATE, "m": Type.TIMESTAMP, "b": Type.BOOLEAN}
CATALOG = parse_catalog(
    '[source]\npath = "."\n[budget]\nepsilon = 1\ndelta = 1e-3\n[tables.v]\nprivacy_unit = "person"\ncolumns.person = { type = "integer" }\n'
    + "".join(
        f'columns.{letter}{n} = {{ type = "{kind.value}" }}\n' for letter, kind in _KINDS.items() for n in (1, 2, 3)
    )
)
_CONSTANTS = {Type.TEXT: _TEXT_CONSTANTS, Type.INTEGER: _SMALL, Type.REAL: _ENDS}


def value(rng, kind):
    """Extremes, and values near them."""
    if rng.random() < 0.06:
        return None
    if rng.random() < 0.5:
        return rng.choice(EXTREMES[kind])
    match kind:
        case Type.INTEGER:
            return rng.choice([rng.randint(-40, 40), rng.randint(1, 12), rng.randint(-(10**6) - 2, 10**6 + 2), rng.randint(-(2**63) + 1, 2**63 - 1), rng.choice([-1, 1]) * 2 ** rng.randint(0, 62)])  # fmt: skip
        case Type.REAL:
            return rng.choice([rng.uniform(-5, 5), rng.uniform(-100, 100), rng.randint(-20, 20) / 2, rng.uniform(-1, 1) * 2.0 ** rng.randint(-90, 99), float(rng.randint(-9, 9)), rng.uniform(0, 1)])  # fmt: skip
        case Type.TEXT:
            letters = "aAbBxyé,É %_\\0123456789-+.eE ßΣσςİıǅdž𝄞\n'\"|ТЖж"
            return rng.choice(["".join(rng.choices(letters, k=rng.randint(0, 7))), chr(rng.randint(0x20, 0x600)), f"{rng.randint(-1, 2030):04d}-{rng.randint(0, 13):02d}-{rng.randint(0, 32):02d}", f"{rng.uniform(-9, 9):.3e}", f"{rng.randint(2019, 2021)}-{rng.randint(1, 12):02d}-{rng.randint(1, 31):02d}{rng.choice(' T')}{rng.randint(0, 24):02d}:{rng.randint(0, 60):02d}{rng.choice(['', ':07', ':60', ':59.5', ':01.000001', ':01.0000001', ':00Z'])}", rng.choice(["TRUE", "No", "y ", " f", "1", "0"])])  # fmt: skip
        case Type.DATE:
            return rng.choice([date.fromordinal(rng.randint(1, date.max.toordinal())), date(2020, 1, 1) + timedelta(rng.randint(-800, 800))])  # fmt: skip
        case Type.TIMESTAMP:
            return rng.choice([datetime(1, 1, 1) + timedelta(microseconds=rng.randint(0, 315_537_897_599_999_999)), datetime(2020, 1, 1) + timedelta(minutes=rng.randint(-9000, 9000)), datetime(1970, 1, 1) + timedelta(seconds=rng.randint(-9000, 9000))])  # fmt: skip
    return rng.random() < 0.5


@lru_cache(maxsize=1)
def bench():
    rng = random.Random(11)
    columns = list(CATALOG.tables["v"].columns.values())[1:]
    rows = [(person, *(value(rng, column.type) for column in columns)) for person in range(1, COUNT + 1)]
    world = World(CATALOG, {"v": rows})
    return Bench(world, DuckEngine(CATALOG, salt=SALT, frames=world.frames()))


def argument_lists(record, rows, variable):
    """Columns everywhere; then constants in some places at random, because some functions take no others."""
    fields = {
        kind: [rows.field(at) for at, column in enumerate(rows.columns) if at and column.properties.type is kind]
        for kind in Type
    }
    rng, signature = random.Random(record.name), record.signature
    least = len(signature.takes) + len(signature.last)
    counts = [least + more * signature.repeats for more in (range(3) if signature.repeats else range(1))]
    for attempt in range(80):
        columns_only = attempt < len(counts)
        wanted = signature.parameters(counts[attempt] if columns_only else rng.choice(counts))
        args, places = [], dict.fromkeys(Type, 0)
        for kind in (variable if kind is None else kind for kind in wanted):
            fixed = not columns_only and rng.random() < 0.5
            pool = rng.choice([_CONSTANTS.get(kind, EXTREMES[kind]), EXTREMES[kind]])
            args.append(Literal(kind, rng.choice(pool)) if fixed else fields[kind][places[kind] % 3])
            places[kind] += not fixed
        yield args


def calls_of(record, rows):
    variables = (
        sorted(record.signature.among, key=lambda kind: kind.value)
        if None in (*record.signature.takes, *record.signature.last)
        else [Type.TEXT]
    )
    for variable in variables:
        accepted = (
            drawn for args in argument_lists(record, rows, variable) if (drawn := _tried(record.name, args)) is not None
        )
        yield from islice(accepted, 12 if len(variables) == 1 else 6)


def _tried(name, args):
    try:
        return call(name, *args)
    except (NotAllowed, TooLarge):
        return None


@pytest.mark.parametrize("record", list(all_functions()), ids=lambda record: record.name)
def test_a_function_gives_the_same_on_the_engine_and_by_its_meaning(record):
    rows = scan(CATALOG.tables["v"], CATALOG)
    drawn = list(calls_of(record, rows))
    assert drawn, "no arguments were found that it takes"
    for start in range(0, len(drawn), TOGETHER):
        keys = (Key(rows.field(0), None), *(Key(expression, None) for expression in drawn[start : start + TOGETHER]))
        query = Query(
            rows=rows,
            keys=keys,
            measures=(Measure(kind=MeasureKind.ROWS),),
            limits=ContributionBounds(rows=1),
            sets=(tuple(range(len(keys))),),
        )
        assert bench().wrong(query)[:3] == [], bench().least(query)
    broken = [wrong for expression in drawn for wrong in broken_expressions(bench().oracle, rows, expression)]
    assert broken[:3] == []
