"""Durable, hash-chained record of charges."""

from discreet.ledger.accounts.account_rows import DATASET, Account
from discreet.ledger.chain.anchor import Anchor
from discreet.ledger.chain.entries import Entry
from discreet.ledger.chain.verify import Verification, verify
from discreet.ledger.charges.ledger import Ledger
from discreet.ledger.charges.requests import Request, Reservation

__all__ = ["DATASET", "Account", "Anchor", "Entry", "Ledger", "Request", "Reservation", "Verification", "verify"]
