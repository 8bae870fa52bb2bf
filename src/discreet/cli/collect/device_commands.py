"""`discreet collect report` and `send`: use this machine as a device, which stores messages until delivery."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from discreet.cli.terminal.options import JsonOption
from discreet.cli.terminal.printing import print_json, say_done
from discreet.errors import BadInput, BadTask, ReportRefused
from discreet.local import Client, ClientRefused, Task
from discreet.local.device.client import BUDGET, HEADER, format_loss, shown

TaskFile = Annotated[Path, typer.Argument(help="Task file from `discreet collect new`.")]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store",
        envvar="DISCREET_DEVICE",
        help="Device file: spent epsilon and unsent messages. Default: ~/.local/share/discreet/device.json.",
    ),
]
_LONGEST_NUMBER = 400
_LONGEST_SAID = 1000
_NUMBER = re.compile(r"[+-]?[0-9]+(/[0-9]+|(\.[0-9]*)?(e[+-]?[0-9]{1,3})?)", re.ASCII | re.IGNORECASE)


def report(
    task_file: TaskFile,
    value: Annotated[str, typer.Argument(help="The true value. It stays on this device.")],
    *,
    store: StoreFile = None,
    budget: Annotated[float, typer.Option("--budget", help="Total ε of this device, over all tasks.")] = BUDGET,
    output: Annotated[Path | None, typer.Option("--output", help="Append the message to a file, one per line.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Or send it, with stored messages, to a service.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Randomize one value on this device, and show the bytes of the report."""
    task = read_task(task_file)
    client, given = _client(task, store, budget), _value(task, value)
    if not as_json:
        first = "" if client.reports else client.explain()
        typer.echo("\n" + "".join(f"  {line}\n" for line in first.splitlines()), nl=False)
    if not client.covers(given):
        typer.echo("  not one of the task's values: a random one of them is reported instead", err=True)
    try:
        message = client.report(given)
    except ClientRefused as refused:
        raise BadInput(refused.problem, next_step=refused.next_step) from None
    if output is not None:
        with output.open("a") as file:
            file.write(base64.b64encode(message).decode() + "\n")
        client.acknowledge(message)
    if as_json:
        fields = {"message": base64.b64encode(message).decode(), "reports": client.reports, "spent": client.spent}
        print_json({**fields, "lifetime_spent": client.lifetime_spent})
    else:
        typer.echo(f"  is sent: {message.hex()}")
        typer.echo(f"  of which the report: {message[HEADER:-4].hex()} ({task.randomizer.bits} bits)")
        most = task.spec["caps"]["lifetime"]
        typer.echo(f"  {client.reports:,} of {most:,} reports made, ε {format_loss(client.spent)} given away\n")
    if to is not None:
        client.send(_deliver(to, client))


def send(
    task_file: TaskFile,
    *,
    to: Annotated[str, typer.Option("--to", help="Address of the service.")],
    store: StoreFile = None,
    as_json: JsonOption = False,
) -> None:
    """Send the stored messages of a task, unchanged. This costs no further epsilon."""
    client = _client(read_task(task_file), store, BUDGET)
    waiting = len(client.pending())
    client.send(_deliver(to, client))
    say_done(f"  {waiting:,} sent" if waiting else "  nothing waits", {"sent": waiting}, as_json=as_json)


def read_task(path: Path) -> Task:
    """The task in a file."""
    if not path.exists():
        raise BadTask(
            "There is no task file at this path.",
            next_step="Write one: discreet collect new NAME --epsilon … --values …",
        )
    return Task.from_json(path.read_text())


def _client(task: Task, store: Path | None, budget: float) -> Client:
    """This user's device. Its store does not depend on the current folder, so that there is one budget."""
    if store is None:
        store = Path.home() / ".local" / "share" / "discreet" / "device.json"
        store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return Client(task, store=store, budget=budget)
    except ClientRefused as refused:
        raise BadInput(refused.problem, next_step=refused.next_step) from None


def _value(task: Task, text: str) -> Any:
    """A number where the task is about numbers and the text is one, of few digits; else the text, which is outside."""
    domain = task.spec["domain"]
    whole = "range" in domain or any(isinstance(value, int) for value in domain.get("values", ()))
    if (whole or "lower" in domain) and len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text):
        try:
            return int(text) if whole else Fraction(text)
        except (ValueError, ZeroDivisionError):
            return text
    return text


def _deliver(address: str, client: Client) -> Callable[[bytes], bool]:
    """How a message reaches a service: taken, refused for ever and forgotten, or kept because nobody answered."""
    place = f"{address.rstrip('/')}/v1/tasks/{client.digest.hex()}/reports"

    def deliver(message: bytes) -> bool:
        try:
            response = httpx.post(
                place, content=message, headers={"Content-Type": "application/octet-stream"}, timeout=30
            )
            code, problem, next_step = _refusal_in(response)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, TypeError, RecursionError):
            raise _kept() from None
        if response.status_code == 202 or code == "replayed":
            return True
        too_busy = response.status_code == 429 and code != "too-many-reports"
        if too_busy or response.status_code >= 500:
            raise _kept()
        client.acknowledge(message)
        raise ReportRefused(problem, next_step=next_step)

    return deliver


def _refusal_in(response: httpx.Response) -> tuple[str, str, str]:
    """Code, problem and next step as a service says them, each as it may be printed; it may say anything."""
    answer = response.json()
    error = answer.get("error", {}) if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        raise TypeError  # no service of ours: something between here and there answers
    code, problem, next_step = (str(error.get(name, ""))[:_LONGEST_SAID] for name in ("code", "message", "next_step"))
    return code, shown(problem) or "The service refused the message.", shown(next_step)


def _kept() -> BadInput:
    return BadInput(
        "The service does not answer. The message is stored on this device, and its epsilon is counted.",
        next_step="Check the address, then run: discreet collect send TASK --to ADDRESS.",
    )
