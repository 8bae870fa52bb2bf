"""The books of collections are held to the same promises on both databases."""

from tests.ledger.conftest import postgres_url, where

__all__ = ["postgres_url", "where"]
