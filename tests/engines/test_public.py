"""Public relations: properties, prepared tables, and what becomes of them."""

import threading
import time
from contextlib import contextmanager
from fractions import Fraction

import pytest

from discreet.algebra.aggregates import Aggregate, Fold, Order, RowFunction
from discreet.algebra.expressions import call
from discreet.algebra.relations import Filter, Join, JoinKind, PerPerson, Project, Windowed
from discreet.engines.duckdb import public_tables
from discreet.engines.duckdb.public_tables import PublicTables
from discreet.engines.duckdb.watchdog import Watchdog
from discreet.engines.sqlgen.render import prepared
from discreet.errors import Cancelled, TooLarge
from discreet.pipeline.call import Call
from discreet.pipeline.time_padding import ReturnSchedule
from discreet.samples import write_clinic
from tests.engines.small import CATALOG, WARD, asked, opened, scanned, text, values, whole, window
from tests.support.opening import open_curator


@pytest.fixture
def engine():
    opening = opened()
    yield opening
    opening.close()


def test_rows_multiplicities_values_and_ends(engine):
    wards = scanned("wards", engine)
    assert engine.rows(CATALOG.tables["wards"]) == wards.shape.size == 5
    assert engine.largest_multiplicity(wards, (0,)) == 2
    assert engine.largest_multiplicity(wards, (0, 1)) == 1
    assert engine.largest_multiplicity(wards, (1,)) == 2
    assert engine.largest_multiplicity(wards, ()) == 5
    assert engine.distinct_values(wards, wards.field(0), outer=False) == ("A", "B", "D", None)
    assert engine.ends(wards, wards.field(1)) == (1, 9)
    assert engine.ends(wards, call("div", call("real", wards.field(1)), call("real", whole(2)))) == (
        Fraction(1, 2),
        Fraction(9, 2),
    )
    assert engine.ends(wards, wards.field(0)) is None


def test_null_keys_have_no_multiplicity():
    engine = opened(wards=[(None, 1), (None, 2), (None, 3), ("A", 4)])
    wards = scanned("wards", engine)
    assert engine.largest_multiplicity(wards, (0,)) == 1
    engine.close()
    empty = opened(wards=[])
    wards = scanned("wards", empty)
    assert empty.largest_multiplicity(wards, (0,)) == 0
    assert empty.distinct_values(wards, wards.field(0), outer=False) == ()
    assert empty.ends(wards, wards.field(1)) is None
    empty.close()


def test_an_outer_join_adds_the_value_over_a_row_of_nulls(engine):
    wards = scanned("wards", engine)
    first = Filter(wards, call("not_null", wards.field(0)))
    named = call("coalesce", first.field(0), text("nowhere"))
    assert engine.distinct_values(first, named, outer=False) == ("A", "B", "D")
    assert engine.distinct_values(first, named, outer=True) == ("A", "B", "D", "nowhere")
    assert engine.distinct_values(first, first.field(0), outer=True) == ("A", "B", "D", None)


def test_public_tables_are_grouped_joined_and_numbered_alone(engine):
    wards, visits = scanned("wards", engine), Project(scanned("visits"), (scanned("visits").field(WARD),))
    floors = PerPerson(wards, (wards.field(0),), (Aggregate(Fold.ROWS, None), Aggregate(Fold.AVERAGE, wards.field(1))))
    assert engine.largest_multiplicity(floors, (0,)) == 1
    joined = Join(visits, floors, JoinKind.LEFT, ((visits.field(0), floors.field(0)),), None, fan_out=1)
    assert {row[1:] for row in values(engine, joined)} == {
        ("A", "A", 2, 1.5),
        ("B", "B", 1, 1.0),
        ("C", None, None, None),
        (None, None, None, None),
    }
    numbered = Windowed(wards, (window(RowFunction.ROW_NUMBER, order=(Order(wards.field(1), descending=True),)),))
    pairs = Join(numbered, wards, JoinKind.INNER, ((numbered.field(0), wards.field(0)),), None, fan_out=2)
    assert engine.largest_multiplicity(pairs, (0,)) == 4
    assert sorted(engine.distinct_values(numbered, numbered.field(2), outer=False)) == [1, 2, 3, 4, 5]


def test_a_table_is_prepared_once_and_again_when_it_was_dropped(engine, monkeypatch):
    wards, visits = scanned("wards", engine), scanned("visits")
    joined = Join(visits, wards, JoinKind.LEFT, ((visits.field(WARD), wards.field(0)),), None, fan_out=2)
    name = prepared(wards, (0,)).name

    def tables():
        return {
            f"work.{row[0]}"
            for row in engine._data.execute(
                "SELECT table_name FROM duckdb_tables() WHERE database_name = 'work'"
            ).fetchall()
        }

    assert asked(engine, joined, rows=8) == {(): (10,)}
    assert tables() == {name}
    monkeypatch.setattr(engine._public._tables, "_most", 1)
    for floor in range(3):
        kept = Filter(wards, call("gt", wards.field(1), whole(floor)))
        engine.largest_multiplicity(kept, (0,))
    assert len(tables()) == 1
    assert name not in tables()
    assert asked(engine, joined, rows=8) == {(): (10,)}


