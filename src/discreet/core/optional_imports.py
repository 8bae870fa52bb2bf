"""Imports that wait for their first use: optional packages, and the modules behind the names of a package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from discreet.errors import MissingPackage

_PACKAGES = {"sklearn": "scikit-learn"}
"""What a module's package is called where it is installed from, where that is another name."""


def package_of(module: str) -> str:
    """What to install for a module.

    Args:
        module: The name that it is imported under.
    """
    root = module.partition(".")[0]
    return _PACKAGES.get(root, root.replace("_", "-"))


def optional(module: str) -> ModuleType:
    """The module, or an error that says how to get it.

    Args:
        module: The name that it is imported under.
    """
    try:
        return import_module(module)
    except ImportError:
        raise missing(module) from None


def check_installed(module: str) -> None:
    """Refuse what would need a package that is not there, without importing it.

    Args:
        module: The name that it is imported under.
    """
    if find_spec(module) is None:
        raise missing(module)


def missing(module: str) -> MissingPackage:
    """The error of a package that is not there.

    Args:
        module: The name that it is imported under.
    """
    package = package_of(module)
    return MissingPackage(f"This needs {package}, which is not installed.", next_step=f"Run: pip install {package}")


def import_on_first_use(package: str, modules: Mapping[str, set[str]]) -> Callable[[str], Any]:
    """A `__getattr__` for a package whose names are imported one by one, so that a command starts without the others.

    Args:
        package: The name of the package.
        modules: The names that each of its modules provides.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name in module_of:
            return getattr(import_module(f"{package}.{module_of[name]}"), name)
        message = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(message)

    return find
