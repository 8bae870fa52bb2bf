"""`discreet budget`: show the accounts and the last charges."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.cli.owner.ledger_command import place_of
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption, LedgerOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.terminal_tables import add_row, bar, indented, open_screen, plain_table, printable
from discreet.core.json_codec import to_json
from discreet.core.number_format import amount
from discreet.ledger.accounts.totals import QueryCounts
from discreet.results.ledger_views import asked, balances, history
from discreet.results.models import Balance, PastRelease, Renewal


def budget(
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    analyst: AnalystOption = None,
    last: Annotated[int, typer.Option("--last", help="Number of queries to list.")] = 10,
    before: Annotated[int | None, typer.Option("--before", help="List only queries with a lower number.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the remaining budget, who spent it, and on what. With --analyst, show only the dataset and this analyst."""
    with closing(place_of(where, config).open()) as ledger:
        accounts, counts = balances(ledger, analyst), asked(ledger, analyst)
        queries = history(ledger, analyst, before=before, limit=last)
    if as_json:
        print_json({"accounts": to_json(accounts), "asked": asdict(counts), "queries": to_json(queries)})
        return
    show_bill(open_screen(), accounts, queries, counts)


def show_bill(
    screen: Console, accounts: Sequence[Balance], queries: Sequence[PastRelease], counts: QueryCounts
) -> None:
    """Print the accounts, the last queries with the accounts charged for them, and the number of queries."""
    screen.print()
    screen.print(_account_table(accounts))
    for account in accounts:
        if account.renewal is not None:
            screen.print(indented(printable(_renewing(account, account.renewal)), style="dim"))
    if queries:
        screen.print()
        for query in reversed(queries):
            screen.print(_charge_line(query))
            screen.print(indented(printable(" ".join((query.sql or "—").split())), by=6, style="dim"))
        screen.print()
        screen.print(indented(_counted(counts, len(queries))))
    screen.print()


def _account_table(accounts: Sequence[Balance]) -> Table:
    table = plain_table("account", "", "ε spent", "of", "δ spent", "about", "kept by", right=("ε spent", "of"))
    for account in accounts:
        add_row(
            table,
            account.account + (" (frozen)" if account.frozen else ""),
            bar(account.spent.epsilon, account.cap.epsilon),
            amount(account.spent.epsilon),
            amount(account.cap.epsilon),
            f"{amount(account.spent.delta)} of {amount(account.cap.delta)}" if account.cap.delta else "none",
            f"one {account.unit}",
            account.kept_by,
        )
    return table


def _renewing(account: Balance, renewal: Renewal) -> str:
    """When a cap renews, and what all of its periods come to."""
    most = renewal.most_in_a_year
    times = "" if most == 1 else f" ({most} × {amount(account.cap.epsilon)})"
    return (
        f"{account.account}: ε {amount(account.cap.epsilon)} each {renewal.every}, the next begins on {renewal.next} (UTC); "
        f"ε {amount(renewal.lifetime_spent.epsilon)} spent in all so far, at most ε {amount(renewal.a_year.epsilon)} a year{times}"
    )


def _charge_line(query: PastRelease) -> Text:
    """One query: its text, time, analyst, cost and the accounts charged."""
    when, who = query.time[:16].replace("T", " "), query.analyst or "owner"
    price = f"ρ {amount(query.rho)}" if query.epsilon is None else f"ε {amount(query.epsilon)}"
    price += " for an edge" if query.unit == "edge" else ""
    payers = f"{price} paid by {', '.join(query.paid_by)}" if query.paid_by else "asked before: free"
    return printable(f"  {query.number:<3} {when}  {who}  {payers}")


def _counted(counts: QueryCounts, shown: int) -> str:
    asked_in_all = "1 question was asked" if counts.queries == 1 else f"{counts.queries:,} questions were asked"
    free = f", {counts.free:,} of them free because they were asked before" if counts.free else ""
    return f"{asked_in_all}{free}" + (f"; the last {shown:,} are shown" if shown < counts.queries else "")
