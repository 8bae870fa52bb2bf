"""The door: an HTTP API, keys for those who may ask, and a page."""

from discreet.server.app import create_app
from discreet.server.keys import KeyBook

__all__ = ["KeyBook", "create_app"]
