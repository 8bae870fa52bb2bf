"""What a third hostile reading found: one cell that decided how others are read, or whether anything is read at all."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from discreet.catalog import parse_catalog
from discreet.engines import DuckEngine
from discreet.errors import NotAllowed, TooLarge
from tests.redteam.worlds import HEAD
from tests.sql.checking import planned
from tests.sql.worlds import HAND_MADE, catalog_of, engine_of

TABLE = '[tables.t]\nprivacy_unit = "id"\ncolumns.id = {{ type = "integer" }}\ncolumns.x = {}\n'
NUMBER = '{ type = "integer", lower = 0, upper = 10 }'
REAL, TEXT, DAY, BOOLEAN = (
    '{ type = "real", lower = 0, upper = 10 }',
    *(f'{{ type = "{kind}" }}' for kind in ("text", "date", "boolean")),
)
TIMES = list(pd.to_datetime(["2020-01-01 23:59:59", "2021-05-05", "2022-01-01 12:00:00.5"], format="ISO8601"))
ABROAD = list(pd.to_datetime(["2020-01-01 23:59:59-05:00", "2021-05-05 00:00:00-05:00"], format="ISO8601"))


def cells(column, values):
    """The column as the snapshot has it."""
    catalog = parse_catalog(HEAD + TABLE.format(column))
    frame = pd.DataFrame({"id": range(len(values)), "x": values})
    engine = DuckEngine(catalog, salt="fixed", frames={"t": frame})
    rows = engine._data.execute("SELECT c2 FROM data.t ORDER BY o").fetchall()
    engine.close()
    return [cell for (cell,) in rows]


COPIES = " UNION ALL ".join(["SELECT person, age FROM visits WHERE person = 1 AND age = 3"] * 4)
MET = f"WITH r AS ({COPIES}), s AS (SELECT a.person AS person, b.age AS age FROM r a JOIN r b ON a.person = b.person)"


@pytest.mark.parametrize(
    "sql",
    [
        f"{MET} SELECT COUNT(*) FROM s a JOIN s b ON a.person = b.person JOIN s c ON a.person = c.person",
        f"{MET} SELECT COUNT(DISTINCT v.person) FROM visits v JOIN s a ON a.person = v.person JOIN s b ON b.person = v.person JOIN s c ON c.person = v.person",
        f"{MET} SELECT COUNT(*) FROM s a JOIN s b ON a.person = b.person WHERE EXISTS (SELECT 1 FROM s t WHERE t.person = a.person AND t.age > b.age)",
        f"SELECT COUNT(*) FROM visits WHERE zip LIKE '%{'a' * 60}_b'",
    ],
)
def test_no_row_becomes_so_many_or_so_dear_that_it_is_heard(sql):
    catalog = catalog_of()
    engine = engine_of(HAND_MADE, catalog)
    with pytest.raises((TooLarge, NotAllowed)):
        planned(sql, catalog, engine)
    assert planned(f"{MET} SELECT COUNT(*) FROM s", catalog, engine).releases
    engine.close()


@pytest.mark.parametrize(
    ("column", "values", "odd", "seen"),
    [
        (NUMBER, [True, False], None, [1, 0]),
        (REAL, [True, False], None, [1.0, 0.0]),
        (TEXT, [True, False], None, ["true", "false"]),
        (BOOLEAN, [0, 1, 2], "x", [False, True, None]),
        (BOOLEAN, [0.0, 1.0, 0.5], "x", [False, True, None]),
        (DAY, TIMES, "x", [dt.date(2020, 1, 1), dt.date(2021, 5, 5), dt.date(2022, 1, 1)]),
        (DAY, ABROAD, "x", [dt.date(2020, 1, 2), dt.date(2021, 5, 5)]),
        (TEXT, TIMES[:2], "x", ["2020-01-01 23:59:59", "2021-05-05 00:00:00"]),
        (TEXT, [0.1, 1e-7, 1e22, 5.0, -0.0], "x", ["0.1", "1e-07", "1e+22", "5", "0"]),
        (NUMBER, [0.5, 1.5, 2.5, 3.0], "x", [0, 2, 2, 3]),
    ],
)  # fmt: skip
def test_a_cell_is_read_alike_whatever_type_pandas_gives_its_column(column, values, odd, seen):
    assert cells(column, values) == seen
    assert cells(column, [*values, odd])[: len(values)] == seen


@pytest.mark.parametrize(
    "cell",
    [pd.NA, pd.NaT, np.array([1, 2]), np.array([]), pd.DataFrame(), "a\ud800secret", 10**5000, np.bool_(True), b"\xff"],
    ids=["na", "nat", "array", "empty", "frame", "half", "long", "bool", "bytes"],
)
def test_no_object_in_a_cell_stops_the_others(cell):
    assert cells(TEXT, pd.Series(["a", cell], dtype=object))[0] == "a"


def test_an_odd_category_is_a_cell_like_others():
    assert cells(TEXT, pd.Categorical(["a", "b", 5])) == ["a", "b", "5"]


@pytest.mark.parametrize(
    "more", [b"777,y\rz,7\n", b"777,y,7\r\n", b"777,\xff\xfe,7\n", b"777,a,7,8,9\n", b'777,"y"z,7\n']
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("first", [True, False])
def test_no_line_of_a_csv_file_stops_the_others(tmp_path, more, end, first):
    columns = 'columns.name = { type = "text" }\ncolumns.n = { type = "integer", lower = 0, upper = 10 }\n'
    config = HEAD.replace('path = "."', f'path = "{tmp_path}"') + TABLE.format(TEXT).replace(
        "columns.x = " + TEXT, columns
    )
    crowd = b"".join(b"%d,x,2%b" % (number, end) for number in range(100))
    (tmp_path / "t.csv").write_bytes(b"id,name,n" + end + (more + crowd if first else crowd + more))
    engine = DuckEngine(parse_catalog(config), salt=None)
    rows = engine._data.execute("SELECT count(*), count(c2), sum(c3) FROM data.t WHERE o < 100").fetchall()
    engine.close()
    assert rows == [(100, 100, 200)]
