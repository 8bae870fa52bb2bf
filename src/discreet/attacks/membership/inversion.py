"""Model inversion: from a model, somebody's outcome and what is known of them, to what is not known of them."""

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
"""How common each is: public."""
_COLUMNS = (*(f"a{j}" for j in range(_KNOWN)), "genotype")


@dataclass(frozen=True, slots=True)
class Patients:
    """What their doctor and the attacker know, what only the doctor knows, and the dose that was found for them."""

    known: Ints
    genotype: Ints
    dose: Ints

    @classmethod
    def drawn(cls, people: int, rng: np.random.Generator) -> Patients:
        """The dose depends on two of the attributes and on the genotype, and on much that nobody knows."""
        known = rng.integers(0, _BANDS, (people, _KNOWN))
        genotype = rng.choice(_GENOTYPES.size, people, p=_GENOTYPES)
        middle = 0.35 * (known[:, 0] + known[:, 1]) + 0.8 * genotype
        return cls(
            known, genotype, np.clip(np.rint(middle + rng.normal(0, 1.3, people)), 0, _DOSES - 1).astype(np.int64)
        )

    @property
    def rows(self) -> Ints:
        """What a model predicts the dose from."""
        return np.column_stack([self.known, self.genotype])


Train = Callable[[Patients], tuple[Model, list[Step]]]


def play(game: Game) -> Outcome:
    """Each trial is one model; its score is the share of its people whose genotype is guessed."""
    if not game.is_discreet:
        return _compared(game, lambda patients: (tree(patients.rows, patients.dose, depth=None, rng=game.rng), []))
    return _compared(game, partial(_asked, game))


def invert(model: Model, patients: Patients) -> Ints:
    """The genotype that is likeliest: how common it is, times how sure the model is of the dose if it were the one.

    Citation: Fredrikson, Lantz, Jha, Lin, Page, Ristenpart, USENIX Security 2014; Fredrikson, Jha, Ristenpart,
    CCS 2015.
    """
    scores = []
    for genotype, common in enumerate(_GENOTYPES):
        rows = np.column_stack([patients.known, np.full(len(patients.known), genotype)])
        scores.append(common * model.confidences(rows, patients.dose))
    return np.argmax(scores, axis=0)


def _compared(game: Game, train: Train) -> Outcome:
    """The same attack on people in the data, and on one person more whom the model never saw.

    Patients are independent of each other. So a model from which the target was removed is a model of one patient
    fewer, and anybody from outside is the target; many of them are tried, each for themselves. Both directions of the
    guarantee hold for the pair, e^ε s + δ for being right and the same for being wrong, and the lesser bound is taken.
    """
    tally, removed = Tally(), []
    for _ in game.each_trial():
        patients = Patients.drawn(game.people, game.rng)
        model, steps = train(patients)
        guesses = invert(model, patients)
        right = float(np.mean(guesses == patients.genotype))
        never_seen = Patients.drawn(game.people, game.rng)
        without, _ = train(Patients.drawn(max(1, game.people - 1), game.rng))
        removed.append(float(np.mean(invert(without, never_seen) == never_seen.genotype)))
        told = f"patient 0: attributes {patients.known[0].tolist()}, dose {patients.dose[0]}"
        steps = [
            Step("known", f"of everybody the attributes and the dose; how common each genotype is. {told}"),
            *(steps or [Step("answered", "a decision tree that tells its confidences")]),
            Step("guess", f"patient 0 has genotype {guesses[0]}, and so on for all {game.people:,}"),
            Step("truth", f"genotype {patients.genotype[0]}; {100 * right:.1f} % of all are right"),
        ]
        tally.add(right, steps)
    imputed = float(np.mean(removed))
    facts = {"right about people whom the model never saw": imputed, "most common genotype": float(_GENOTYPES.max())}
    series = [] if game.is_discreet else [_by_depth(game)]
    bound = game.bound_of_this_run(partial(_bound, imputed))
    return tally.outcome(baseline=imputed, bound=bound, facts=facts, series=series)


def _bound(removed: float, epsilon: float, delta: float) -> float:
    """Right at most e^ε s + δ; and wrong, with the target removed, at most e^ε times wrong with the target, plus δ."""
    return min(success_bounds.inversion(removed, epsilon, delta), success_bounds.tpr_at(removed, epsilon, delta))


def _by_depth(game: Game) -> Series:
    """The deeper the tree, the more it tells about its own people."""
    patients, depths = Patients.drawn(game.people, game.rng), range(1, 17)
    shares = []
    for depth in depths:
        model = tree(patients.rows, patients.dose, depth=depth, rng=game.rng)
        shares.append(float(np.mean(invert(model, patients) == patients.genotype)))
    return Series("genotypes guessed, by depth of the tree", tuple(map(float, depths)), tuple(shares))


def _asked(game: Game, patients: Patients) -> tuple[NaiveBayes, list[Step]]:
    """Naive Bayes needs one table of counts for each column, by dose: so many queries share the budget."""
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
        wants="somebody's genotype",
        sees="a model that predicts a dose, with its confidences; everybody's other attributes and their dose",
        lesson=(
            "What a model says of people in general, it says of everybody, in the data or not. Only what it says "
            "beyond that about its own people is a breach; with differential privacy that is little."
        ),
        citation=(
            "Fredrikson et al., USENIX Security 2014, and CCS 2015; McSherry 2016, Statistical inference considered "
            "harmful, for the comparison"
        ),
        releases={"tree": "a decision tree grown until its leaves are single patients, with its confidences"},
        bound="inversion, skewed priors",
        small=Size(300, 4),
        full=Size(1000, 20),
        play=play,
        measure="genotypes guessed",
        needs=("sklearn",),
    ),
)
