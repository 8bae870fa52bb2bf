"""`discreet synth` and `discreet releases`: synthetic rows of people's, their price before it is paid, and what there is already."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.books import place_of
from discreet.cli.options import CATALOG, AnalystOption, ConfigOption, JsonOption, LedgerOption
from discreet.cli.printing import INDENT, print_json
from discreet.cli.progress import tell_reading
from discreet.cli.tables import indented, labelled, open_screen
from discreet.curator import Asking, Curator
from discreet.errors import BadInput
from discreet.figures import amount
from discreet.opening import open_curator
from discreet.synthetic.asking import Wanted
from discreet.synthetic.curating import SynthesisPlan
from discreet.synthetic.files import KINDS, write_rows
from discreet.synthetic.registry import METHODS

Source = Annotated[str, typer.Argument(help="A table, or a SELECT that yields people's rows.")]
Epsilon = Annotated[
    float | None,
    typer.Option("--epsilon", help="What it may cost, with --delta; alone where the account has no delta."),
]
Delta = Annotated[float | None, typer.Option("--delta", help="At which --epsilon is converted; it is not spent.")]
Rho = Annotated[float | None, typer.Option("--rho", help="Or the price as zCDP.")]
Workload = Annotated[
    list[str] | None,
    typer.Option(
        "--workload", help="Tables that shall be good: all over so many columns, or one by its columns: ward,age. [3]"
    ),
]
Method = Annotated[
    str,
    typer.Option("--method", help=f"One of: {', '.join(METHODS)}.", autocompletion=lambda: list(METHODS)),
]
Name = Annotated[str | None, typer.Option("--name", help="What the release is looked up by.")]
Out = Annotated[Path | None, typer.Option("--out", help="A new file for rows: .parquet or .csv.")]
Rows = Annotated[int | None, typer.Option("-n", min=0, help="How many rows; about as many as there are, unless said.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost; spend nothing.")]


def synth(
    source: Source,
    *,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    workload: Workload = None,
    method: Method = "aim",
    name: Name = None,
    out: Out = None,
    rows: Rows = None,
    dry_run: DryRun = False,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Make synthetic rows: pays once, goes on where a crash left it, and is free when it is asked for again."""
    _check_file(out)
    price = {"epsilon": epsilon, "delta": delta, "rho": rho}
    details: dict[str, Any] = {**price, "workload": _tables(workload), "method": method, "analyst": analyst}
    with open_curator(config, tell=tell_reading) as curator:
        if dry_run:
            _show_plan(curator.plan_synthesis(source, **details), as_json=as_json)
        else:
            _make(curator, source, {**details, "name": name}, out, rows, as_json=as_json)


def list_releases(
    *,
    where: LedgerOption = None,
    config: ConfigOption = CATALOG,
    analyst: AnalystOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the names of finished releases: of one analyst, or all."""
    with closing(place_of(where, config).open()) as books:
        names = books.named_releases(analyst=analyst)
    if as_json:
        print_json({"releases": names})
        return
    for name in names:
        typer.echo(name)


def _make(
    curator: Curator, source: str, details: dict[str, Any], out: Path | None, rows: int | None, *, as_json: bool
) -> None:
    """Pay, make, write rows, and say so."""
    with _looking_on() as on_look:
        release = curator.synthesize(source, asking=Asking(on_look=on_look), **details)
    facts, count = release.facts, max(0, round(release.total)) if rows is None else rows
    if out is not None:
        write_rows(release.sample(count), out, kind=out.suffix[1:])
    if as_json:
        written = {"out": out and str(out), "rows": out and count}
        print_json({**facts, "total": release.total, "replayed": release.replayed, **written})
        return
    looks = f"{facts['looks']} looks, about {amount(release.total)} rows in the data"
    typer.echo(f"{release.name or 'a release without a name'}: {release.method}, {looks}")
    typer.echo("free: asked before" if release.replayed else f"paid {_price(facts['rho'], facts['epsilon'])}")
    if out is not None:
        typer.echo(f"wrote {out}: {count:,} rows of nobody")


def _price(rho: float, epsilon: float | None) -> str:
    """As what it is counted: a pure epsilon if it has one."""
    return f"ρ {amount(rho)}" if epsilon is None else f"ε {amount(epsilon)}"


@contextmanager
def _looking_on() -> Iterator[Any]:
    """Tell people at a terminal how many looks are stored: those that are not may still be drawn anew."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with open_screen(on_stderr=True).status(f"{INDENT}reading …") as status:
        yield lambda looks: status.update(f"{INDENT}{looks} looks so far …")


def _show_plan(plan: SynthesisPlan, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(plan))
        return
    screen, beyond = open_screen(), [name for name, allowed in plan.charged.items() if not allowed]
    price, rows = _price(plan.rho, plan.epsilon), plan.rows_per_person
    if plan.asked_before:
        price += "; free: asked before"
    elif beyond:
        price += f"; would be refused now: {', '.join(beyond)} cannot pay it"
    else:
        price += f"; paid by {', '.join(plan.charged)}"
    told = {
        "columns": [f"{name}: {size:,}" for name, size in plan.columns.items()],
        "tables": [f"{plan.tables:,} shall be good"],
        "person": ["one row of one person counts" if rows == 1 else f"at most {rows:,} rows of one person count"],
        "note": list(plan.notes),
        "price": [price],
    }
    screen.print("", labelled(told), sep="\n")
    screen.print(indented("nothing was spent", style="dim"))
    screen.print()


def _tables(given: list[str] | None) -> Wanted:
    """A number of columns, or tables by their columns."""
    if not given:
        return 3
    if len(given) == 1 and given[0].isdecimal():
        return int(given[0])
    return [[name.strip() for name in table.split(",")] for table in given]


def _check_file(out: Path | None) -> None:
    """Before anything is paid for: rows can be written there, as something that is known."""
    if out is None:
        return
    if out.suffix[1:] not in KINDS:
        raise BadInput("Rows are written as .csv or .parquet.", next_step="Give --out a name that ends so.")
    if out.exists() or not out.parent.is_dir():
        raise BadInput("There is a file already, or no such folder.", next_step="Give --out the name of a new file.")
