"""A curator as most tests want it: over books that are begun with the first one who opens them."""

from __future__ import annotations

from functools import partial

from discreet import curator
from discreet.accounting import open_filter
from discreet.catalog import load_catalog

CAP = open_filter(2, 1e-6)
"""Of an account that is opened with an analyst's key."""
open_curator = partial(curator.open_curator, new_books=True)


def begin_books(config):
    """What `discreet ledger new` does; the path of the ledger."""
    catalog = load_catalog(config)
    curator.begin_books(catalog).close()
    return catalog.ledger
