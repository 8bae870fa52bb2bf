"""The budget that cannot be cheated: durable, hash-chained charges."""

from discreet.ledger.accounts import DATASET, Account
from discreet.ledger.anchor import Anchor
from discreet.ledger.entries import Entry
from discreet.ledger.ledger import Ledger
from discreet.ledger.requests import Request, Reservation
from discreet.ledger.verify import Verification, verify

__all__ = ["DATASET", "Account", "Anchor", "Entry", "Ledger", "Request", "Reservation", "Verification", "verify"]
