"""Find the marks in the pages of docs/reference, and put generated lines between them."""

import re
from pathlib import Path

from tools.reference import commands, errors, http, modules, python, sql_functions, verbs

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
GENERATORS = {
    "commands": commands.command_lists,
    "errors": errors.error_list,
    "exit-codes": commands.exit_codes,
    "functions": sql_functions.function_list,
    "http": http.route_list,
    "modules": modules.module_lists,
    "options": commands.option_lists,
    "python": python.public_names,
    "verbs": verbs.verb_lists,
}
MARKED = re.compile(r"<!-- (?P<what>[a-z-]+)(?P<arguments>[^:]*): begin -->\n.*?<!-- (?P=what): end -->", re.DOTALL)


def generated(page):
    """The text of a page with everything between its marks made anew."""
    return MARKED.sub(_section, page)


def generated_pages():
    """The pages that have marks."""
    return [page for page in sorted(FOLDER.rglob("*.md")) if MARKED.search(page.read_text())]


def _section(marked):
    what, arguments = marked["what"], marked["arguments"]
    lines = GENERATORS[what](*arguments.split())
    return "\n".join([f"<!-- {what}{arguments}: begin -->", "", *lines, "", f"<!-- {what}: end -->"])
