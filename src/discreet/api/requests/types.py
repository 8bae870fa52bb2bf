"""Types of parameters that have a JSON form and a form on the command line of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from discreet.core.exact import Number

Counts: TypeAlias = Mapping[str, int]
"""A whole number for each of some columns."""
Prices: TypeAlias = Mapping[str, Number]
"""An epsilon for each of some columns."""
Marginals: TypeAlias = int | Iterable[Iterable[str]]
"""All marginals over k columns, or a list of marginals by the names of their columns."""
