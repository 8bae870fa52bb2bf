"""The `discreet` command: what there is, in the order in which people need it."""

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
        summary="Write a first catalog for your files; begin its books.",
        example="discreet init visits.csv --yes --epsilon 5 --person visits=patient_id",
    ),
    "import": Late(
        "owner.init:import_metadata",
        summary="The same from metadata that another tool wrote.",
        example="discreet import metadata.yaml --output imported/discreet.toml",
    ),
    "check": Late(
        "owner.check:check", summary="Say how well the data fits the catalog: for the owner.", example="discreet check"
    ),
    "dummy": Late(
        "owner.data:dummy",
        summary="Invent tables of the catalog's shape to try questions on.",
        example="discreet dummy nobody --people 50",
    ),
    "explain": Late(
        "analyst.ask:explain",
        summary="Say what a question would read and cost; spends nothing.",
        example=f"discreet explain {_COUNT} --within 100",
    ),
    "ask": Late(
        "analyst.ask:ask",
        summary="Ask: pays, and answers with ±; never pays twice.",
        example=f"discreet ask {_COUNT} --epsilon 0.5",
    ),
    "budget": Late(
        "analyst.budget:budget",
        summary="Show what is left, who spent it, and on what.",
        example="discreet budget --last 3",
    ),
    "bounds": Late(
        "analyst.bounds:bounds",
        summary="Show the error nobody can avoid, beside ours.",
        example="discreet bounds --people 1000 --columns 100 --queries 50 --epsilon 1",
    ),
    "help": Late(
        "terminal.help_texts:explain_code",
        summary="Say what an error means and what to do about it.",
        example="discreet help joins-people",
    ),
    "refresh": Late(
        "owner.data:refresh_data",
        summary="Read a source that changed anew: a new data version.",
        example="discreet refresh",
    ),
    "estimate-bounds": Late(
        "owner.data:estimate_bounds",
        summary="Find bounds privately, and write them to the catalog.",
        example="discreet estimate-bounds visits cost --epsilon 0.5",
    ),
    "synth": Late(
        "analyst.synth:synth",
        summary="Make synthetic rows: pays once, and any number is free.",
        example="""discreet synth "SELECT ward = 'ER' AS is_er FROM visits" --rho 0.01 --workload 1 --name er --out er.csv""",
    ),
    "tabulate": Late(
        "analyst.tabulate:tabulate",
        summary="Count many things at once, so that all agree.",
        example="""discreet tabulate "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --marginals 2 --rho 0.01 --name dear""",
    ),
    "learn": Late(
        "analyst.learn:learn",
        summary="Learn a model of people's rows: every number with its ±.",
        example="""discreet learn "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --model bayes --target is_dear --feature is_er --rho 0.01 --name model""",
    ),
    "evaluate": Late(
        "analyst.learn:evaluate",
        summary="Count how often a model is right, with noise.",
        example="""discreet evaluate model "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --rho 0.01""",
    ),
    "graph": Late(
        "analyst.graph:graph",
        summary="Ask about a network: edges, degrees, triangles, rumours.",
        example="discreet graph friends triangles --epsilon 1",
    ),
    "releases": Late(
        "analyst.releases_command:list_releases",
        summary="List what was made under a name.",
        example="discreet releases",
    ),
    "serve": Late(
        "owner.serve:serve",
        summary="Serve a catalog over HTTP: an API and a page.",
        example="discreet serve --port 8000",
    ),
    "shuffle": Late(
        "collect.shuffle:shuffle",
        summary="Mix reports of devices before a collector sees them.",
        example="discreet shuffle task.json --to http://127.0.0.1:8000 --key-file shuffler.key --batch 100",
    ),
    "demo": Late(
        "demonstration.demo:show_demo",
        summary="A first taste: a clinic, an attack, a budget that ends.",
        example="discreet demo",
    ),
}

