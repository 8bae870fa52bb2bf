"""`help()` says what every parameter of the public interface is, in the `Args:` of what is looked up."""

import inspect
import re
from dataclasses import is_dataclass

import pytest

import discreet
from discreet import accounting, attacks, mechanisms
from discreet.api import base, local, remote
from discreet.integrations import dbapi
from discreet.mechanisms.statistics import statistic
from discreet.results import answer_base
from discreet.sql.builder import Table

ROOMS = (discreet, mechanisms, accounting, attacks)
MORE = (
    local.Curator,
    remote.RemoteCurator,
    Table,
    statistic.Statistic,
    statistic.Histogram,
    answer_base.AnswerBase,
    base.Api,
    accounting.loss_plots.Picture,
    dbapi.connect,
    dbapi.Connection,
    dbapi.Cursor,
)

MADE_HERE = {
    discreet.DiscreetError, discreet.Neighbours, accounting.Charge, accounting.LossDistribution, attacks.Attack, attacks.Result,
    local.Curator, local.Estimate, dbapi.Connection, dbapi.Cursor, base.Api, mechanisms.Histograms, Table,
}  # fmt: skip
SOLVED = ("epsilon_for", "rho_for")
"""Beside what they ask for, they take what their class takes."""


def public():
    """Everything that the rooms show, what it returns, and the public methods of all of that."""
    things = [getattr(room, name) for room in ROOMS for name in room.__all__]
    for thing in dict.fromkeys([*things, *MORE]):
        if inspect.isclass(thing):
            yield thing.__qualname__, thing, thing.__mro__
            for name in dir(thing):
                member = inspect.getattr_static(thing, name)
                if not name.startswith("_") and callable(getattr(thing, name)) and not inspect.isclass(member):
                    beside = thing.__mro__ if name in SOLVED else ()
                    yield f"{thing.__qualname__}.{name}", getattr(thing, name), [getattr(thing, name), *beside]
        elif inspect.isfunction(thing):
            yield f"{thing.__module__}.{thing.__name__}", thing, [thing]


def parameters(thing):
    try:
        taken = inspect.signature(thing).parameters.values()
    except ValueError:
        return []
    return [one.name for one in taken if one.name not in ("self", "args", "kwargs") and not one.name.startswith("_")]


def documented(sources):
    said = set()
    for source in sources:
        block = (inspect.getdoc(source) or "").partition("Args:\n")[2].partition("\n\n")[0]
        said |= set(re.findall(r"^ +\*{0,2}(\w+): ", block, re.MULTILINE))
    return said


PUBLIC = {name: (thing, sources) for name, thing, sources in public()}


def is_made_by_callers(thing):
    """What only Discreet makes needs no word about how to make it."""
    return not inspect.isclass(thing) or (thing not in MADE_HERE and not inspect.isabstract(thing))


@pytest.mark.parametrize("name", [name for name, (thing, _) in PUBLIC.items() if is_made_by_callers(thing)])
def test_every_parameter_is_documented(name):
    thing, sources = PUBLIC[name]
    assert [one for one in parameters(thing) if one not in documented(sources)] == []


def test_there_is_something_to_document():
    assert len(PUBLIC) > 150
    assert {
        "Curator.ask",
        "RemoteCurator.ask",
        "Laplace.release",
        "discreet.mechanisms.statistics.plain.laplace",
    } <= set(PUBLIC)
    assert is_dataclass(mechanisms.Laplace)
