"""Every module with the first line of its docstring."""

import ast
from pathlib import Path

from tools.reference.markdown import table

SOURCE = Path(__file__).parents[2] / "src" / "discreet"


def module_lists(*packages):
    """A table for each package; `root` stands for the modules beside the packages."""
    lines = []
    for package in packages:
        folder = SOURCE if package == "root" else SOURCE / package
        files = sorted(folder.glob("*.py") if package == "root" else folder.rglob("*.py"))
        rows = [[f"`{_name(file, folder)}`", _first_line(file)] for file in files if _first_line(file)]
        lines += ["", f"## {package}", "", *table(["module", "what it is"], rows)]
    return lines[1:]


def all_packages():
    """What `module_lists` can be asked for."""
    return {"root"} | {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}


def _name(file, folder):
    name = ".".join(file.relative_to(folder).with_suffix("").parts)
    return name.removesuffix(".__init__") if name != "__init__" else folder.name


def _first_line(file):
    return (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")[0]
