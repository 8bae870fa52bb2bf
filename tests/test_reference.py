"""The generated parts of docs/reference are current and whole: `make reference` writes them anew."""

import ast
import re
from pathlib import Path

import pytest

from discreet import catalog
from discreet.algebra.registry import all_functions
from tools.reference import http, modules
from tools.reference.pages import FOLDER, MARKED, generated, generated_pages
from tools.reference.sql_functions import function_list
from tools.reference.verbs import all_requests

PAGES = generated_pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_the_code_says(page):
    assert page.read_text() == generated(page.read_text())


def _arguments(what):
    found = (match for page in PAGES for match in MARKED.finditer(page.read_text()) if match["what"] == what)
    return [argument for match in found for argument in match["arguments"].split()]


def test_the_list_of_functions_is_the_registrys():
    header = 2
    assert len(function_list()) == header + len(list(all_functions()))
    assert "COALESCE" in (FOLDER / "sql-functions.md").read_text()


def test_the_page_lists_what_there_is():
    """Every command has a section with its options, every route one, and every package a list of its modules."""
    from discreet.cli.app import COMMANDS, GROUPS

    assert sorted(_arguments("options")) == sorted([*COMMANDS, *GROUPS])
    assert set(_arguments("http")) == http.all_first_parts()
    assert len(_arguments("http")) == len(http.all_first_parts())
    assert sorted(_arguments("modules")) == sorted(modules.all_packages())


def test_every_call_has_a_section():
    pages = "".join(page.read_text() for page in PAGES if page.stem.startswith("requests"))
    assert len(all_requests()) > 5
    for name in all_requests():
        assert f"\n## `{name}`\n" in pages


def test_every_key_of_the_catalog_is_documented():
    """What the readers accept: the sets of names in their source."""
    page = (FOLDER / "catalog.md").read_text()
    folder = Path(catalog.__file__).parent
    keys = {
        element.value
        for name in ("toml_reader", "graph_tables", "region_trees")
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text()))
        if isinstance(node, ast.Set)
        for element in node.elts
        if isinstance(element, ast.Constant)
    }
    assert {"max_rows", "levels", "ends"} <= keys
    assert [key for key in sorted(keys) if not re.search(rf"\b{key}\b", page)] == []
