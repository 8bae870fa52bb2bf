"""The database of signatures: the curator counts the valid rows, and no synthetic row is one."""

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from examples.signatures import show, signed_rows, valid


def test_the_curator_counts_what_no_synthetic_row_has(capsys):
    show(40, ["independent"], 5)
    signed, counted, made = capsys.readouterr().out.splitlines()
    assert signed == "40 of 40 rows are validly signed."
    assert 10 < int(counted.rpartition(" ")[2].rstrip(".")) < 70  # off by 30 at epsilon 1: once in 10**13
    assert made.endswith("; 0 of 40 are validly signed.")


def test_one_turned_bit_is_no_signature():
    key = Ed25519PrivateKey.generate()
    rows = signed_rows(3, key)
    assert valid(rows, key.public_key()) == 3
    rows[np.arange(3), [0, 63, 500]] ^= 1
    assert valid(rows, key.public_key()) == 0
