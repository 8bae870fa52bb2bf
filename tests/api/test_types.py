"""The type checker knows the exact signature of every verb, also of one whose result has the type of an argument."""

from __future__ import annotations

import re
import subprocess
import sys

TOY = """
from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Generic, TypeVar

from discreet.api.requests.base import PaidRequest, param, request
from discreet.api.verbs import plan_verb, verb

class Model: ...
class Line(Model): ...
AnyModel = TypeVar("AnyModel", bound=Model)

@request
class BrewRequest(PaidRequest[str, int]):
    source: str = param("Table name.")
    _: KW_ONLY
    sugar: int = param("Lumps.", default=1)

@request
class LearnRequest(PaidRequest[AnyModel, int], Generic[AnyModel]):
    model: AnyModel = param("What to learn.")

class Api:
    brew = verb(BrewRequest)
    plan_brewing = plan_verb(BrewRequest, "What it costs.")
    learn = verb(LearnRequest)

reveal_type(Api().brew)
reveal_type(Api().plan_brewing("visits", sugar=2))
reveal_type(Api().learn(Line(), request_id="once"))
Api().brew()
Api().brew("visits", sugr=2)
Api().brew("visits", sugar="two")
"""
SAID = [
    'note: Revealed type is "def (source: str, *, request_id: str | None =, sugar: int =) -> str"',
    'note: Revealed type is "int"',
    'note: Revealed type is "toy.Line"',
    "error: Too few arguments",
    'error: Unexpected keyword argument "sugr"',
    'error: Argument "sugar" has incompatible type "str"; expected "int"',
]


def test_the_type_checker_knows_what_a_verb_takes_and_returns(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    modules = ("toy", "discreet.api.verbs", "discreet.api.requests.base")
    options = ("--strict", "--config-file=", "--follow-imports=skip", f"--cache-dir={tmp_path}")
    command = [sys.executable, "-m", "mypy", *options, *(f"-m{module}" for module in modules)]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout.splitlines()
    said = [re.sub(r"^toy.py:\d+: ", "", line) for line in said if line.startswith("toy.py")]
    assert [line.startswith(expected) for line, expected in zip(said, SAID, strict=True)] == [True] * len(SAID), said
