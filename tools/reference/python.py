"""The public names of a module: signatures, what they are, and the methods of classes that no public base has."""

import inspect
import re
import textwrap
from importlib import import_module

from tools.reference.markdown import WIDTH, first_paragraph, summary, table

LONGEST = 100
"""Characters of a signature that is shown; a longer one is in `help()`."""


def public_names(*modules):
    """A section for each public name of these modules, in the order of the alphabet."""
    lines = []
    for name in modules:
        module = import_module(name)
        names = {public: getattr(module, public) for public in sorted(module.__all__, key=str.lower)}
        for public, thing in names.items():
            if callable(thing):
                bases = [base for base in names.values() if inspect.isclass(base) and base is not thing]
                lines += ["", f"## {public}", "", *_about(public, thing, bases)]
    return lines[1:]


def _about(name, thing, bases):
    yield from textwrap.wrap(f"`{_signature(name, thing)}`", WIDTH)
    yield from ("", *first_paragraph(inspect.getdoc(thing)))
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        inherited = {name for base in bases if issubclass(thing, base) for name in dir(base)}
        rows = [[f"`{each}`", summary(getattr(thing, each))] for each in _methods(thing) if each not in inherited]
        if rows:
            yield from ("", *table(["method", "what it does"], rows))


def _signature(name, thing):
    """The parameters without their types, which `help()` shows too."""
    try:
        parameters = [_plain(each) for each in inspect.signature(thing).parameters.values()]
    except ValueError:
        return name
    whole = re.sub(r"<[\w ]*?([\w.]+) at 0x\w+>", r"\1", f"{name}{inspect.Signature(parameters)}")
    return whole if len(whole) <= LONGEST else f"{name}({', '.join(map(_short, parameters))})"


def _plain(parameter):
    """Without its type; a field that stands for a property of its base has no default."""
    has_default = not isinstance(parameter.default, property)
    default = parameter.default if has_default else inspect.Parameter.empty
    return parameter.replace(annotation=inspect.Parameter.empty, default=default)


def _short(parameter):
    return parameter.name if parameter.default is inspect.Parameter.empty else f"{parameter.name}=…"


def _methods(kind):
    return [
        name
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_") and callable(member) and not inspect.isclass(member)
    ]
