"""Model inversion: infer a person's unknown attribute from a model, the person's outcome and known attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.strategies import share
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.membership.naive_bayes_target import NaiveBayes
from discreet.attacks.releases.vulnerable_models import Model, tree

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_KNOWN, _BANDS, _DOSES = 6, 4, 10
_GENOTYPES = np.array([0.45, 0.35, 0.2])
"""The public frequency of each genotype."""
_COLUMNS = (*(f"a{j}" for j in range(_KNOWN)), "genotype")


@dataclass(frozen=True, slots=True)
class Patients:
    """Attributes known to the attacker, the genotype, which is secret, and the dose of each patient."""

    known: Ints
    genotype: Ints
    dose: Ints

    @classmethod
    def draw(cls, people: int, rng: np.random.Generator) -> Patients:
        """Draw patients. The dose depends on two attributes, the genotype, and noise."""
        known = rng.integers(0, _BANDS, (people, _KNOWN))
        genotype = rng.choice(_GENOTYPES.size, people, p=_GENOTYPES)
        middle = 0.35 * (known[:, 0] + known[:, 1]) + 0.8 * genotype
        return cls(
            known, genotype, np.clip(np.rint(middle + rng.normal(0, 1.3, people)), 0, _DOSES - 1).astype(np.int64)
        )

    @property
    def rows(self) -> Ints:
        """The inputs from which a model predicts the dose."""
        return np.column_stack([self.known, self.genotype])


Train = Callable[[Patients], tuple[Model, list[Step]]]


def play(game: Game) -> Outcome:
    """Each trial is one model. Its score is the share of its people whose genotype is guessed."""
    if not game.is_discreet:
        return _compare(game, lambda patients: (tree(patients.rows, patients.dose, depth=None, rng=game.rng), []))
    return _compare(game, partial(_asked, game))


def invert(model: Model, patients: Patients) -> Ints:
    """Return the likeliest genotype: its frequency times the model's confidence in the dose given this genotype.

    Citation: Fredrikson, Lantz, Jha, Lin, Page, Ristenpart, USENIX Security 2014; Fredrikson, Jha, Ristenpart,
    CCS 2015.
    """
    scores = []
    for genotype, common in enumerate(_GENOTYPES):
        rows = np.column_stack([patients.known, np.full(len(patients.known), genotype)])
        scores.append(common * model.confidences(rows, patients.dose))
    return np.argmax(scores, axis=0)


def _compare(game: Game, train: Train) -> Outcome:
    """Run the same attack on people in the training data, and on people not in it.

    Patients are independent. So a model with the target removed is a model of one patient fewer, and each person
    outside the data can serve as the target. Both directions of the guarantee hold, for right and for wrong guesses
    (e^ε s + δ each), and the smaller bound is used.
    """
    tally, removed = Tally(), []
    for _ in game.each_trial():
        patients = Patients.draw(game.people, game.rng)
        model, steps = train(patients)
        guesses = invert(model, patients)
        right = float(np.mean(guesses == patients.genotype))
        never_seen = Patients.draw(game.people, game.rng)
        without, _ = train(Patients.draw(max(1, game.people - 1), game.rng))
        removed.append(float(np.mean(invert(without, never_seen) == never_seen.genotype)))
        observed = f"patient 0: attributes {patients.known[0].tolist()}, dose {patients.dose[0]}"
        steps = [
            Step("known", f"all attributes and doses, and the frequency of each genotype. {observed}"),
            *(steps or [Step("answered", "a decision tree with its confidences")]),
            Step("guess", f"patient 0 has genotype {guesses[0]}, and so on for all {game.people:,}"),
            Step("truth", f"genotype {patients.genotype[0]}; {100 * right:.1f} % of all are right"),
        ]
        tally.add(right, steps)
    imputed = float(np.mean(removed))
    details = {"right about people not in the training data": imputed, "most common genotype": float(_GENOTYPES.max())}
    series = [] if game.is_discreet else [_by_depth(game)]
    bound = game.bound_of_this_run(partial(_bound, imputed))
    return tally.outcome(baseline=imputed, bound=bound, details=details, series=series)


def _bound(removed: float, epsilon: float, delta: float) -> float:
    """Return the smaller bound: right at most e^ε s + δ, and the corresponding bound from wrong guesses."""
    return min(success_bounds.inversion(removed, epsilon, delta), success_bounds.tpr_at(removed, epsilon, delta))


def _by_depth(game: Game) -> Series:
    """Measure the attack by depth of the tree: deeper trees reveal more about their training data."""
    patients, depths = Patients.draw(game.people, game.rng), range(1, 17)
    shares = []
    for depth in depths:
        model = tree(patients.rows, patients.dose, depth=depth, rng=game.rng)
        shares.append(float(np.mean(invert(model, patients) == patients.genotype)))
    return Series("genotypes guessed, by depth of the tree", tuple(map(float, depths)), tuple(shares))


def _asked(game: Game, patients: Patients) -> tuple[NaiveBayes, list[Step]]:
    """Train naive Bayes from one query per column for its counts by dose. The queries share the budget."""
    columns = {name: patients.rows[:, number] for number, name in enumerate(_COLUMNS)}
    table = {"id": np.arange(patients.dose.size), "dose": patients.dose, **columns}
    with game.protect({"patients": table}, _catalog()) as world:
        analyst = game.analyst(world)
        counts = [_counts(game, analyst, name) for name in _COLUMNS]
    return NaiveBayes(counts), analyst.steps


def _counts(game: Game, analyst: Analyst, column: str) -> Floats:
    rows = analyst.ask(
        f"SELECT dose, {column} AS v, COUNT(*) AS n FROM patients GROUP BY dose, {column}",
        epsilon=share(game.budget.epsilon, len(_COLUMNS)),
    )
    table = np.zeros((_DOSES, _values(column)))
    for row in rows:
        table[int(row["dose"]), int(row["v"])] = float(row["n"])
    return table


def _values(column: str) -> int:
    return _GENOTYPES.size if column == "genotype" else _BANDS


def _catalog() -> str:
    lines = [f'columns.{name} = {{ type = "integer", lower = 0, upper = {_values(name) - 1} }}' for name in _COLUMNS]
    dose = f'columns.dose = {{ type = "integer", lower = 0, upper = {_DOSES - 1} }}'
    return "\n".join(['[tables.patients]\nprivacy_unit = "id"\ncolumns.id = { type = "integer" }', dose, *lines, ""])


ATTACKS = (
    Attack(
        name="inversion",
        title="From the dose to the genotype",
        wants="a person's genotype",
        sees="a model that predicts a dose, with its confidences; the other attributes and the dose of each person",
        lesson=(
            "A model that describes a population allows inferences about everyone, in the training data or not. A "
            "privacy breach is what it reveals beyond that about people in its training data; differential privacy "
            "bounds this difference."
        ),
        citation=(
            "Fredrikson et al., USENIX Security 2014, and CCS 2015; McSherry 2016, Statistical inference considered "
            "harmful, for the comparison"
        ),
        releases={"tree": "a decision tree that is grown down to single patients, with its confidences"},
        bound="inversion, skewed priors",
        small=Size(300, 4),
        full=Size(1000, 20),
        play=play,
        measure="genotypes guessed",
        needs=("sklearn",),
    ),
)
