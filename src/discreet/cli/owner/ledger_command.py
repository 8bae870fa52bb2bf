"""`discreet ledger`: show and verify the ledger, and manage its accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.table import Table

from discreet.accounting import open_filter
from discreet.accounting.periods import Period
from discreet.catalog import anchor_beside, load_catalog
from discreet.cli.terminal.exit_codes import ExitCode
from discreet.cli.terminal.options import CATALOG, ConfigOption, JsonOption, LedgerOption
from discreet.cli.terminal.printing import print_json, say_done
from discreet.cli.terminal.terminal_tables import add_row, open_screen, plain_table
from discreet.core.number_format import amount
from discreet.errors import BadInput
from discreet.ledger import Anchor, Entry, Ledger, Verification, verify
from discreet.ledger.accounts.catalog_binding import describe_units
from discreet.ledger.chain.anchor import missing_anchor
from discreet.results.ledger_views import holder


class Place(NamedTuple):
    """Where a ledger is stored, and where its anchor is."""

    ledger: str
    anchor: str | None

    def open(self) -> Ledger:
        """Open the ledger. Refused if it is older than its anchor."""
        return Ledger.open(self.ledger, anchor=self.anchor)

    def unchecked(self) -> Ledger:
        """Open the ledger without checks, to inspect a damaged one."""
        return Ledger.look(self.ledger)


def place_of(where: str | None, config: Path) -> Place:
    """Location of the ledger at `where`, with the anchor beside it if one exists; otherwise that of the catalog."""
    if where is not None:
        beside = anchor_beside(where)
        return Place(where, beside if beside is not None and Path(beside).exists() else None)
    if not config.exists():
        raise BadInput(
            "There is no catalog here that says where the ledger is.",
            next_step="Give --ledger, or --config, or go to the folder of your discreet.toml.",
        )
    catalog = load_catalog(config)
    return Place(catalog.ledger, catalog.anchor)


def show(
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
    last: Annotated[int, typer.Option("--last", help="Number of entries to show.")] = 20,
) -> None:
    """Show the last entries of the ledger."""
    entries = place_of(where, config).unchecked().history(last=last)
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    open_screen().print("", _entry_table(entries), "", sep="\n")


def head(*, where: LedgerOption = None, config: ConfigOption = CATALOG, as_json: JsonOption = False) -> None:
    """Print number:hash of the last entry. Keep it elsewhere: `verify --anchor` then detects truncation."""
    entry = place_of(where, config).unchecked().head()
    number, digest = (entry.seq, entry.hash) if entry else (0, "")
    say_done(f"{number}:{digest}", {"entry": number, "hash": digest}, as_json=as_json)


def find_receipt(
    receipt: Annotated[str, typer.Argument(help="Receipt as printed with the answer.")],
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Show the charge of a receipt, if the ledger has it."""
    with closing(place_of(where, config).open()) as ledger:
        charges = ledger.charges_with(receipt)
    if not charges:
        raise BadInput(
            "This ledger has no charge with this receipt.", next_step="Give the receipt as printed with the answer."
        )
    if as_json:
        print_json([asdict(entry) for entry in charges])
        return
    open_screen().print("", _entry_table(charges), "", sep="\n")


def verify_ledger(
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
    anchor: Annotated[str | None, typer.Option("--anchor", help="Head that was noted earlier, number:hash.")] = None,
) -> None:
    """Recompute the hash chain, every cost, every total and the hash of every answer; compare with the anchor."""
    place = place_of(where, config)
    noted = Anchor(place.anchor).noted
    if place.anchor is not None and noted is None:
        raise missing_anchor()
    with closing(place.unchecked()) as ledger:
        verification = verify(ledger, anchor=noted, progress=_print_progress)
        if anchor is not None:
            earlier = verify(ledger, anchor=anchor)
            verification = replace(
                verification, problems=tuple(dict.fromkeys(verification.problems + earlier.problems))
            )
    print_verification(verification, as_json=as_json)
    if noted is None and anchor is None and not as_json:
        typer.echo("note: there is no anchor, so a truncated end cannot be detected")


def print_verification(verification: Verification, *, as_json: bool) -> None:
    """Print the result of a verification. Exit with a failure if the ledger is not sound."""
    if as_json:
        print_json({**asdict(verification), "sound": verification.sound})
    else:
        _print_findings(verification)
    if not verification.sound:
        raise typer.Exit(ExitCode.FAILURE)


def _print_findings(verification: Verification) -> None:
    for problem in verification.problems:
        typer.echo(f"problem: {problem}")
    for remark in verification.remarks:
        typer.echo(f"remark: {remark}")
    if verification.sound:
        typer.echo(f"sound: {verification.entries:,} entries, head {verification.head[:16]}")
    else:
        typer.echo("The ledger is damaged. Do not serve it until the data owner knows why.")


