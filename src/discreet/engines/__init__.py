"""Plan to exact integers."""

from discreet.engines.duck import DuckEngine

__all__ = ["DuckEngine"]
