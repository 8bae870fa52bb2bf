"""Charges: requests, stored answers, runs and watches."""
