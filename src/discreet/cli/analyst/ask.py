"""`discreet ask` and `discreet explain`: a private answer with its error, and its cost before the charge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from discreet.api.opening import open_curator
from discreet.api.requests.ask import AskRequest
from discreet.cli.terminal.answer_text import show_answer, show_explanation
from discreet.cli.terminal.options import CATALOG, AnalystOption, ConfigOption, JsonOption
from discreet.cli.terminal.printing import print_json
from discreet.cli.terminal.read_progress import print_read_progress
from discreet.cli.terminal.request_options import with_options_of
from discreet.cli.terminal.terminal_tables import open_screen
from discreet.core.json_codec import to_json
from discreet.core.number_format import CONFIDENCE
from discreet.results.answer_json import answer_to_json


@with_options_of(AskRequest)
def ask(
    options: Mapping[str, Any],
    *,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Answer one SQL query with noise, and charge for it. The same query is never charged twice."""
    request = _request(options)
    with open_curator(config, tell=print_read_progress) as curator:
        api = curator.as_analyst(analyst)
        answer = api.execute(request)
        if as_json:
            print_json({**answer_to_json(answer, CONFIDENCE), "replayed": answer.replayed})
        else:
            typer.echo()
            show_answer(open_screen(), answer, api.plan(request), analyst)


@with_options_of(AskRequest)
def explain(
    options: Mapping[str, Any],
    *,
    analyst: AnalystOption = None,
    config: ConfigOption = CATALOG,
    as_json: JsonOption = False,
) -> None:
    """Say what a query would read, measure and cost. Spends nothing and reads no protected row."""
    with open_curator(config, tell=print_read_progress) as curator:
        explanation = curator.as_analyst(analyst).plan(_request(options))
    if as_json:
        print_json(to_json(explanation))
    else:
        show_explanation(open_screen(), explanation, analyst)


def _request(options: Mapping[str, Any]) -> AskRequest:
    """An accuracy holds in as many answers as every ± that is shown, unless another share is given."""
    usual = {"confidence": CONFIDENCE} if "within" in options else {}
    return AskRequest(**{**usual, **options})
