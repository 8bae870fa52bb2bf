"""Requests for a charge, and reservations."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import BadInput
from discreet.ledger.chain.entries import canonical
from discreet.ledger.charges.open_runs import check_one_budget
from discreet.ledger.charges.release_json import mechanism_to_json
from discreet.mechanisms import Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A query to be charged. `query` identifies its canonical form: plan and data version.

    `format` is the version of that form and of the answer's bytes: a query of one format never gets an answer stored
    for another. `label` is the text of the query; `name` is the name under which its release can be found later.

    Each analyst has their own request ids. An analyst of `None` is the local data owner, who charges the dataset only.
    """

    id: str
    query: str
    releases: tuple[Mechanism, ...]
    analyst: str | None = None
    label: str = ""
    name: str | None = None
    edges: str | None = None
    """Table whose single edges the cost is about; `None` if it is about persons."""
    format: int = 1
    key: str = field(init=False)
    """Equal for equal queries: hash of plan, data version, cost and format."""

    def __post_init__(self) -> None:
        check_text(self.id, "A request id", most=200)
        check_text(self.query, "A query", most=200)
        if self.analyst is not None:
            check_text(self.analyst, "An analyst's name", most=200)
        if self.label:
            check_text(self.label, "A label", most=20_000)
        if self.name is not None:
            check_text(self.name, "The name of a release", most=200)
        if type(self.format) is not int or self.format < 1:
            raise BadInput("The format of a query is a whole number, at least 1.", next_step="Leave it out for 1.")
        if not self.releases:
            raise BadInput("A request needs a cost.", next_step="Name the mechanisms that it releases.")
        check_one_budget(self.releases)
        object.__setattr__(self, "key", self._key())

    def _key(self) -> str:
        priced: dict[str, Any] = {
            "question": self.query,
            "releases": [mechanism_to_json(release) for release in self.releases],
        }
        if self.format > 1:
            priced["format"] = self.format
        return hashlib.sha256(canonical(priced).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charged request. `answer` is set if the query was answered before."""

    request: Request
    receipt: str
    charged: tuple[str, ...]
    answer: bytes | None

    @property
    def replayed(self) -> bool:
        return self.answer is not None

    @property
    def is_free(self) -> bool:
        """Whether no account was charged. The first repeat of another analyst's query charges the own account."""
        return self.replayed and not self.charged


def check_text(text: object, what: str, *, most: int) -> None:
    """Refuse text that not every database stores unchanged."""
    try:
        storable = isinstance(text, str) and 0 < len(text) <= most and b"\0" not in text.encode()
    except UnicodeEncodeError:
        storable = False
    if not storable:
        raise BadInput(f"{what} must be text of 1 to {most:,} characters, without NUL.", next_step="Give another one.")
