"""The methods by their names."""

from __future__ import annotations

from discreet.synthetic.aim import Aim
from discreet.synthetic.fixed import Fixed
from discreet.synthetic.independent import Independent
from discreet.synthetic.methods import Method
from discreet.synthetic.mst import Mst
from discreet.synthetic.mwem import Mwem
from discreet.synthetic.smalldb import SmallDb

METHODS: dict[str, Method] = {
    "aim": Aim(),
    "mst": Mst(),
    "mwem": Mwem(),
    "fixed": Fixed(),
    "independent": Independent(),
    "smalldb": SmallDb(),
}
"""The first is the default."""
