"""Why nobody makes synthetic data that are good for every question: a database of signatures.

    python examples/signatures.py [--people 5000] [--epsilon 2]

Everybody has a random message and its Ed25519 signature by one key, bit by bit: 64 and 512 columns. "What share of the rows is validly signed?" is one
counting query, and the answer is 1. The curator answers it with noise as any other; synthetic rows of the same curator get every column right, and not
one of them is validly signed. That is no weakness of a method. A valid row would be either the message of somebody
who is there, which differential privacy lets out with a chance of about 2**-64, or a new message with a signature, and whoever makes one without
the secret key has broken Ed25519 (Dwork, Naor, Reingold, Rothblum, Vadhan 2009). Ullman and Vadhan 2011 write the check as conjunctions of two columns:
so there are databases for which no efficient curator makes synthetic rows that are good for all pairs, though it can answer every pair by itself.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from numpy.typing import NDArray

from discreet.api.opening import open_curator
from discreet.catalog import parse_catalog

MESSAGE, SIGNATURE = 64, 512
NAMES = [*(f"m{bit}" for bit in range(MESSAGE)), *(f"s{bit}" for bit in range(SIGNATURE))]
CATALOG = """
[source]
path = "."
[ledger]
path = ":memory:"
[budget]
epsilon = 10
delta = 1e-6
[tables.signed]
privacy_unit = "row"
columns.valid = { type = "boolean" }
""" + "".join(f'columns.{name} = {{ type = "boolean" }}\n' for name in NAMES)


def signed_rows(people: int, key: Ed25519PrivateKey) -> NDArray[np.uint8]:
    """A row of bits for everybody: a random message and its signature.

    Args:
        people: How many.
        key: Who signs.
    """
    messages = [secrets.token_bytes(MESSAGE // 8) for _ in range(people)]
    return np.stack([np.unpackbits(np.frombuffer(message + key.sign(message), np.uint8)) for message in messages])


def valid(rows: NDArray[np.uint8], key: Ed25519PublicKey) -> int:
    """How many rows are validly signed.

    Args:
        rows: Of bits.
        key: By whom.
    """
    return sum(_is_valid(np.packbits(row).tobytes(), key) for row in rows)


def _is_valid(row: bytes, key: Ed25519PublicKey) -> bool:
    try:
        key.verify(row[MESSAGE // 8 :], row[: MESSAGE // 8])
    except InvalidSignature:
        return False
    return True


def show(people: int, methods: Sequence[str], epsilon: float) -> None:
    """Ask for the number, make synthetic rows, and look for a signature in them.

    Args:
        people: How many.
        methods: Of synthetic data, by their names.
        epsilon: What each of them may cost.
    """
    key = Ed25519PrivateKey.generate()
    rows = signed_rows(people, key)
    print(f"{valid(rows, key.public_key()):,} of {people:,} rows are validly signed.")
    bits = {name: pa.array(rows[:, place].astype(bool)) for place, name in enumerate(NAMES)}
    frame = pa.table({**bits, "valid": pa.array([True] * people)})
    with open_curator(catalog=parse_catalog(CATALOG), frames={"signed": frame}) as curator:
        count = curator.ask("SELECT COUNT(*) AS n FROM signed WHERE valid", epsilon=1).rows[0]["n"]
        print(f"The curator, asked for their number at epsilon 1: {count:,}.")
        for method in methods:
            release = curator.synthesize(
                f"SELECT {', '.join(NAMES)} FROM signed",  # noqa: S608  our own names
                epsilon=epsilon,
                delta=1e-9,
                workload=list(pairwise(NAMES)),
                method=method,
            )
            made = release.sample(people)
            copies = np.stack([made[name].to_numpy(zero_copy_only=False) for name in NAMES], axis=1).astype(np.uint8)
            off = np.abs(copies.mean(axis=0) - rows.mean(axis=0)).mean()
            found = valid(copies, key.public_key())
            print(
                f"Synthetic rows by {method!r}: the share of ones in a column is off by {off:.3f} on average; {found} of {people:,} are validly signed."
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=5000)
    parser.add_argument("--epsilon", type=float, default=2)
    options = parser.parse_args()
    show(options.people, ("independent", "fixed"), options.epsilon)
