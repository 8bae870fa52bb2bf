"""What every run over people's rows takes beside its purpose: a price, and how rows become codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

from discreet.core.exact import Number
from discreet.errors import BadInput
from discreet.sql.reader.query_text import Parameters


class RunOptions(TypedDict, total=False):
    """One price, and what is not as usual."""

    epsilon: Annotated[
        Number | None,
        "With `delta`, what all of it may cost; alone where the account has no delta. There is no default.",
    ]
    delta: Annotated[Number | None, "At which epsilon is converted; it is not spent."]
    rho: Annotated[Number | None, "The price as zCDP, instead of both."]
    bins: Annotated[Mapping[str, int] | None, "How many bins numbers have, by column, where it shall not be 32."]
    parameters: Annotated[Parameters, "A mapping for :name, or a sequence for ?."]
    reuse: Annotated[
        bool,
        "Whether what was measured of the same rows enters for free, if you have paid for it or it is published. Another name makes another release then.",
    ]


def check_options(given: Mapping[str, object], known: type) -> None:
    """Refuse what is no option: a name misspelt would be left out, and what only an owner declares might be taken for granted.

    Args:
        given: By name.
        known: The `TypedDict` that has them.
    """
    foreign = sorted(given.keys() - known.__annotations__.keys())
    if foreign:
        raise BadInput(f"There is no option {foreign[0]}.", next_step=f"Use: {', '.join(known.__annotations__)}.")
