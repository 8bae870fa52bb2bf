"""Synthesis methods by name."""

from __future__ import annotations

from discreet.synthetic.methods.aim import Aim
from discreet.synthetic.methods.fixed import Fixed
from discreet.synthetic.methods.independent import Independent
from discreet.synthetic.methods.method import Method
from discreet.synthetic.methods.mst import Mst
from discreet.synthetic.methods.mwem import Mwem
from discreet.synthetic.methods.smalldb import SmallDb

METHODS: dict[str, Method] = {
    "aim": Aim(),
    "mst": Mst(),
    "mwem": Mwem(),
    "fixed": Fixed(),
    "independent": Independent(),
    "smalldb": SmallDb(),
}
"""The first method is the default."""
