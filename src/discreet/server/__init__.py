"""The door: an HTTP API, keys for those who may ask, and a page."""
