"""Plan to exact integers."""

from discreet.engines.duck import DuckEngine
from discreet.engines.sources import schemas_at, with_public_columns

__all__ = ["DuckEngine", "schemas_at", "with_public_columns"]
