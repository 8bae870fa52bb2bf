"""Numbers as people write them: as many digits as the uncertainty is worth, for the terminal, for notebooks and for `repr`."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from typing import Any

CONFIDENCE = 0.95
"""The share of answers that shown ± cover."""
_DIGITS = 2
"""Of a ±: the second says whether 1 means 0.5 or 1.5, a third says nothing."""
_MOST_DECIMALS, _MOST_WHOLE = 9, 18
_PLAIN_DIGITS = 6
"""Of a number without a ±."""
_AMOUNT_DIGITS, _SMALLEST_AMOUNT = 3, 1e-3


def figure(value: Any, width: float | None = None) -> str:
    """A cell of an answer as text: a noisy number at the digits of its ± `width`, anything else as it is."""
    if value is None:
        return "—"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in str(value))
    if width is None:
        return str(value) if isinstance(value, int) else _written(value, _decimals_of(value, _PLAIN_DIGITS), cut=True)
    if not math.isfinite(width) or width <= 0:
        return f"{value:,}" if isinstance(value, int) else _written(value, _decimals_of(value, _PLAIN_DIGITS), cut=True)
    return _written(value, _decimals(value, width))


def plus_minus(value: Any, width: float | None) -> str:
    """The ± beside a value, rounded up so that it never says less than it is; that of a date, which is text, in days."""
    if width is None:
        return "—"
    if not math.isfinite(width):
        return "± ∞"
    if width <= 0:
        return "± 0"
    days = " days" if isinstance(value, str) else ""
    return f"± {_written(width, _decimals(value, width), rounding=ROUND_CEILING)}{days}"


def amount(number: float) -> str:
    """A price, a budget or a scale for people to read: three digits or its whole part, 0.284 and not 0.28436011245154963."""
    if number and abs(number) < _SMALLEST_AMOUNT:
        digits, _, power = f"{number:.{_AMOUNT_DIGITS - 1}e}".partition("e")
        return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
    return _written(number, _decimals_of(number, _AMOUNT_DIGITS), cut=True)


def share(number: float) -> str:
    """A part of a whole, for people who compare several: two digits, never with an exponent as long as anybody counts the zeros."""
    return _written(number, _decimals_of(number, _DIGITS), cut=True)


def _decimals(value: Any, width: float) -> int:
    """How many decimals a value and its ± are written with; none where both are whole."""
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return 0 if is_number and float(value).is_integer() and float(width).is_integer() else _decimals_of(width, _DIGITS)


def _decimals_of(number: float, digits: int) -> int:
    """The decimals at which a number shows so many digits."""
    return 0 if not number or not math.isfinite(number) else max(0, digits - 1 - math.floor(math.log10(abs(number))))


def _written(number: float, decimals: int, *, rounding: str = ROUND_HALF_EVEN, cut: bool = False) -> str:
    """With commas; with an exponent where there would be more zeros than anybody counts."""
    if not math.isfinite(number):
        return str(number).replace("inf", "∞")
    if decimals > _MOST_DECIMALS or abs(number) >= 10**_MOST_WHOLE:
        return f"{number:.{_DIGITS - 1}e}"
    rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
    text = f"{rounded or abs(rounded):,f}"
    return text.rstrip("0").rstrip(".") if cut and "." in text else text
