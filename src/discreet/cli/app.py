"""The `discreet` command: all subcommands, in the order in which users need them."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import discreet
from discreet.cli.terminal.exit_codes import ExitCode
from discreet.cli.terminal.lazy_commands import Late, LateCommand, group_of

_COUNT = '"SELECT COUNT(*) FROM visits"'

COMMANDS = {
    "init": Late(
        "owner.init:init",
        summary="Create a catalog and a ledger for your files.",
        example="discreet init visits.csv --yes --epsilon 5 --person visits=patient_id",
    ),
    "import": Late(
        "owner.init:import_metadata",
        summary="Create a catalog from another tool's metadata.",
        example="discreet import metadata.yaml --output imported/discreet.toml",
    ),
    "check": Late(
        "owner.check:check", summary="Check that the data fits the catalog (data owner only).", example="discreet check"
    ),
    "dummy": Late(
        "owner.data:dummy",
        summary="Generate made-up tables to try queries on.",
        example="discreet dummy nobody --people 50",
    ),
    "explain": Late(
        "analyst.ask:explain",
        summary="Show what a query would measure and cost. Free.",
        example=f"discreet explain {_COUNT} --within 100",
    ),
    "ask": Late(
        "analyst.ask:ask",
        summary="Run a query: charged once, answered with ±.",
        example=f"discreet ask {_COUNT} --epsilon 0.5",
    ),
    "budget": Late(
        "analyst.budget:budget",
        summary="Show the remaining budget and past queries.",
        example="discreet budget --last 3",
    ),
    "bounds": Late(
        "analyst.bounds:bounds",
        summary="Compare our error with proven lower bounds.",
        example="discreet bounds --people 1000 --columns 100 --queries 50 --epsilon 1",
    ),
    "help": Late(
        "terminal.help_texts:explain_code",
        summary="Explain an error code or a command.",
        example="discreet help joins-people",
    ),
    "refresh": Late(
        "owner.data:refresh_data",
        summary="Read the changed source as a new data version.",
        example="discreet refresh",
    ),
    "estimate-bounds": Late(
        "owner.data:estimate_bounds",
        summary="Estimate bounds privately; write them to the catalog.",
        example="discreet estimate-bounds visits cost --epsilon 0.5",
    ),
    "synth": Late(
        "analyst.synth:synth",
        summary="Make synthetic rows: charged once per model.",
        example="""discreet synth "SELECT ward = 'ER' AS is_er FROM visits" --rho 0.01 --workload 1 --name er --out er.csv""",
    ),
    "tabulate": Late(
        "analyst.tabulate:tabulate",
        summary="Answer many counting queries consistently.",
        example="""discreet tabulate "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --marginals 2 --rho 0.01 --name dear""",
    ),
    "learn": Late(
        "analyst.learn:learn",
        summary="Train a model; every number has its ±.",
        example="""discreet learn "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --model bayes --target is_dear --feature is_er --rho 0.01 --name model""",
    ),
    "evaluate": Late(
        "analyst.learn:evaluate",
        summary="Measure the accuracy of a model.",
        example="""discreet evaluate model "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --rho 0.01""",
    ),
    "graph": Late(
        "analyst.graph:graph",
        summary="Query a network: edges, degrees, triangles, …",
        example="discreet graph friends triangles --epsilon 1",
    ),
    "releases": Late(
        "analyst.releases_command:list_releases",
        summary="List named releases.",
        example="discreet releases",
    ),
    "serve": Late(
        "owner.serve:serve",
        summary="Serve the HTTP API and the page.",
        example="discreet serve --port 8000",
    ),
    "shuffle": Late(
        "collect.shuffle:shuffle",
        summary="Run a shuffler between devices and a collector.",
        example="discreet shuffle task.json --to http://127.0.0.1:8000 --key-file shuffler.key --batch 100",
    ),
    "demo": Late(
        "demonstration.demo:show_demo",
        summary="Show private answers, an attack, an empty budget.",
        example="discreet demo",
    ),
}