def cap(
    analyst: Annotated[str | None, typer.Argument(help="Analyst. Default: the dataset's account.")] = None,
    *,
    epsilon: Annotated[float, typer.Option("--epsilon", help="Cap for epsilon. There is no default.")],
    delta: Annotated[float, typer.Option("--delta", help="Cap of delta.")] = 0.0,
    renews: Annotated[
        Period | None, typer.Option("--renews", help="Apply the cap per calendar period (UTC) instead of in total.")
    ] = None,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Set a cap. It overrides the catalog until another is set or the catalog declares a lower one."""
    with closing(place_of(where, config).open()) as ledger:
        ledger.open_account(open_filter(epsilon, delta, renews=renews), analyst=analyst)
    period = "" if renews is None else f" each {renews.noun}"
    line = f"{analyst or 'the dataset'}: ε {amount(epsilon)}, δ {amount(delta)}{period} from now on"
    fields = {"analyst": analyst, "epsilon": epsilon, "delta": delta, "renews": renews and renews.value}
    say_done(line, fields, as_json=as_json)


def _print_progress(done: int, entries: int) -> None:
    typer.echo(f"{done:,} of {entries:,} entries", err=True)


def freeze(
    analyst: Annotated[str, typer.Argument(help="Whose account.")],
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Freeze an analyst's account: no charges and no replays."""
    _set_frozen(analyst, place_of(where, config), frozen=True, as_json=as_json)


def thaw(
    analyst: Annotated[str, typer.Argument(help="Whose account.")],
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Unfreeze an analyst's account, after the failure was investigated."""
    _set_frozen(analyst, place_of(where, config), frozen=False, as_json=as_json)


def _set_frozen(analyst: str, place: Place, *, frozen: bool, as_json: bool) -> None:
    with closing(place.open()) as ledger:
        ledger.freeze(analyst, frozen=frozen)
    line = f"{analyst} is frozen" if frozen else f"{analyst} is active again"
    say_done(line, {"analyst": analyst, "frozen": frozen}, as_json=as_json)


def _entry_table(entries: list[Entry]) -> Table:
    table = plain_table("entry", "time", "what", "about", "by", "hash", right=("entry",))
    for column in table.columns:
        column.no_wrap = column.header != "about"
    for entry in entries:
        add_row(table, *_cells(entry))
    return table


def _cells(entry: Entry) -> tuple[str, ...]:
    time, by = entry.time[:19].replace("T", " "), entry.body.get("by", "")
    return str(entry.seq), time, entry.kind, _about(entry), by, entry.hash[:8]


def _read(written: str) -> str:
    """Format an exact number of the ledger for display."""
    return amount(float(Fraction(written)))


_IN_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "neighbours": lambda body: str(body["relation"]),
    "units": lambda body: describe_units(body["tables"]),
    "refresh": lambda body: f"data version {body['version']}",
    "name": lambda body: f"{body['name']}, by {body['analyst'] or 'the owner'}",
    "publish": lambda body: f"{body['name']}, to all",
    "compare": lambda body: f"{body['name']}, beside exact numbers: {body['what']}",
    "revoke": lambda body: str(body["key"]),
    "source": lambda body: f"of data version {body['version']}",
    "clock": lambda body: f"set back to {body['now'][:19].replace('T', ' ')}",
}


def _about(entry: Entry) -> str:
    body = entry.body
    if entry.kind == "charge" and "of" in body:
        return f"entry {body['of']} asked again by {body['analyst'] or 'the owner'}, free"
    if entry.kind == "charge":
        names = ", ".join(release["mechanism"] for release in body["releases"])
        payers = ", ".join(map(holder, body["accounts"])) or "nobody"
        unit = ", about one edge" if "edges" in body else ""
        return f"{names} for {body['analyst'] or 'the owner'}, paid by {payers}{unit}"
    if entry.kind == "cap":
        kind = ", ".join(filter(None, (body["kind"], body.get("renews"))))
        return f"{holder(body['account'])}: ε {_read(body['epsilon'])}, δ {_read(body['delta'])} ({kind})"
    if entry.kind in _IN_WORDS:
        return _IN_WORDS[entry.kind](body)
    if entry.kind in ("key", "user"):
        return f"{body.get('key', '')} {body.get('name', body.get('user'))}, {body['role'] or 'no role'}".strip()
    if entry.kind == "watch":
        outcome = "failed" if body.get("failed") else "above" if body.get("above") else "not above"
        return f"{outcome} on data version {body['version']}"
    return holder(body.get("account", "")) or f"{entry.kind} {body.get('sha256', '')[:12]}"
