"""`discreet budget` and `discreet ledger`: what is left, who spent it on what, and whether the books are sound."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.accounting import open_filter
from discreet.answering.books import asked, balances, history, holder
from discreet.answering.face import Balance, PastRelease
from discreet.answering.wire import facts_of
from discreet.catalog import anchor_beside, load_catalog
from discreet.cli.exit_codes import ExitCode
from discreet.errors import BadInput
from discreet.ledger import Anchor, Entry, Ledger, Verification, verify
from discreet.ledger.anchor import no_anchor
from discreet.ledger.running import Asked

_BAR = 16
_COLUMNS = ("entry", "time", "what", "about", "by", "hash")

LedgerOption = Annotated[
    str | None,
    typer.Option("--ledger", help="A path or postgresql:// URL; by default [ledger] path in the configuration."),
]
ConfigOption = Annotated[Path, typer.Option("--config", help="The configuration file.")]
AnalystOption = Annotated[
    str | None, typer.Option("--analyst", envvar="DISCREET_ANALYST", help="Who asks; without, the owner.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

ledger = typer.Typer(help="Look at the books and verify them.", no_args_is_help=True, rich_markup_mode=None)


class Place(NamedTuple):
    """Where books are kept, and where their head is noted."""

    ledger: str
    anchor: str | None

    def open(self) -> Ledger:
        """The books, refused if they are older than the note."""
        return Ledger.open(self.ledger, anchor=self.anchor)

    def unchecked(self) -> Ledger:
        """The books as they are, to look at what is wrong with them."""
        return Ledger.look(self.ledger)


def place_of(where: str | None, config: Path) -> Place:
    """The ledger that was named, with an anchor if one lies beside it; or the configuration's."""
    if where is not None:
        beside = anchor_beside(where)
        return Place(where, beside if beside is not None and Path(beside).exists() else None)
    if not config.exists():
        raise BadInput(
            "There is no configuration here to say where the ledger is.",
            next_step="Give --ledger, or --config, or go to the folder of your discreet.toml.",
        )
    catalog = load_catalog(config)
    return Place(catalog.ledger, catalog.anchor)


def budget(
    *,
    where: LedgerOption = None,
    config: ConfigOption = Path("discreet.toml"),
    as_json: JsonOption = False,
    analyst: AnalystOption = None,
    last: Annotated[int, typer.Option("--last", help="How many questions to list.")] = 10,
    before: Annotated[int | None, typer.Option("--before", help="Only questions with a lower number.")] = None,
) -> None:
    """Show what is left, who spent it, and on what; with --analyst, of the dataset and of one analyst."""
    with closing(place_of(where, config).open()) as books:
        accounts, counts = balances(books, analyst), asked(books, analyst)
        questions = history(books, analyst, before=before, limit=last)
    if as_json:
        facts = {"accounts": facts_of(accounts), "asked": asdict(counts), "questions": facts_of(questions)}
        typer.echo(json.dumps(facts))
        return
    show_bill(Console(highlight=False), accounts, questions, counts)


def show_bill(console: Console, accounts: Sequence[Balance], questions: Sequence[PastRelease], counts: Asked) -> None:
    """The accounts, the last questions with who paid for them, and how many there were."""
    console.print()
    console.print(_account_table(accounts))
    if questions:
        console.print()
        console.print(_question_table(list(reversed(questions))))
        console.print(
            f"\n  {counts.questions:,} questions were asked, {counts.free:,} of them free because they were asked before"
        )
    console.print()


@ledger.command("show")
def show(
    *,
    where: LedgerOption = None,
    config: ConfigOption = Path("discreet.toml"),
    as_json: JsonOption = False,
    last: Annotated[int, typer.Option("--last", help="How many entries to show.")] = 20,
) -> None:
    """Show the last entries of the books."""
    entries = place_of(where, config).unchecked().history(last=last)
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in entries]))
        return
    table = _plain_table(*_COLUMNS)
    for entry in entries:
        _add_row(table, *_cells(entry))
    Console(highlight=False).print("", table, "")


