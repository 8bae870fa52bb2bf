"""The `discreet` command: what there is, in the order in which people need it."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import discreet
from discreet.cli.exit_codes import ExitCode
from discreet.cli.late import Late, LateCommand, group_of

_COUNT = '"SELECT COUNT(*) FROM visits"'

COMMANDS = {
    "init": Late(
        "beginning:init",
        summary="Write a first catalog for your files; begin its books.",
        example="discreet init visits.csv --yes --epsilon 5 --person visits=patient_id",
    ),
    "import": Late(
        "beginning:import_metadata",
        summary="The same from metadata that another tool wrote.",
        example="discreet import metadata.yaml --output imported/discreet.toml",
    ),
    "check": Late(
        "checking:check", summary="Say how well the data fits the catalog: for the owner.", example="discreet check"
    ),
    "dummy": Late(
        "data:dummy",
        summary="Invent tables of the catalog's shape to try questions on.",
        example="discreet dummy nobody --people 50",
    ),
    "explain": Late(
        "asking:explain",
        summary="Say what a question would read and cost; spends nothing.",
        example=f"discreet explain {_COUNT} --within 100",
    ),
    "ask": Late(
        "asking:ask",
        summary="Ask: pays, and answers with ±; never pays twice.",
        example=f"discreet ask {_COUNT} --epsilon 0.5",
    ),
    "budget": Late(
        "budget:budget", summary="Show what is left, who spent it, and on what.", example="discreet budget --last 3"
    ),
    "bounds": Late(
        "bounding:bounds",
        summary="Show the error nobody can avoid, beside ours.",
        example="discreet bounds --people 1000 --columns 100 --queries 50 --epsilon 1",
    ),
    "help": Late(
        "helping:explain_code",
        summary="Say what an error means and what to do about it.",
        example="discreet help joins-people",
    ),
    "refresh": Late(
        "data:refresh_data", summary="Read a source that changed anew: a new data version.", example="discreet refresh"
    ),
    "estimate-bounds": Late(
        "data:estimate_bounds",
        summary="Find bounds privately, and write them to the catalog.",
        example="discreet estimate-bounds visits cost --epsilon 0.5",
    ),
    "synth": Late(
        "synthesizing:synth",
        summary="Make synthetic rows: pays once, and any number is free.",
        example="""discreet synth "SELECT ward = 'ER' AS is_er FROM visits" --rho 0.01 --workload 1 --name er --out er.csv""",
    ),
    "tabulate": Late(
        "tabulating:tabulate",
        summary="Count many things at once, so that all agree.",
        example="""discreet tabulate "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --marginals 2 --rho 0.01 --name dear""",
    ),
    "learn": Late(
        "learning:learn",
        summary="Learn a model of people's rows: every number with its ±.",
        example="""discreet learn "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --model bayes --target is_dear --feature is_er --rho 0.01 --name model""",
    ),
    "evaluate": Late(
        "learning:evaluate",
        summary="Count how often a model is right, with noise.",
        example="""discreet evaluate model "SELECT ward = 'ER' AS is_er, cost > 500 AS is_dear FROM visits" --rho 0.01""",
    ),
    "graph": Late(
        "networking:graph",
        summary="Ask about a network: edges, degrees, triangles, rumours.",
        example="discreet graph friends triangles --epsilon 1",
    ),
    "releases": Late(
        "releasing:list_releases", summary="List what was made under a name.", example="discreet releases"
    ),
    "serve": Late(
        "serving:serve", summary="Serve a catalog over HTTP: an API and a page.", example="discreet serve --port 8000"
    ),
    "shuffle": Late(
        "shuffling:shuffle",
        summary="Mix reports of devices before a collector sees them.",
        example="discreet shuffle task.json --to http://127.0.0.1:8000 --key-file shuffler.key --batch 100",
    ),
    "demo": Late(
        "demo:show_demo", summary="A first taste: a clinic, an attack, a budget that ends.", example="discreet demo"
    ),
}

