"""Accounts, their caps and totals, and what binds a ledger to a catalog."""
