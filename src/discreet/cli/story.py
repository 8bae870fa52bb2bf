"""The second act of the demo: a clinic, three questions, an attack that fails, and a budget that runs out."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from discreet.cli.asking import show_answer
from discreet.curator import Curator, open_curator
from discreet.errors import BudgetExceeded
from discreet.loss import Loss
from discreet.samples import clinic, write_clinic

_PATIENTS, _VISITS = 20_000, 200_000
_TARGETS = 200
_QUESTIONS = (
    "SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY ward",
    "SELECT p.sex, COUNT(*) AS visits FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY p.sex",
    "SELECT w.floor, SUM(v.cost) AS cost FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.floor",
)


def tell_story(console: Console) -> None:
    """Print it; everything happens in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        catalog = write_clinic(folder, patients=_PATIENTS, visits=_VISITS)
        _say(
            console,
            f"Now a whole clinic: {_PATIENTS:,} patients, {_VISITS:,} visits, none of them real. Alice may spend ε 2.",
        )
        curator = open_curator(catalog)
        for sql in _QUESTIONS:
            _ask(console, curator, sql)
        _say(console, "The same question again, in other words:")
        _ask(console, curator, _QUESTIONS[0].lower())
        _run_out(console, curator)
        curator.close()
        _attack(console, catalog)
    _say(console, "Your own data: discreet init visits.parquet, edit discreet.toml, then discreet ask.")


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Padding(Text(text, style=style), (0, 0, 1, 2)))


def _ask(console: Console, curator: Curator, sql: str) -> None:
    _say(console, f'$ discreet ask "{sql}" --epsilon 0.5', style="cyan")
    show_answer(console, curator, curator.ask(sql, epsilon=0.5, analyst="alice"), "alice")


def _run_out(console: Console, curator: Curator) -> None:
    _say(console, "One more question, at ε 1:")
    try:
        curator.ask("SELECT COUNT(*) FROM patients", epsilon=1, analyst="alice")
    except BudgetExceeded as refusal:
        _say(
            console, f"refused: {refusal.code} (nothing was spent)\n{refusal.problem}\n{refusal.next_step}", style="red"
        )


def _attack(console: Console, catalog: Path) -> None:
    """Differencing: everybody in the ICU, less everybody but you; through the door that an analyst has."""
    generous = (
        catalog.read_text().replace("epsilon = 5.0", "epsilon = 1000.0").replace("ledger.sqlite", "attack.sqlite")
    )
    catalog.write_text(generous)  # Mallory may try as often as she likes; each patient still costs ε 1
    in_icu = _patients_in_icu()
    some, others = sorted(in_icu)[: _TARGETS // 2], sorted(set(range(1, _PATIENTS + 1)) - in_icu)[: _TARGETS // 2]
    everybody = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE ward = 'ICU' AND patient_id <> {}"
    curator = open_curator(catalog)
    right, right_on_exact = 0, 0
    for number, person in enumerate([*some, *others]):
        with_you = curator.ask(everybody.format(-1 - number), epsilon=0.5).rows[0]["n"]
        without_you = curator.ask(everybody.format(person), epsilon=0.5).rows[0]["n"]
        right += (with_you - without_you >= 1) == (person in in_icu)
        right_on_exact += (len(in_icu) - len(in_icu - {person}) >= 1) == (person in in_icu)
    curator.close()
    allowed = Loss(2.0).best_guess  # a changed value is two steps of the ε 1 that a pair of questions costs
    _say(
        console,
        "Mallory asks how many patients were in the ICU, then how many without you, and takes the difference.\n"
        f"exact answers   right about {right_on_exact} of {_TARGETS} patients\n"
        f"Discreet        right about {right} of {_TARGETS} ({100 * right / _TARGETS:.0f} %), at ε 1 each; "
        f"a coin: 50 %, allowed: {100 * allowed:.0f} %",
    )


def _patients_in_icu() -> set[int]:
    visits = clinic(patients=_PATIENTS, visits=_VISITS)["visits"]
    wards = visits["ward"].to_numpy(zero_copy_only=False)
    return set(np.unique(visits["patient_id"].to_numpy()[wards == "ICU"]).tolist())
