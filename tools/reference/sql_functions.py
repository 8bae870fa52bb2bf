"""The functions and operators of SQL, from their registry."""

import itertools

from discreet.algebra.functions.function_list import listing
from tools.reference.markdown import table


def function_list():
    """A table of all functions; a group is named in its first row."""
    rows = []
    for group, listed in itertools.groupby(listing(), key=lambda row: row[0]):
        rows += [[group if at == 0 else "", used, says] for at, (_, used, says) in enumerate(listed)]
    return table(["group", "written", "meaning"], rows)
