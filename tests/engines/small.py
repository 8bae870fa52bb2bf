"""A few rows of a clinic, and short names for questions about them."""

from datetime import date
from fractions import Fraction

import pyarrow as pa

from discreet.algebra.aggregates import Aggregate, Fold, Frame, Order, RowFunction, Window
from discreet.algebra.expressions import Literal
from discreet.algebra.grids import grid_for
from discreet.algebra.query import ContributionBounds, Key, Measure, MeasureKind, Query
from discreet.algebra.table_scan import scan
from discreet.catalog import Type, parse_catalog
from discreet.engines import DuckEngine
from discreet.engines.sqlgen.render import Renderer

CATALOG = parse_catalog("""
[source]
path = "."
[budget]
epsilon = 1
delta = 1e-6
[tables.visits]
privacy_unit = "person"
max_rows = 4
columns.person = { type = "integer" }
columns.visit = { type = "integer" }
columns.ward = { type = "text", values = ["A", "B"] }
columns.cost = { type = "real", lower = 0, upper = 4, granularity = 0.5 }
columns.day = { type = "date" }
[tables.notes]
privacy_unit = { column = "visit", references = "visits.visit" }
max_rows = 3
columns.visit = { type = "integer" }
columns.score = { type = "integer", lower = 0, upper = 4 }
[tables.events]
privacy_unit = "person"
bounding = "per-query"
columns.person = { type = "integer" }
columns.kind = { type = "text", values = ["x", "y", "z"] }
columns.amount = { type = "integer", lower = 0, upper = 1000 }
[tables.wards]
public = true
columns.ward = { type = "text" }
columns.floor = { type = "integer" }
""")
PERSON, VISIT, WARD, COST, DAY = range(5)
D = date(2020, 3, 1)
VISITS = [
    (1, 10, "A", 1.0, D), (1, 10, "B", 2.0, None), (1, 11, "A", None, D), (1, 12, "C", 9.0, date(2019, 1, 1)),
    (2, 20, "B", 0.6, D), (3, 30, None, 3.0, D), (3, 31, "A", 3.0, D), (None, 40, "A", 1.0, D),
]  # fmt: skip
NOTES = [(10, 1), (10, 3), (11, None), (30, 9), (99, 2)]
EVENTS = [(1, "x", 5), (1, "x", 6), (1, "y", 7), (1, "z", 8), (1, "w", 9), (2, "x", 1), (2, None, 2), (3, "w", 3)]
WARDS = [("A", 1), ("A", 2), ("B", 1), (None, 9), ("D", 4)]

ROWS = Measure(kind=MeasureKind.ROWS)


def table(name, rows):
    kinds = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "date": pa.date32()}
    columns = CATALOG.tables[name].columns.values()
    return pa.table(
        {
            column.name: pa.array([row[at] for row in rows], kinds[column.type.value])
            for at, column in enumerate(columns)
        }
    )


def frames(**rows):
    every = {"visits": VISITS, "notes": NOTES, "events": EVENTS, "wards": WARDS, **rows}
    return {name: table(name, some) for name, some in every.items()}


def opened(**rows):
    return DuckEngine(CATALOG, salt="salt", frames=frames(**rows))


def scanned(name, engine=None):
    declared = CATALOG.tables[name]
    return scan(declared, CATALOG, size=engine.rows(declared) if engine is not None and declared.is_public else 0)


def values(engine, relation):
    """The rows of a relation as sorted tuples of owner and columns."""
    renderer = Renderer()
    select = renderer.relation(relation)
    names = [*([] if relation.is_public else ["o"]), *(f"c{at + 1}" for at in range(len(relation.columns)))]
    with engine._public.holding(tuple(renderer.tables.values())):
        rows = engine._data.cursor().execute(f"SELECT {', '.join(names)} FROM ({select})").fetchall()
    return sorted(rows, key=lambda row: [(value is None, "" if value is None else str(value)) for value in row])


def query(relation, *, keys=(), measures=(ROWS,), sets=None, **limits):
    return Query(
        rows=relation,
        keys=tuple(keys),
        measures=tuple(measures),
        limits=ContributionBounds(**limits),
        sets=sets or (tuple(range(len(keys))),),
    )


def cells(exact):
    """Groups with their measures, and people last where they were counted."""
    keys = list(zip(*(key.to_pylist() for key in exact.keys), strict=True)) if exact.keys else [()]
    columns = [*exact.measures, *([] if exact.people is None else [exact.people])]
    return {key: tuple(int(column[at]) for column in columns) for at, key in enumerate(keys)}


def asked(engine, *args, **kwargs):
    made = query(*args, **kwargs)
    engine.bind(made)
    several = [cells(exact) for exact in engine.run(made)]
    return several[0] if len(several) == 1 else several


def total(rows, at, *, centre=0, where=None):
    steps = grid_for(rows.columns[at].properties, rows.columns[at].step)
    return Measure(kind=MeasureKind.TOTAL, values=(rows.field(at),), steps=(steps,), centres=(centre,), where=where)


def whole(value):
    return Literal(Type.INTEGER, value)


def text(value):
    return Literal(Type.TEXT, value)


def window(what, *, value=None, offset=0, partition=(), order=(), frame=None):
    return Window(what, value, offset, tuple(partition), tuple(order), frame)


__all__ = ["Aggregate", "Fold", "Fraction", "Frame", "Key", "Order", "RowFunction"]
