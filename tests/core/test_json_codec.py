"""The JSON codec writes our dataclasses and reads them again by their type hints."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.core.exact import Number
from discreet.core.json_codec import from_json, to_json


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    share: Fraction
    colour: Colour = Colour.RED


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    more: tuple[Inner, ...] = ()
    counts: Mapping[str, int] | None = None
    price: Number = 1
    maybe: Inner | None = None


WHOLE = Outer("a", Inner(Fraction(1, 3)), (Inner(Fraction(2)),), {"x": 1}, Fraction(1, 7), Inner(Fraction(0)))


def test_a_dataclass_is_the_same_after_json():
    for thing in (WHOLE, Outer("b", Inner(Fraction(1)))):
        assert from_json(Outer, json.loads(json.dumps(to_json(thing)))) == thing


def test_fractions_and_names_of_values_are_text_and_what_is_not_finite_is_null():
    assert to_json(WHOLE)["inner"] == {"share": "1/3", "colour": "red"}
    assert to_json([math.inf, math.nan, 0.5, None, True]) == [None, None, 0.5, None, True]


def test_what_a_newer_server_says_beside_is_left_out():
    assert from_json(Inner, {"share": "1", "colour": "red", "taste": "sweet"}) == Inner(Fraction(1))
