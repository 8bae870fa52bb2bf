"""A question to be paid for, and one that is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from discreet.errors import BadInput
from discreet.ledger.entries import canonical
from discreet.ledger.releases import describe
from discreet.mechanisms import Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to be paid for. `question` names its canonical form: the plan and the data version.

    Request ids belong to their analyst; None is the owner at the keyboard, who charges the dataset only.
    """

    id: str
    question: str
    releases: tuple[Mechanism, ...]
    analyst: str | None = None
    label: str = ""

    def __post_init__(self) -> None:
        check_text(self.id, "A request id", most=200)
        check_text(self.question, "A question", most=200)
        if self.analyst is not None:
            check_text(self.analyst, "An analyst's name", most=200)
        if self.label:
            check_text(self.label, "A label", most=20_000)
        if not self.releases:
            raise BadInput("A request needs a price.", next_step="Say which mechanisms it releases.")

    @property
    def key(self) -> str:
        """What makes two questions the same: plan, data version and price."""
        priced = {"question": self.question, "releases": [describe(release) for release in self.releases]}
        return hashlib.sha256(canonical(priced).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Reservation:
    """A request that is paid. `answer` is there when the question was answered before."""

    request: Request
    receipt: str
    charged: tuple[str, ...]
    answer: bytes | None

    @property
    def replayed(self) -> bool:
        return self.answer is not None


def check_text(text: object, what: str, *, most: int) -> None:
    """Text that every database keeps as it is."""
    try:
        storable = isinstance(text, str) and 0 < len(text) <= most and b"\0" not in text.encode()
    except UnicodeEncodeError:
        storable = False
    if not storable:
        raise BadInput(f"{what} must be text of 1 to {most:,} characters, without NUL.", next_step="Give another one.")
