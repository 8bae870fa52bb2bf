"""What each function of the algebra means, in plain Python: NULL is None. Written from the specification, never from a template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tests.reference import date_functions, number_functions, text_functions

Meaning = Callable[..., Any]
Ask = Callable[[str, Sequence[Any]], Any]
"""Gives the value of a transcendental function (ln, log2, log10, exp, pow) at arguments: one value asked of an engine."""


def eq(a, b):
    return None if a is None or b is None else a == b


def ne(a, b):
    return None if a is None or b is None else a != b


def lt(a, b):
    return None if a is None or b is None else a < b


def le(a, b):
    return None if a is None or b is None else a <= b


def gt(a, b):
    return lt(b, a)


def ge(a, b):
    return le(b, a)


def same(a, b):
    return a is b if a is None or b is None else a == b


def differs(a, b):
    return not same(a, b)


def is_null(a):
    return a is None


def not_null(a):
    return a is not None


def and_(*conditions):
    """False wins, then NULL."""
    if any(condition is False for condition in conditions):
        return False
    return None if any(condition is None for condition in conditions) else True


def or_(*conditions):
    """True wins, then NULL."""
    if any(condition is True for condition in conditions):
        return True
    return None if any(condition is None for condition in conditions) else False


def not_(condition):
    return None if condition is None else not condition


def between(value, low, high):
    return and_(ge(value, low), le(value, high))


def in_(value, *others):
    return or_(*(eq(value, other) for other in others))


def is_true(condition):
    return condition is True


def is_false(condition):
    return condition is False


def case(*parts):
    """case(c1, v1, c2, v2, …, else): the first condition that is true."""
    *branches, otherwise = parts
    for condition, value in zip(branches[::2], branches[1::2], strict=True):
        if condition is True:
            return value
    return otherwise


def coalesce(*values):
    return next((value for value in values if value is not None), None)


def nullif(a, b):
    return None if eq(a, b) is True else a


def least(*values):
    return min((value for value in values if value is not None), default=None)


def greatest(*values):
    return max((value for value in values if value is not None), default=None)


def to_int(condition):
    return None if condition is None else int(condition)


_LOGIC: dict[str, Meaning] = {
    "eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge, "same": same, "differs": differs,
    "is_null": is_null, "not_null": not_null, "between": between, "in": in_,
    "and": and_, "or": or_, "not": not_, "is_true": is_true, "is_false": is_false,
    "case": case, "coalesce": coalesce, "nullif": nullif, "least": least, "greatest": greatest, "to_int": to_int,
}  # fmt: skip

EVERY: dict[str, Meaning] = {
    **_LOGIC,
    **number_functions.MEANINGS,
    **text_functions.MEANINGS,
    **date_functions.MEANINGS,
}
"""By the name that stands in the registry."""


@lru_cache(maxsize=8)
def meanings(ask: Ask | None = None) -> dict[str, Meaning]:
    """All meanings; with `ask`, transcendental values are what somebody else says they are."""
    if ask is None:
        return EVERY
    asked = {name: _asking(ask, name) for name in number_functions.TRANSCENDENTAL}
    return {**EVERY, **asked}


def _asking(ask: Ask, name: str) -> Meaning:
    return lambda *args: None if any(arg is None for arg in args) else ask(name, args)
