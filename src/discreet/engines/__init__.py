"""A question to exact integers: the protocol of engines, and DuckDB behind it."""

from discreet.engines.base import Engine
from discreet.engines.duck import DuckEngine
from discreet.engines.looking import look_at
from discreet.engines.places import Places
from discreet.engines.sources import fingerprint, with_public_columns

__all__ = ["DuckEngine", "Engine", "Places", "fingerprint", "look_at", "with_public_columns"]
