"""`%%discreet` for notebooks: a cell of SQL, answered by a local or remote curator."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from discreet.errors import BadInput


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise BadInput(f"%%discreet: {message}.", next_step="Write %%discreet curator --epsilon 0.5.")


def _parser() -> _Arguments:
    parser = _Arguments(prog="%%discreet", add_help=False)
    parser.add_argument("curator", help="the variable that holds a curator")
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--within", type=float)
    parser.add_argument("--confidence", type=float)
    parser.add_argument("--delta", type=float)
    parser.add_argument("--into", help="the variable that the answer is put into")
    return parser


def register(shell: Any) -> None:
    """Teach a shell the cell magic."""

    def ask(line: str, cell: str) -> Any:
        """%%discreet CURATOR --epsilon 0.5 | --within 50 --confidence 0.95 [--delta D] [--into NAME]

        The cell is one SELECT, asked of the variable CURATOR: what `discreet.open` or `discreet.connect` gave. `--epsilon` is what it may cost;
        or `--within` how exact it must be, in the share `--confidence` of all answers. `--delta` is for groups whose values are not declared.
        The answer is shown, and kept in the variable NAME.
        """
        given = _parser().parse_args(shlex.split(line))
        curator = shell.user_ns.get(given.curator)
        if curator is None or not hasattr(curator, "ask"):
            raise BadInput(
                "There is no such curator here.", next_step="Make one with discreet.open or discreet.connect."
            )
        price = {name: getattr(given, name) for name in ("epsilon", "within", "confidence", "delta")}
        answer = curator.ask(cell.strip(), **price)
        if given.into:
            shell.user_ns[given.into] = answer
        return answer

    shell.register_magic_function(ask, "cell", "discreet")
