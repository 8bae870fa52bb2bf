"""No error is made before it is raised: one that is shared keeps the frames, with all they held, of everybody who met it."""

import inspect
import pkgutil
from importlib import import_module
from types import FunctionType

import pytest

import discreet
from discreet.errors import MissingPackage

MODULES = [module.name for module in pkgutil.walk_packages(discreet.__path__, "discreet.")]


def held(name, thing, depth=0):
    """Names of the exception objects in a module, a class, a function's defaults, or a collection in one of them."""
    if isinstance(thing, BaseException):
        yield name
    elif isinstance(thing, dict) and depth < 3:
        for key, value in thing.items():
            yield from held(f"{name}[{key!r}]", value, depth + 1)
    elif isinstance(thing, list | tuple | set | frozenset) and depth < 3:
        for value in thing:
            yield from held(f"{name}[...]", value, depth + 1)
    elif isinstance(thing, staticmethod | classmethod):
        yield from held(name, thing.__func__, depth)
    elif isinstance(thing, property):
        for part in filter(None, (thing.fget, thing.fset, thing.fdel)):
            yield from held(name, part, depth)
    elif isinstance(thing, FunctionType):
        yield from held(f"{name}()", thing.__defaults__ or (), depth)
        yield from held(f"{name}()", thing.__kwdefaults__ or {}, depth)


def of_module(module):
    for name, thing in vars(module).items():
        if name.startswith("__"):
            continue
        yield from held(f"{module.__name__}.{name}", thing)
        if inspect.isclass(thing) and thing.__module__ == module.__name__:
            yield from of_class(f"{module.__name__}.{name}", thing)


def of_class(path, kind):
    for name, thing in vars(kind).items():
        yield from held(f"{path}.{name}", thing)
        if inspect.isclass(thing) and thing.__qualname__.startswith(f"{kind.__qualname__}."):
            yield from of_class(f"{path}.{name}", thing)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_holds_no_error_that_was_made_when_it_was_imported(name):
    try:
        module = import_module(name)
    except MissingPackage:
        pytest.skip("an optional package is not installed")
    assert sorted(of_module(module)) == []


def test_an_error_is_found_wherever_it_is_held():
    made = ValueError()

    class Kind:
        attribute = made

        class Inner:
            table = ({"key": made},)

        def method(self, default=made, *, named=made):
            return default, named

        @staticmethod
        def static(default=made):
            return default

    assert sorted(of_class("Kind", Kind)) == [
        "Kind.Inner.table[...]['key']",
        "Kind.attribute",
        "Kind.method()['named']",
        "Kind.method()[...]",
        "Kind.static()[...]",
    ]