@ledger.command("head")
def head(*, where: LedgerOption = None, config: ConfigOption = Path("discreet.toml")) -> None:
    """Print number:hash of the last entry. Note it somewhere else; `verify --anchor` then sees a truncation."""
    entry = place_of(where, config).unchecked().head()
    typer.echo(f"{entry.seq}:{entry.hash}" if entry else "0:")


@ledger.command("receipt")
def find_receipt(
    receipt: Annotated[str, typer.Argument(help="As it came with the answer.")],
    *,
    where: LedgerOption = None,
    config: ConfigOption = Path("discreet.toml"),
) -> None:
    """Say which charge a receipt stands for, if it is in the books."""
    with closing(place_of(where, config).open()) as books:
        charges = books.charges_with(receipt)
    if not charges:
        raise BadInput("No charge in these books has this receipt.", next_step="Give it as it came with the answer.")
    table = _plain_table(*_COLUMNS)
    for entry in charges:
        _add_row(table, *_cells(entry))
    Console(highlight=False).print("", table, "")


@ledger.command("verify")
def verify_books(
    *,
    where: LedgerOption = None,
    config: ConfigOption = Path("discreet.toml"),
    as_json: JsonOption = False,
    anchor: Annotated[str | None, typer.Option("--anchor", help="A head noted earlier, number:hash.")] = None,
) -> None:
    """Recompute the chain, every price, every total and every answer's hash; and look for the head that was noted."""
    place = place_of(where, config)
    noted = Anchor(place.anchor).noted
    if place.anchor is not None and noted is None:
        raise no_anchor()
    with closing(place.unchecked()) as books:
        verification = verify(books, anchor=noted, progress=_told)
        if anchor is not None:
            earlier = verify(books, anchor=anchor)
            verification = replace(
                verification, problems=tuple(dict.fromkeys(verification.problems + earlier.problems))
            )
    if as_json:
        typer.echo(json.dumps({**asdict(verification), "sound": verification.sound}))
        if not verification.sound:
            raise typer.Exit(ExitCode.FAILURE)
        return
    tell(verification)
    if noted is None and anchor is None:
        typer.echo("remark: no head was noted, so a tail that was cut off cannot be seen")


def tell(verification: Verification) -> None:
    """What was found; nothing goes on from books that are not sound."""
    for problem in verification.problems:
        typer.echo(f"problem: {problem}")
    for remark in verification.remarks:
        typer.echo(f"remark: {remark}")
    if not verification.sound:
        typer.echo("The books are not sound. Grant nothing until the owner has found out why.")
        raise typer.Exit(ExitCode.FAILURE)
    typer.echo(f"sound: {verification.entries} entries, head {verification.head[:16]}")


@ledger.command("cap")
def cap(
    analyst: Annotated[str | None, typer.Argument(help="Whose account; without, the dataset's.")] = None,
    *,
    epsilon: Annotated[float, typer.Option("--epsilon", help="The largest loss in all; there is no default.")],
    delta: Annotated[float, typer.Option("--delta", help="The same for delta.")] = 0.0,
    where: LedgerOption = None,
    config: ConfigOption = Path("discreet.toml"),
) -> None:
    """Set a cap. It holds whatever the catalog says, until somebody sets another or the catalog declares a lower one."""
    with closing(place_of(where, config).open()) as books:
        books.open_account(open_filter(epsilon, delta), analyst=analyst)
    typer.echo(f"{analyst or 'the dataset'}: ε {epsilon:g}, δ {delta:g} from now on")


def _told(done: int, entries: int) -> None:
    typer.echo(f"{done:,} of {entries:,} entries", err=True)


