"""A question to exact integers: the protocol of engines, and DuckDB behind it."""

from discreet.engines.base import Engine
from discreet.engines.duck import DuckEngine
from discreet.engines.places import Places
from discreet.engines.sources import fingerprint, schemas_at, with_public_columns

__all__ = ["DuckEngine", "Engine", "Places", "fingerprint", "schemas_at", "with_public_columns"]
