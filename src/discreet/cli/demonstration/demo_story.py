"""Second part of the demo: a clinic, ten queries with their costs, attacks that fail, and an exhausted budget."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from discreet.api.local import Curator
from discreet.api.opening import open_curator
from discreet.cli.analyst.budget import show_bill
from discreet.cli.terminal.answer_text import show_answer, show_table
from discreet.core.loss import Loss
from discreet.errors import BudgetExceeded, DiscreetError, QueryRefused
from discreet.results.ledger_views import asked
from discreet.samples import clinic, write_clinic

_PATIENTS, _VISITS = 100_000, 1_000_000
_TARGETS = 200
_WARDS = "SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY ward"
_FIRST = (
    _WARDS,
    (
        "SELECT p.sex, COUNT(*) AS visits, MEDIAN(v.cost) AS median_cost\n"
        "  FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY p.sex"
    ),
    (
        "SELECT n AS visits_a_patient, COUNT(*) AS patients\n"
        "  FROM (SELECT patient_id, LEAST(COUNT(*), 5) AS n FROM visits GROUP BY patient_id) GROUP BY n"
    ),
)
_MORE = (
    "SELECT YEAR(date) AS year, COUNT(*) AS visits FROM visits GROUP BY 1",
    "SELECT w.floor, SUM(v.cost) AS cost FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.floor",
    "SELECT FLOOR(age / 20) * 20 AS age, COUNT(*) AS patients FROM patients GROUP BY 1",
    (
        "SELECT COUNT(*) AS seniors_in_icu FROM patients WHERE age >= 65\n"
        "  AND patient_id IN (SELECT patient_id FROM visits WHERE ward = 'ICU')"
    ),
    (
        "SELECT ward, COUNT(*) AS first_visits FROM (SELECT patient_id, ward,\n"
        "  ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY date) AS nth FROM visits) WHERE nth = 1 GROUP BY ward"
    ),
    "SELECT zip, COUNT(*) AS patients FROM patients GROUP BY zip ORDER BY patients DESC LIMIT 3",
    "SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ROLLUP (ward)",
)
_WHERE = "" if shutil.which("discreet") else " (make shell puts discreet on your path)"
_ATTACKS = {
    "pairs of patients": "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward",
    "one row": "SELECT * FROM visits LIMIT 1",
    "the whole table in a condition": "SELECT COUNT(*) FROM visits WHERE cost > (SELECT MAX(cost) FROM visits)",
    "a file": "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
}


def print_story(console: Console) -> None:
    """Print it; everything happens in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        with console.status("making a clinic …"):
            catalog = write_clinic(folder, patients=_PATIENTS, visits=_VISITS)
            curator = open_curator(catalog, create_ledger=True)
        _say(
            console,
            f"Now a whole clinic: {_PATIENTS:,} patients, {_VISITS:,} visits, none of them real. Alice may spend ε 2.",
        )
        for sql in _FIRST:
            _ask(console, curator, sql, epsilon=0.4)
        _say(console, "The same question again, in other words, is free and has the same answer:")
        _ask(console, curator, _WARDS.lower(), epsilon=0.4)
        _say(console, "Seven more, at ε 0.1 each:")
        for sql in _MORE:
            _say(console, sql, style="cyan")
            show_table(console, curator.as_analyst("alice").ask(sql, epsilon=0.1))
        _run_out(console, curator)
        show_bill(console, curator.budget(), curator.history(), asked(curator.ledger, None))
        _refused(console, curator)
        curator.close()
        _difference(console, catalog)
    _say(
        console,
        f"Your own data: discreet init visits.parquet, then discreet ask{_WHERE}.\n"
        "More attacks: discreet attack list. People who trust nobody: discreet collect new. "
        "The page: discreet serve --demo.",
    )


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Padding(Text(text, style=style), (0, 0, 1, 2), expand=False))


def _ask(console: Console, curator: Curator, sql: str, *, epsilon: float) -> None:
    _say(console, f'$ discreet ask "{sql}" --epsilon {epsilon:g}', style="cyan")
    alice = curator.as_analyst("alice")
    answer = alice.ask(sql, epsilon=epsilon)
    show_answer(console, answer, alice.explain(sql, epsilon=epsilon), "alice")


def _run_out(console: Console, curator: Curator) -> None:
    _say(console, "One more question, at ε 1:")
    try:
        curator.as_analyst("alice").ask("SELECT COUNT(*) FROM patients", epsilon=1)
    except BudgetExceeded as refusal:
        _say(console, _refusal_text(refusal), style="red")


def _refused(console: Console, curator: Curator) -> None:
    """What an attacker would like to ask, and is not answered at any price."""
    _say(console, "Mallory asks for what no noise could cover:")
    for what, sql in _ATTACKS.items():
        try:
            curator.ask(sql, epsilon=0.1)
        except QueryRefused as refusal:
            _say(console, f"{what}: {sql}\n{_refusal_text(refusal)}", style="red")


def _refusal_text(refusal: DiscreetError) -> str:
    return f"refused: {refusal.code} (nothing was spent)\n{refusal.problem}\n{refusal.next_step}"


def _difference(console: Console, catalog: Path) -> None:
    """Run a differencing attack with the access of an analyst: everybody in the ICU, minus everybody but the victim."""
    generous = (
        catalog.read_text().replace("epsilon = 5.0", "epsilon = 1000.0").replace("ledger.sqlite", "attack.sqlite")
    )
    catalog.write_text(generous)  # Mallory may try as often as she likes; each patient still costs ε 1
    in_icu = _patients_in_icu()
    some, others = sorted(in_icu)[: _TARGETS // 2], sorted(set(range(1, _PATIENTS + 1)) - in_icu)[: _TARGETS // 2]
    everybody = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE ward = 'ICU' AND patient_id <> {}"
    right, right_on_exact = 0, 0
    with open_curator(catalog, create_ledger=True) as curator, console.status("Mallory asks 400 questions …"):
        for number, person in enumerate([*some, *others]):
            with_you = curator.ask(everybody.format(-1 - number), epsilon=0.5).rows[0]["n"]
            without_you = curator.ask(everybody.format(person), epsilon=0.5).rows[0]["n"]
            right += (with_you - without_you >= 1) == (person in in_icu)
            right_on_exact += (len(in_icu) - len(in_icu - {person}) >= 1) == (person in in_icu)
    allowed = Loss(2.0).best_guess  # a changed value is two steps of the ε 1 that a pair of queries costs
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