GROUPS = {
    "ledger": (
        "Look at the books, verify and keep them.",
        {
            "new": Late("custody:new", summary="Begin new books.", example="discreet ledger new --ledger other.sqlite"),
            "show": Late("books:show", summary="Show the last entries.", example="discreet ledger show --last 5"),
            "head": Late(
                "books:head",
                summary="Print number:hash of the last entry, to be noted.",
                example="discreet ledger head",
            ),
            "receipt": Late(
                "books:find_receipt",
                summary="Say which charge a receipt stands for.",
                example="discreet ledger receipt RECEIPT",
            ),
            "verify": Late(
                "books:verify_books",
                summary="Recompute the chain, every price and every total.",
                example="discreet ledger verify",
            ),
            "cap": Late(
                "books:cap",
                summary="Set the cap of the dataset or of an analyst.",
                example="discreet ledger cap alice --epsilon 3",
            ),
            "freeze": Late(
                "books:freeze", summary="Stop an analyst's account.", example="discreet ledger freeze alice"
            ),
            "thaw": Late("books:thaw", summary="Let it go on.", example="discreet ledger thaw alice"),
            "backup": Late(
                "custody:backup",
                summary="Copy the books into a new file, while they are used.",
                example="discreet ledger backup copy.sqlite",
            ),
            "anchor": Late(
                "custody:renew_anchor",
                summary="Verify the books, and note their head anew.",
                example="discreet ledger anchor",
            ),
            "seal": Late(
                "custody:seal",
                summary="Seal the books with the secret of today.",
                example="discreet ledger seal --earlier old.secret",
            ),
        },
    ),
    "key": (
        "Make, list and revoke the keys of the service.",
        {
            "create": Late(
                "access:create_key",
                summary="Make a key and print it, once and alone.",
                example="discreet key create alice",
            ),
            "rotate": Late(
                "access:rotate_key",
                summary="Make a new key for the holder of an old one.",
                example="discreet key rotate NUMBER",
            ),
            "revoke": Late("access:revoke_key", summary="Stop a key.", example="discreet key revoke NUMBER"),
            "list": Late(
                "access:list_keys", summary="List keys, without what opens the door.", example="discreet key list"
            ),
        },
    ),
    "user": (
        "Say which users of a proxy may come in.",
        {
            "add": Late(
                "access:add_user",
                summary="Give somebody whom the proxy signs in a role.",
                example="discreet user add bob --role owner",
            ),
            "remove": Late("access:remove_user", summary="Take it away.", example="discreet user remove bob"),
            "list": Late("access:list_users", summary="List users and their roles.", example="discreet user list"),
        },
    ),
    "collect": (
        "Collect answers that people randomize themselves.",
        {
            "new": Late(
                "collecting:new",
                summary="Write a task: what is asked, how, and how often.",
                example="discreet collect new coins --epsilon 2 --values heads,tails --publish discreet.toml",
            ),
            # A value that begins with a minus is a value: a complaint about it would be silence, which tells it.
            "report": Late(
                "devices:report",
                summary="Randomize one answer on this device.",
                example="discreet collect report task.json heads --store device.json --output reports.txt",
                settings={"ignore_unknown_options": True},
            ),
            "send": Late(
                "devices:send",
                summary="Send the messages that wait on this device.",
                example="discreet collect send task.json --to http://127.0.0.1:8000",
            ),
            "estimate": Late(
                "collecting:estimate",
                summary="Add up messages, and say what they tell, with ±.",
                example="discreet collect estimate task.json reports.txt",
            ),
            "simulate": Late(
                "collecting:simulate",
                summary="Let a made-up crowd report; compare with the truth.",
                example="discreet collect simulate task.json --people 1000",
            ),
            "compare": Late(
                "collecting:compare_models",
                summary="Show what trusting nobody costs.",
                example="discreet collect compare --epsilon 1 --trials 20",
            ),
            "list": Late(
                "keeping:list_collections", summary="List what is collected.", example="discreet collect list"
            ),
            "close": Late(
                "keeping:close", summary="Take no more reports; estimates stay.", example="discreet collect close coins"
            ),
            "delete": Late(
                "keeping:delete",
                summary="Delete a task with all that was collected.",
                example="discreet collect delete coins --yes",
            ),
        },
    ),
    "attack": (
        "Attack what deserves to fall, and Discreet.",
        {
            "list": Late(
                "attacking:list_all", summary="List the attacks and what falls to them.", example="discreet attack list"
            ),
            "run": Late(
                "attacking:run_one",
                summary="Play one attack, and show how often it was right.",
                example="discreet attack run differencing --small",
            ),
            "all": Late(
                "attacking:run_everything",
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
