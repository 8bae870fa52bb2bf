"""Discreet: differential privacy, end to end."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.loss import Loss, Neighbours
from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.api.local import Curator
    from discreet.api.remote import RemoteCurator
    from discreet.catalog import Catalog
    from discreet.integrations.synthesizer import Synthesizer
    from discreet.mechanisms.statistics.bounded import histogram, mean, sum, variance  # noqa: A004  discreet.sum is what one types
    from discreet.mechanisms.statistics.plain import choose, gaussian, laplace, quantile, randomized_response

__version__ = "0.1.0"

_ROOMS = {
    "accounting",
    "api",
    "attacks",
    "catalog",
    "games",
    "graphs",
    "integrations",
    "learning",
    "ledger",
    "local",
    "mechanisms",
    "samples",
    "workloads",
}
_FUNCTIONS = {
    "discreet.mechanisms.statistics.bounded": {"histogram", "mean", "sum", "variance"},
    "discreet.integrations.synthesizer": {"Synthesizer"},
    "discreet.mechanisms.statistics.plain": {"choose", "gaussian", "laplace", "quantile", "randomized_response"},
}
"""Both are imported when they are first used, so that `import discreet` and every command begin at once."""


def open(  # noqa: A001  discreet.open("discreet.toml") is what one types
    config: str | Path = "discreet.toml",
    *,
    frames: Mapping[str, Any] | None = None,
    catalog: str | Path | Catalog | None = None,
    create_ledger: bool = False,
) -> Curator:
    """The curator that a catalog describes; with `frames`, over pandas, polars or Arrow frames named as its tables.

    A ledger that is missing is refused, and begun only with `create_ledger`.

    Args:
        config: The catalog, `discreet.toml` unless another is named.
        frames: Frames of pandas, polars or Arrow by the names of its tables, instead of its source.
        catalog: A catalog that was read already, or its path; instead of `config`.
        create_ledger: Whether to begin a ledger that is missing.
    """
    from discreet.api.opening import open_curator  # noqa: PLC0415  heavy, and imported when it is used

    return open_curator(config, frames=frames, catalog=catalog, create_ledger=create_ledger)


def connect(url: str, *, key: str) -> RemoteCurator:
    """The curator behind a server: the same calls, wherever the data is.

    Args:
        url: The server's address, such as http://127.0.0.1:8000.
        key: Who asks: a key that the owner made.
    """
    from discreet.api.remote import connect as hold  # noqa: PLC0415

    return hold(url, key=key)


def load_ipython_extension(shell: Any) -> None:
    """%load_ext discreet: a cell that begins with %%discreet is a query."""
    from discreet.integrations.notebook import register  # noqa: PLC0415

    register(shell)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"discreet.{name}")
    for room, names in _FUNCTIONS.items():
        if name in names:
            return getattr(import_module(room), name)
    message = f"module 'discreet' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *__all__})


__all__ = [
    "DiscreetError",
    "Loss",
    "Neighbours",
    "Synthesizer",
    "choose",
    "connect",
    "gaussian",
    "histogram",
    "laplace",
    "mean",
    "open",
    "quantile",
    "randomized_response",
    "sum",
    "variance",
]