GROUPS = {
    "ledger": (
        "Inspect, verify and maintain the ledger.",
        {
            "new": Late(
                "owner.ledger_admin:new",
                summary="Create a ledger.",
                example="discreet ledger new --ledger other.sqlite",
            ),
            "show": Late(
                "owner.ledger_command:show", summary="Show the last entries.", example="discreet ledger show --last 5"
            ),
            "head": Late(
                "owner.ledger_command:head",
                summary="Print number:hash of the last entry.",
                example="discreet ledger head",
            ),
            "receipt": Late(
                "owner.ledger_command:find_receipt",
                summary="Show the charge of a receipt.",
                example="discreet ledger receipt RECEIPT",
            ),
            "verify": Late(
                "owner.ledger_command:verify_ledger",
                summary="Verify the hash chain, all costs and totals.",
                example="discreet ledger verify",
            ),
            "cap": Late(
                "owner.ledger_command:cap",
                summary="Set the cap of the dataset or of an analyst.",
                example="discreet ledger cap alice --epsilon 3",
            ),
            "freeze": Late(
                "owner.ledger_command:freeze",
                summary="Freeze an analyst's account.",
                example="discreet ledger freeze alice",
            ),
            "thaw": Late(
                "owner.ledger_command:thaw",
                summary="Unfreeze an analyst's account.",
                example="discreet ledger thaw alice",
            ),
            "backup": Late(
                "owner.ledger_admin:backup",
                summary="Copy the ledger to a new file while it is in use.",
                example="discreet ledger backup copy.sqlite",
            ),
            "anchor": Late(
                "owner.ledger_admin:renew_anchor",
                summary="Verify the ledger and write a new anchor.",
                example="discreet ledger anchor",
            ),
            "seal": Late(
                "owner.ledger_admin:seal",
                summary="Seal the ledger again after its secret changed.",
                example="discreet ledger seal --earlier old.secret",
            ),
        },
    ),
    "key": (
        "Manage API keys.",
        {
            "create": Late(
                "owner.access_keys:create_key",
                summary="Create an API key. It is shown once.",
                example="discreet key create alice",
            ),
            "rotate": Late(
                "owner.access_keys:rotate_key",
                summary="Replace a key with a new one.",
                example="discreet key rotate NUMBER",
            ),
            "revoke": Late(
                "owner.access_keys:revoke_key", summary="Revoke a key.", example="discreet key revoke NUMBER"
            ),
            "list": Late(
                "owner.access_keys:list_keys",
                summary="List keys (secrets are not shown).",
                example="discreet key list",
            ),
        },
    ),
    "user": (
        "Manage users authenticated by a proxy.",
        {
            "add": Late(
                "owner.access_keys:add_user",
                summary="Grant a role to a proxy user.",
                example="discreet user add bob --role owner",
            ),
            "remove": Late(
                "owner.access_keys:remove_user", summary="Remove a user.", example="discreet user remove bob"
            ),
            "list": Late(
                "owner.access_keys:list_users", summary="List users and their roles.", example="discreet user list"
            ),
        },
    ),
    "collect": (
        "Collect reports that devices randomize.",
        {
            "new": Late(
                "collect.collect:new",
                summary="Create a task: what devices report, and how.",
                example="discreet collect new coins --epsilon 2 --values heads,tails --publish discreet.toml",
            ),
            # A negative value is a value, not an option: an error would reveal it, because no report follows.
            "report": Late(
                "collect.device_commands:report",
                summary="Randomize one value on this device.",
                example="discreet collect report task.json heads --store device.json --output reports.txt",
                settings={"ignore_unknown_options": True},
            ),
            "send": Late(
                "collect.device_commands:send",
                summary="Send the messages stored on this device.",
                example="discreet collect send task.json --to http://127.0.0.1:8000",
            ),
            "estimate": Late(
                "collect.collect:estimate",
                summary="Estimate results from messages, with ±.",
                example="discreet collect estimate task.json reports.txt",
            ),
            "simulate": Late(
                "collect.collect:simulate",
                summary="Simulate a collection; compare with the truth.",
                example="discreet collect simulate task.json --people 1000",
            ),
            "compare": Late(
                "collect.collect:compare_models",
                summary="Compare the errors of local and central privacy.",
                example="discreet collect compare --epsilon 1 --trials 20",
            ),
            "list": Late(
                "collect.collection_admin:list_collections",
                summary="List collections.",
                example="discreet collect list",
            ),
            "close": Late(
                "collect.collection_admin:close",
                summary="Stop accepting reports; estimates stay available.",
                example="discreet collect close coins",
            ),
            "delete": Late(
                "collect.collection_admin:delete",
                summary="Delete a task and all its reports.",
                example="discreet collect delete coins --yes",
            ),
        },
    ),
    "attack": (
        "Run attacks on weak releases and on Discreet.",
        {
            "list": Late(
                "demonstration.attack:list_all",
                summary="List the attacks and their vulnerable targets.",
                example="discreet attack list",
            ),
            "run": Late(
                "demonstration.attack:run_one",
                summary="Run one attack and show its success rate.",
                example="discreet attack run differencing --small",
            ),
            "all": Late(
                "demonstration.attack:run_everything",
                summary="Run every attack on weak releases and Discreet.",
                example="discreet attack all --small --report lab.html",
            ),
        },
    ),
}


def root(*, version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    """Differential privacy, end to end: private answers, a budget ledger, and an attack lab."""
    if version:
        typer.echo(discreet.__version__)


def command() -> TyperGroup:
    """`discreet` with all its commands, none of which is imported yet."""
    codes = "; ".join(f"{code:d} {code.meaning}" for code in ExitCode)
    bare = typer.Typer(rich_markup_mode=None, no_args_is_help=True, pretty_exceptions_enable=False)
    bare.callback(invoke_without_command=True, epilog=f"Exit codes: {codes}.")(root)
    group: Any = get_command(bare)
    for name, late in COMMANDS.items():
        group.add_command(LateCommand(name, late))
    for name, (summary, below) in GROUPS.items():
        group.add_command(group_of(name, summary, below))
    return group