@ledger.command("freeze")
def freeze(
    analyst: Annotated[str, typer.Argument(help="Whose account.")],
    *,
    where: LedgerOption = None,
    config: ConfigOption = Path("discreet.toml"),
) -> None:
    """Stop an analyst's account: nothing is granted and nothing replayed."""
    place_of(where, config).open().freeze(analyst)
    typer.echo(f"{analyst} is frozen")


@ledger.command("thaw")
def thaw(
    analyst: Annotated[str, typer.Argument(help="Whose account.")],
    *,
    where: LedgerOption = None,
    config: ConfigOption = Path("discreet.toml"),
) -> None:
    """Let an analyst's account go on, after a failure was looked into."""
    place_of(where, config).open().freeze(analyst, frozen=False)
    typer.echo(f"{analyst} may ask again")


def bar(spent: float, cap: float) -> Text:
    """How much of a cap is gone: ████░░░░."""
    full = min(_BAR, round(_BAR * spent / cap))
    return Text("█" * full, style="cyan") + Text("░" * (_BAR - full), style="dim")


def _plain_table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for column in columns:
        table.add_column(column)
    return table


def _add_row(table: Table, *cells: str | Text) -> None:
    """Cells as plain text: what an analyst wrote must not be read as markup, nor move the cursor."""
    table.add_row(
        *(
            cell if isinstance(cell, Text) else Text("".join(c if c.isprintable() else " " for c in cell))
            for cell in cells
        )
    )


def _account_table(accounts: Sequence[Balance]) -> Table:
    table = _plain_table("account", "", "spent ε", "of", "delta", "kept by")
    for account in accounts:
        _add_row(
            table,
            account.account + (" (frozen)" if account.frozen else ""),
            bar(account.spent.epsilon, account.cap.epsilon),
            f"{account.spent.epsilon:.4g}",
            f"{account.cap.epsilon:.4g}",
            f"{account.spent.delta:.2g} of {account.cap.delta:g}" if account.cap.delta else "none",
            account.kept_by,
        )
    return table


def _question_table(questions: Sequence[PastRelease]) -> Table:
    table = _plain_table("number", "when", "who", "question", "price", "paid by")
    for question in questions:
        _add_row(
            table,
            str(question.number),
            question.time[:16].replace("T", " "),
            question.analyst or "owner",
            question.sql or "—",
            f"ρ {question.rho:.3g}" if question.epsilon is None else f"ε {question.epsilon:g}",
            ", ".join(question.paid_by) or "nobody: asked before",
        )
    return table


def _cells(entry: Entry) -> tuple[str, ...]:
    time, by = entry.time[:19].replace("T", " "), entry.body.get("by", "")
    return str(entry.seq), time, entry.kind, _about(entry), by, entry.hash[:12]


def _about(entry: Entry) -> str:
    body = entry.body
    if entry.kind == "charge":
        names = ", ".join(release["mechanism"] for release in body["releases"])
        payers = ", ".join(map(holder, body["accounts"])) or "nobody"
        return f"{names} for {body['analyst'] or 'the owner'}, paid by {payers}"
    if entry.kind == "cap":
        return f"{holder(body['account'])}: ε {body['epsilon']}, δ {body['delta']} ({body['kind']})"
    if entry.kind == "neighbours":
        return str(body["relation"])
    if entry.kind == "refresh":
        return f"data version {body['version']}"
    if entry.kind in ("key", "user"):
        return f"{body.get('key', '')} {body.get('name', body.get('user'))}, {body['role'] or 'no role'}".strip()
    if entry.kind == "revoke":
        return str(body["key"])
    if entry.kind == "source":
        return f"of data version {body['version']}"
    if entry.kind == "clock":
        return f"set back to {body['now'][:19].replace('T', ' ')}"
    if entry.kind == "watch":
        outcome = "failed" if body.get("failed") else "above" if body.get("above") else "not above"
        return f"{outcome} on data version {body['version']}"
    return holder(body.get("account", "")) or f"{entry.kind} {body.get('sha256', '')[:12]}"
