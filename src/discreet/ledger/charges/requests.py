"""A query to be paid for, and one that is."""

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
    """A query to be paid for. `query` names its canonical form: the plan and the data version.

    `format` says how that name was made, and what an answer's bytes mean: a query of one format is never answered
    with what is stored for another. `label` is the query as it was worded, for people; `name` is what a release that is looked up
    later is called, each of them differently.

    Request ids belong to their analyst; None is the owner at the keyboard, who charges the dataset only.
    """

    id: str
    query: str
    releases: tuple[Mechanism, ...]
    analyst: str | None = None
    label: str = ""
    name: str | None = None
    edges: str | None = None
    """The table of edges that the price is about, one by one; None where it is about people."""
    format: int = 1
    key: str = field(init=False)
    """What makes two queries the same: plan, data version, price and format."""

    def __post_init__(self) -> None:
        check_text(self.id, "A request id", most=200)
        check_text(self.query, "A question", most=200)
        if self.analyst is not None:
            check_text(self.analyst, "An analyst's name", most=200)
        if self.label:
            check_text(self.label, "A label", most=20_000)
        if self.name is not None:
            check_text(self.name, "The name of a release", most=200)
        if type(self.format) is not int or self.format < 1:
            raise BadInput("The format of a question is a whole number from 1 on.", next_step="Leave it out for 1.")
        if not self.releases:
            raise BadInput("A request needs a price.", next_step="Say which mechanisms it releases.")
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
    """A request that is paid. `answer` is there when the query was answered before."""

    request: Request
    receipt: str
    charged: tuple[str, ...]
    answer: bytes | None

    @property
    def replayed(self) -> bool:
        return self.answer is not None

    @property
    def is_free(self) -> bool:
        """Whether nobody paid: an analyst's own account pays once for what others asked before."""
        return self.replayed and not self.charged


def check_text(text: object, what: str, *, most: int) -> None:
    """Text that every database keeps as it is."""
    try:
        storable = isinstance(text, str) and 0 < len(text) <= most and b"\0" not in text.encode()
    except UnicodeEncodeError:
        storable = False
    if not storable:
        raise BadInput(f"{what} must be text of 1 to {most:,} characters, without NUL.", next_step="Give another one.")
