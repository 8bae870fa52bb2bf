"""The methods by their names."""

from __future__ import annotations

from discreet.synthetic.aim import Aim
from discreet.synthetic.independent import Independent
from discreet.synthetic.methods import Method

METHODS: dict[str, Method] = {"aim": Aim(), "independent": Independent()}
"""The first is the default."""