def test_what_somebody_reads_is_not_dropped(engine, monkeypatch):
    monkeypatch.setattr(engine._public._tables, "_most", 1)
    wards = scanned("wards", engine)
    held = prepared(wards, (0,))
    with engine._public.holding([held]):
        engine.largest_multiplicity(wards, (1,))
        engine.largest_multiplicity(wards, ())
        assert engine._data.execute(f"SELECT count(*) FROM {held.name}").fetchone() == (5,)


def test_two_who_want_the_same_wait_for_each_other_and_others_do_not(engine, monkeypatch):
    wards = scanned("wards", engine)
    going, started, count = threading.Event(), threading.Event(), []
    prepare = PublicTables._prepare

    def slow(self, table):
        count.append(table.keys)
        if table.keys == (0,):
            started.set()
            assert going.wait(10)
        return prepare(self, table)

    monkeypatch.setattr(PublicTables, "_prepare", slow)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(engine.largest_multiplicity(wards, (0,)))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    assert started.wait(10)
    assert engine.largest_multiplicity(wards, (1,)) == 2  # does not wait
    going.set()
    for thread in threads:
        thread.join(10)
    assert results == [2, 2]
    assert sorted(count) == [(0,), (1,)]


def test_what_a_question_holds_is_used_and_dropped_as_if_its_readings_never_were(engine, monkeypatch):
    """A question holds its relations until its answer leaves. When its statements are read meanwhile, and how often, changes neither what is
    there for others now nor what is dropped later: else an explain would tell, by how long it takes, whether somebody's reading has ended.
    """
    monkeypatch.setattr(engine._public._tables, "_most", 2)
    wards = scanned("wards", engine)
    ours, *others = (prepared(wards, keys) for keys in [(0,), (1,), (), (0, 1)])

    def left(readings):
        engine._public._tables._items.clear()
        seen = []
        with engine._public.holding([ours]):
            for number, other in enumerate(others):
                with engine._public.holding([other]):
                    pass
                if number in readings:
                    with engine._public.holding([ours]):
                        pass
                seen.append(set(engine._public._tables._items))
        return [*seen, list(engine._public._tables._items)]

    never = left(())
    assert all(left(readings) == never for readings in [(0,), (1,), (2,), (0, 1, 2)])
    assert all(ours.name in there for there in never)


def test_a_question_holds_its_public_relations_from_before_its_turn_until_its_answer_leaves(tmp_path):
    """By the clock, then, and whether or not it was taken back."""
    with open_curator(write_clinic(tmp_path, patients=20, visits=50)) as curator:
        holding, events = curator._engine.holding, []

        @contextmanager
        def watched(queries):
            events.append("held")
            with holding(queries):
                yield
            events.append("let go")

        class Stopped(threading.Event):
            def wait(self, timeout=None):
                events.append("waits")
                return super().wait(timeout)

        curator._engine.holding = watched
        schedule = ReturnSchedule(time.monotonic(), 0.2, 0.1, time.monotonic)
        call = Call(
            on_step=lambda step: step == "paid" and curator.cancel(call),
            stopped=Stopped(),
            schedule_return=lambda _: schedule,
        )
        curator.with_call(call).ask("SELECT COUNT(*) FROM visits", epsilon=0.1)
        assert events == ["held", "waits", "waits", "let go"]
        assert time.monotonic() >= schedule.arrived + 0.2


def test_who_waits_for_what_another_prepares_can_be_taken_back_and_has_the_seconds_of_one_question(engine, monkeypatch):
    wards = scanned("wards", engine)
    going, started = threading.Event(), threading.Event()
    prepare = PublicTables._prepare

    def slow(self, table):
        started.set()
        assert going.wait(30)
        return prepare(self, table)

    monkeypatch.setattr(PublicTables, "_prepare", slow)
    first = threading.Thread(target=engine.largest_multiplicity, args=(wards, (0,)))
    first.start()
    assert started.wait(10)
    query = threading.Event()
    threading.Timer(0.1, query.set).start()
    with pytest.raises(Cancelled), engine.one_limit(query):
        engine.largest_multiplicity(wards, (0,))
    monkeypatch.setattr(engine._watch, "_seconds", 0.1)
    with pytest.raises(TooLarge), engine.one_limit():
        engine.largest_multiplicity(wards, (0,))
    going.set()
    first.join(10)


SLOW = "SELECT count(*) FROM range(10000000000) AS a(x), range(100) AS b(y) WHERE x * y % 7 = 3"


def test_what_takes_too_long_is_refused_by_name_and_can_be_taken_back(engine, monkeypatch):
    monkeypatch.setattr(public_tables, "checked", lambda sql: SLOW)
    tables = PublicTables(engine._data, Watchdog(seconds=0.2))
    with pytest.raises(TooLarge):
        tables.rows(CATALOG.tables["wards"])
    watch = Watchdog(seconds=60)
    tables, query = PublicTables(engine._data, watch), threading.Event()
    threading.Timer(0.2, watch.cancel, [query]).start()
    started = time.monotonic()
    with pytest.raises(Cancelled), watch.one_limit(query), tables._cursor() as cursor:
        cursor.execute(SLOW)
    assert time.monotonic() - started < 10
