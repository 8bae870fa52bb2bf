"""Options that many commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

LedgerOption = Annotated[
    str | None,
    typer.Option("--ledger", help="Path or postgresql:// URL. Default: [ledger] path in the catalog."),
]
ConfigOption = Annotated[Path, typer.Option("--config", help="The catalog.")]
AnalystOption = Annotated[
    str | None, typer.Option("--analyst", envvar="DISCREET_ANALYST", help="Analyst to charge. Default: the data owner.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
CATALOG = Path("discreet.toml")
