"""Packages that not everybody needs: imported when something asks for them, and named with the command that installs them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

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
