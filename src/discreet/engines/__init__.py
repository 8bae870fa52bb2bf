"""A question to exact integers: the protocol of engines, and DuckDB behind it."""

from discreet.engines.base import Engine
from discreet.engines.duck import DuckEngine
from discreet.engines.fitting import ColumnFit, TableFit, fits
from discreet.engines.levels import mentions
from discreet.engines.looking import look_at
from discreet.engines.places import Places
from discreet.engines.snapshot import Tell, look_at_source
from discreet.engines.sources import with_public_columns
from discreet.engines.standing import Standing, first_fingerprint, place_of
from discreet.engines.weights import is_heavy

__all__ = [
    "ColumnFit",
    "DuckEngine",
    "Engine",
    "Places",
    "Standing",
    "TableFit",
    "Tell",
    "first_fingerprint",
    "fits",
    "is_heavy",
    "look_at",
    "look_at_source",
    "mentions",
    "place_of",
    "with_public_columns",
]
