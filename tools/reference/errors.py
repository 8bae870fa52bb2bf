"""Every error: its code, its class and the status that the service answers with."""

import inspect

from discreet import errors
from discreet.server.http import error_responses
from tools.reference.markdown import table

PAGES = ("errors.md", "errors-collection.md", "errors-ledger.md")


def error_list():
    """A table of all codes, each with a link to its section."""
    from tools.reference.pages import FOLDER  # noqa: PLC0415  it imports this module

    where = {}
    for page in PAGES:
        codes = [
            line.removeprefix("## ") for line in (FOLDER / page).read_text().splitlines() if line.startswith("## ")
        ]
        where |= dict.fromkeys(codes, page)
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.DiscreetError)]
    rows = [
        [f"[{kind.code}]({where[kind.code]}#{kind.code})", f"`{kind.__name__}`", str(_status(kind))]
        for kind in sorted(kinds, key=lambda kind: kind.code)
        if kind.code in where
    ]
    return table(["code", "class", "HTTP status"], rows)


def _status(kind):
    return next(status for wider, status in error_responses.STATUS if issubclass(kind, wider))
