"""`discreet ledger new`, `backup`, `anchor` and `seal`: create, copy, anchor and seal a ledger."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from discreet.catalog import anchor_beside, load_catalog
from discreet.cli.owner.ledger_command import Place, place_of, print_verification
from discreet.cli.terminal.options import CATALOG, ConfigOption, JsonOption, LedgerOption
from discreet.cli.terminal.printing import say_done
from discreet.errors import BadInput
from discreet.ledger import Anchor, Ledger, verify
from discreet.ledger.accounts.declared_ledger import start_ledger
from discreet.ledger.charges.ledger_opening import seal_ledger


def new(*, where: LedgerOption = None, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """Create a ledger. Only this command and `init` do."""
    if where is None:
        place = place_of(None, config)
        start_ledger(load_catalog(config)).close()
    else:
        place = Place(where, anchor_beside(where))
        Ledger.new(where, anchor=place.anchor).close()
    line = f"created a ledger; its anchor is {place.anchor}" if place.anchor else "created a ledger"
    say_done(line, place._asdict(), as_json=as_json)


def backup(
    place: Annotated[Path, typer.Argument(help="New file to write.")],
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Copy a consistent state of the ledger to a new file while it is in use. Keep the secret in another place."""
    with closing(place_of(where, config).open()) as ledger:
        ledger.copy_to(str(place))
    say_done(f"copied the ledger to {place}", {"copy": str(place)}, as_json=as_json)


def renew_anchor(*, where: LedgerOption = None, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """Verify the whole ledger and write its anchor again, if the anchor is lost or was never made. Prints the head."""
    place = place_of(where, config)
    target = place.anchor or (anchor_beside(where) if where else None)
    if target is None:
        raise BadInput(
            "This ledger has no anchor.", next_step="Take `anchor = false` out of [ledger], or give it a path."
        )
    with closing(place.unchecked()) as ledger:
        print_verification(verify(ledger, anchor=Anchor(target).noted), as_json=as_json)
        Anchor(target).recreate(ledger.head())
    if not as_json:
        typer.echo(f"noted {Anchor(target).noted} in {target}")


def seal(
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    earlier: Annotated[
        Path | None, typer.Option("--earlier", help="File with the secret that the ledger is sealed with now.")
    ] = None,
    lost: Annotated[
        bool,
        typer.Option(
            "--lost", help="The earlier secret is lost: trust the hash chain without its seals. Inspect it first."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Seal every entry again with the current secret, after the secret was changed or lost."""
    place = place_of(where, config)
    entry = seal_ledger(place.ledger, anchor=place.anchor, earlier=_read(earlier, place), lost=lost)
    line = f"sealed all {entry.seq:,} entries; keys made under another secret no longer work"
    say_done(line, {"entries": entry.seq}, as_json=as_json)


def _read(file: Path | None, place: Place) -> bytes | None:
    """Read the earlier secret: raw bytes for a ledger file; stripped, as `DISCREET_SECRET_FILE` is, for a database URL."""
    try:
        secret = None if file is None else file.read_bytes()
        return secret.strip() if secret is not None and "://" in place.ledger else secret
    except OSError:
        raise BadInput(
            "The file of the earlier secret cannot be read.", next_step="Give the path of the file."
        ) from None
