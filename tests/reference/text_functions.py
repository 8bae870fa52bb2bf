"""Meanings of functions of text: sequences of code points, compared as such."""

from __future__ import annotations

import re
from datetime import date, datetime

from tests.reference.number_functions import as_read, integer, strict


def _pairs():
    """Letters below U+0530 that have one capital and one small form, each the other's."""
    for code in range(0x530):
        capital = chr(code)
        small = capital.lower()
        if len(small) == 1 and small != capital and small.upper() == capital and ord(small) < 0x530:
            yield capital, small


_SMALL = {ord(capital): small for capital, small in _pairs()}
_CAPITAL = {ord(small): capital for capital, small in _pairs()}


@strict
def lower(text):
    return text.translate(_SMALL)


@strict
def upper(text):
    return text.translate(_CAPITAL)


@strict
def length(text):
    return len(text)


@strict
def substring(text, start, count):
    return None if start < 1 or count < 0 else text[start - 1 : start - 1 + count]


@strict
def substring_from(text, start):
    return None if start < 1 else text[start - 1 :]


@strict
def left(text, count):
    return None if count < 0 else text[:count]


@strict
def right(text, count):
    return None if count < 0 else text[max(len(text) - count, 0) :]


@strict
def trim(text):
    return text.strip(" ")


@strict
def ltrim(text):
    return text.lstrip(" ")


@strict
def rtrim(text):
    return text.rstrip(" ")


@strict
def starts_with(text, part):
    return text.startswith(part)


@strict
def ends_with(text, part):
    return text.endswith(part)


@strict
def contains(text, part):
    return part in text


@strict
def position(text, part):
    return text.find(part) + 1


@strict
def like(text, pattern):
    """% is any text, _ one code point, everything else itself."""
    signs = {"%": ".*", "_": "."}
    return re.fullmatch("".join(signs.get(sign, re.escape(sign)) for sign in pattern), text, re.DOTALL) is not None


@strict
def ilike(text, pattern):
    return like(lower(text), lower(pattern))


@strict
def replace(text, old, new):
    return text.replace(old, new)


@strict
def split_part(text, separator, place):
    parts = text.split(separator)
    return parts[place - 1] if place <= len(parts) else ""


def concat(*texts):
    return "".join(text for text in texts if text is not None)


@strict
def joined(a, b):
    return a + b


# To and from text


@strict
def text_of_int(value):
    return str(value)


@strict
def text_of_date(value):
    return value.isoformat()


@strict
def text_of_timestamp(value):
    """A fraction without the zeros at its end, and none where it is nothing."""
    written = f"{value.date().isoformat()} {value.hour:02d}:{value.minute:02d}:{value.second:02d}"
    return f"{written}.{value.microsecond:06d}".rstrip("0") if value.microsecond else written


@strict
def text_of_bool(value):
    return "true" if value else "false"


_INTEGER = re.compile(r" *[+-]?[0-9]{1,18} *", re.ASCII)
_REAL = re.compile(r" *[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})? *", re.ASCII)
_DATE = re.compile(r" *([0-9]{4})-([0-9]{2})-([0-9]{2}) *", re.ASCII)
_TIMESTAMP = re.compile(r" *(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)? *", re.ASCII)
_TRUE, _FALSE = {"t", "true", "yes", "y", "1"}, {"f", "false", "no", "n", "0"}


@strict
def int_of_text(text):
    return integer(int(text.strip(" "))) if _INTEGER.fullmatch(text) else None


@strict
def real_of_text(text):
    return as_read(float(text.strip(" "))) if _REAL.fullmatch(text) else None


@strict
def date_of_text(text):
    fitting = _DATE.fullmatch(text)
    if fitting is None:
        return None
    try:
        return date(*map(int, fitting.groups()))
    except ValueError:
        return None


@strict
def timestamp_of_text(text):
    fitting = _TIMESTAMP.fullmatch(text)
    if fitting is None:
        return None
    *whole, fraction = (part or "" for part in fitting.groups())
    try:
        return datetime(*(int(part or 0) for part in whole), int(fraction.ljust(6, "0")))
    except ValueError:
        return None


@strict
def bool_of_text(text):
    word = text.strip(" ")
    if not word.isascii():
        return None
    word = word.lower()
    return True if word in _TRUE else False if word in _FALSE else None


MEANINGS = {
    "lower": lower, "upper": upper, "length": length, "substring": substring, "substring_from": substring_from,
    "left": left, "right": right, "trim": trim, "ltrim": ltrim, "rtrim": rtrim,
    "starts_with": starts_with, "ends_with": ends_with, "contains": contains, "position": position,
    "like": like, "ilike": ilike, "replace": replace, "split_part": split_part, "concat": concat, "joined": joined,
    "text_of_int": text_of_int, "text_of_date": text_of_date, "text_of_timestamp": text_of_timestamp, "timestamp_of_text": timestamp_of_text, "text_of_bool": text_of_bool,
    "int_of_text": int_of_text, "real_of_text": real_of_text, "date_of_text": date_of_text, "bool_of_text": bool_of_text,
}  # fmt: skip