GROUPS = {
    "ledger": (
        "Look at the books, verify and keep them.",
        {
            "new": Late(
                "owner.ledger_admin:new",
                summary="Begin new books.",
                example="discreet ledger new --ledger other.sqlite",
            ),
            "show": Late(
                "owner.ledger_command:show", summary="Show the last entries.", example="discreet ledger show --last 5"
            ),
            "head": Late(
                "owner.ledger_command:head",
                summary="Print number:hash of the last entry, to be noted.",
                example="discreet ledger head",
            ),
            "receipt": Late(
                "owner.ledger_command:find_receipt",
                summary="Say which charge a receipt stands for.",
                example="discreet ledger receipt RECEIPT",
            ),
            "verify": Late(
                "owner.ledger_command:verify_books",
                summary="Recompute the chain, every price and every total.",
                example="discreet ledger verify",
            ),
            "cap": Late(
                "owner.ledger_command:cap",
                summary="Set the cap of the dataset or of an analyst.",
                example="discreet ledger cap alice --epsilon 3",
            ),
            "freeze": Late(
                "owner.ledger_command:freeze",
                summary="Stop an analyst's account.",
                example="discreet ledger freeze alice",
            ),
            "thaw": Late("owner.ledger_command:thaw", summary="Let it go on.", example="discreet ledger thaw alice"),
            "backup": Late(
                "owner.ledger_admin:backup",
                summary="Copy the books into a new file, while they are used.",
                example="discreet ledger backup copy.sqlite",
            ),
            "anchor": Late(
                "owner.ledger_admin:renew_anchor",
                summary="Verify the books, and note their head anew.",
                example="discreet ledger anchor",
            ),
            "seal": Late(
                "owner.ledger_admin:seal",
                summary="Seal the books with the secret of today.",
                example="discreet ledger seal --earlier old.secret",
            ),
        },
    ),
    "key": (
        "Make, list and revoke the keys of the service.",
        {
            "create": Late(
                "owner.access_keys:create_key",
                summary="Make a key and print it, once and alone.",
                example="discreet key create alice",
            ),
            "rotate": Late(
                "owner.access_keys:rotate_key",
                summary="Make a new key for the holder of an old one.",
                example="discreet key rotate NUMBER",
            ),
            "revoke": Late("owner.access_keys:revoke_key", summary="Stop a key.", example="discreet key revoke NUMBER"),
            "list": Late(
                "owner.access_keys:list_keys",
                summary="List keys, without what opens the door.",
                example="discreet key list",
            ),
        },
    ),
    "user": (
        "Say which users of a proxy may come in.",
        {
            "add": Late(
                "owner.access_keys:add_user",
                summary="Give somebody whom the proxy signs in a role.",
                example="discreet user add bob --role owner",
            ),
            "remove": Late(
                "owner.access_keys:remove_user", summary="Take it away.", example="discreet user remove bob"
            ),
            "list": Late(
                "owner.access_keys:list_users", summary="List users and their roles.", example="discreet user list"
            ),
        },
    ),
    "collect": (
        "Collect answers that people randomize themselves.",
        {
            "new": Late(
                "collect.collect:new",
                summary="Write a task: what is asked, how, and how often.",
                example="discreet collect new coins --epsilon 2 --values heads,tails --publish discreet.toml",
            ),
            # A value that begins with a minus is a value: a complaint about it would be silence, which tells it.
            "report": Late(
                "collect.device_commands:report",
                summary="Randomize one answer on this device.",
                example="discreet collect report task.json heads --store device.json --output reports.txt",
                settings={"ignore_unknown_options": True},
            ),
            "send": Late(
                "collect.device_commands:send",
                summary="Send the messages that wait on this device.",
                example="discreet collect send task.json --to http://127.0.0.1:8000",
            ),
            "estimate": Late(
                "collect.collect:estimate",
                summary="Add up messages, and say what they tell, with ±.",
                example="discreet collect estimate task.json reports.txt",
            ),
            "simulate": Late(
                "collect.collect:simulate",
                summary="Let a made-up crowd report; compare with the truth.",
                example="discreet collect simulate task.json --people 1000",
            ),
            "compare": Late(
                "collect.collect:compare_models",
                summary="Show what trusting nobody costs.",
                example="discreet collect compare --epsilon 1 --trials 20",
            ),
            "list": Late(
                "collect.collection_admin:list_collections",
                summary="List what is collected.",
                example="discreet collect list",
            ),
            "close": Late(
                "collect.collection_admin:close",
                summary="Take no more reports; estimates stay.",
                example="discreet collect close coins",
            ),
            "delete": Late(
                "collect.collection_admin:delete",
                summary="Delete a task with all that was collected.",
                example="discreet collect delete coins --yes",
            ),
        },
    ),
    "attack": (
        "Attack what deserves to fall, and Discreet.",
        {
            "list": Late(
                "demonstration.attack:list_all",
                summary="List the attacks and what falls to them.",
                example="discreet attack list",
            ),
            "run": Late(
                "demonstration.attack:run_one",
                summary="Play one attack, and show how often it was right.",
                example="discreet attack run differencing --small",
            ),
            "all": Late(
                "demonstration.attack:run_everything",
                summary="Play every attack, on the weak and on Discreet.",
                example="discreet attack all --small --report lab.html",
            ),
        },
    ),
}


def root(*, version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    """Differential privacy, end to end: private answers, their price, and everything that tries to break them."""
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
