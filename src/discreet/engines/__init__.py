"""A question to exact integers: the protocol of engines, and DuckDB behind it."""

from discreet.engines.base import Engine
from discreet.engines.duck import DuckEngine
from discreet.engines.fitting import ColumnFit, TableFit, fits
from discreet.engines.levels import mentions
from discreet.engines.looking import look_at
from discreet.engines.places import Places
from discreet.engines.snapshot import Tell
from discreet.engines.sources import fingerprint, with_public_columns

__all__ = [
    "ColumnFit",
    "DuckEngine",
    "Engine",
    "Places",
    "TableFit",
    "Tell",
    "fingerprint",
    "fits",
    "look_at",
    "mentions",
    "with_public_columns",
]
