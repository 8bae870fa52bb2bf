"""A curator as most tests want it: over books that are begun with the first one who opens them."""

from __future__ import annotations

from functools import partial

import pyarrow.parquet as pq

from discreet.accounting import open_filter
from discreet.api import opening
from discreet.catalog import load_catalog
from discreet.ledger.accounts import declared_ledger

CAP = open_filter(2, 1e-6)
"""Of an account that is opened with an analyst's key."""
open_curator = partial(opening.open_curator, create_ledger=True)


def shorten(file):
    """A Parquet file without its last row."""
    rows = pq.read_table(file)
    pq.write_table(rows.slice(0, rows.num_rows - 1), file)


def start_ledger(config):
    """What `discreet ledger new` does; the path of the ledger."""
    catalog = load_catalog(config)
    declared_ledger.start_ledger(catalog).close()
    return catalog.ledger
