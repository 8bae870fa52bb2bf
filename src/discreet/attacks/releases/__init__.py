"""Releases that deserve to fall: each is a way in which people published data or answered queries, and were wrong."""
