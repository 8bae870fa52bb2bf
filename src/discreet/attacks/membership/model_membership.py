"""Membership inference on a model: it has higher confidence for people in its training data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.attacks.lab import success_bounds
from discreet.attacks.lab.analyst_access import Analyst
from discreet.attacks.lab.attack import Attack, Bound, Game, Outcome, Series, Size, Tally
from discreet.attacks.lab.trial_steps import Step
from discreet.attacks.membership import model_inference
from discreet.attacks.membership.naive_bayes_target import NaiveBayes, exact_counts
from discreet.attacks.releases.vulnerable_models import Model, forest, neighbours

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_OUTSIDERS, _RANK = 399, 4
"""People not in any data: a score above all but three of these 399 has a false positive rate of 1 %."""
_FPR = _RANK / (_OUTSIDERS + 1)
_RANKS = (1, 2, 4, 10, 20, 40, 80, 160, 240, 320, 399)
_FEATURES = 40
_MEASURES = _FEATURES + 1
_TRIALS_PER_WORLD = 5

Train = Callable[[Bits], Model]
"""A function from the members of the training data to a model."""


@dataclass(frozen=True, slots=True)
class World:
    """Features and labels of candidates, each in the data or not, and then of outsiders, who are not."""

    features: Bits
    labels: Bits
    people: int

    @classmethod
    def draw(cls, game: Game) -> World:
        """Draw a world whose labels depend little on the features, so a model that predicts them well has memorized."""
        features = game.rng.random((game.people + _OUTSIDERS, _FEATURES)) < 0.5
        labels = (features[:, :3].sum(axis=1) >= 2) ^ (game.rng.random(len(features)) < 0.4)
        return cls(features, labels, game.people)

    def members(self, rng: np.random.Generator) -> Bits:
        """Draw a training set: each candidate with probability 1/2, no outsider."""
        everyone = np.zeros(len(self.labels), dtype=bool)
        everyone[: self.people] = rng.random(self.people) < 0.5
        return everyone

    def shadow(self, rng: np.random.Generator) -> Bits:
        """Draw a training set of about that size for a shadow model, from all people."""
        return rng.random(len(self.labels)) < 0.5 * self.people / len(self.labels)

    def confidences(self, model: Model) -> Floats:
        """Return a model's confidences in each person's own label."""
        return model.confidences(self.features.astype(np.int64), self.labels.astype(np.int64))


def play(game: Game) -> Outcome:
    """Each trial is one trained model. Its score is the share of members found at 1 % false positives."""
    return _against_discreet(game) if game.is_discreet else _against_overfitting(game)


def _against_overfitting(game: Game) -> Outcome:
    scoring = _Scoring(game)
    for trials in game.each_world(trials_per_world=_TRIALS_PER_WORLD):
        world = World.draw(game)
        train = partial(_overfit, game, world)
        shadows = _Shadows.train(game, world, train)
        for _ in game.each_trial(trials):
            members = world.members(game.rng)
            scoring.add(world, members, train(members), shadows, [Step("answered", "a model with its confidences")])
    return scoring.outcome(bound=None)


def _overfit(game: Game, world: World, members: Bits) -> Model:
    rows, labels = world.features[members].astype(np.int64), world.labels[members].astype(np.int64)
    if game.against == "neighbours":
        return neighbours(rows, labels, many=10)
    return forest(rows, labels, trees=int(game.options["trees"]), rng=game.rng)


def _against_discreet(game: Game) -> Outcome:
    """Attack naive Bayes, trained from counts of one query for the whole budget.

    The attacker knows the method, and trains shadow models on other people with noise of the same size.
    """
    scoring = _Scoring(game)
    for _ in game.each_trial():
        world = World.draw(game)
        members = world.members(game.rng)
        with game.protect({"rows": _table(world, members)}, _catalog(game)) as protected:
            analyst = game.analyst(protected)
            model = _asked(game, analyst)
        shadows = _Shadows.train(game, world, partial(_train_shadow, game, world))
        scoring.add(world, members, model, shadows, analyst.steps)
    return scoring.outcome(bound=game.bound(partial(success_bounds.tpr_at, _FPR)))


def _asked(game: Game, analyst: Analyst) -> NaiveBayes:
    """Query one sum of +1 and -1 per feature by label: a person changes each sum by 1, for any features."""
    sums = ", ".join(f"SUM(CASE WHEN f{j} THEN 1 ELSE -1 END) AS s{j}" for j in range(_FEATURES))
    rows = analyst.ask(
        f"SELECT label, COUNT(*) AS n, {sums} FROM rows GROUP BY label",
        epsilon=game.budget.epsilon,
    )
    by_label = {bool(row["label"]): row for row in rows}
    tables = []
    for j in range(_FEATURES):
        counts = [(float(by_label[label]["n"]), float(by_label[label][f"s{j}"])) for label in (False, True)]
        tables.append(np.array([[(n - s) / 2, (n + s) / 2] for n, s in counts]))
    return NaiveBayes(tables)


def _train_shadow(game: Game, world: World, members: Bits) -> NaiveBayes:
    rows, labels = world.features[members].astype(np.int64), world.labels[members].astype(np.int64)
    scale = _MEASURES / game.budget.epsilon
    ns = game.rng.laplace(0, scale, 2)
    tables = []
    for table in exact_counts(rows, labels, values=2, classes=2):
        n, s = table.sum(axis=1) + ns, table[:, 1] - table[:, 0] + game.rng.laplace(0, scale, 2)
        tables.append(np.column_stack([(n - s) / 2, (n + s) / 2]))
    return NaiveBayes(tables)


@dataclass(frozen=True, slots=True)
class _Shadows:
    """The attacker's shadow models: their confidences for all people, and their training sets."""

    confidences: Floats
    members: Bits

    @classmethod
    def train(cls, game: Game, world: World, train: Train) -> _Shadows:
        members = np.array([world.shadow(game.rng) for _ in range(int(game.options["shadows"]))])
        return cls(np.array([world.confidences(train(some)) for some in members]), members)


class _Scoring:
    """Run the three tests on each model and collect their scores."""

    def __init__(self, game: Game) -> None:
        self._game, self._tally = game, Tally()
        self._rates: dict[str, list[float]] = {"loss threshold": [], "shadow models": [], "LiRA": []}
        self._right: dict[str, list[float]] = {"members": [], "others": []}
        self._curve: list[list[float]] = []

    def add(self, world: World, members: Bits, model: Model, shadows: _Shadows, steps: list[Step]) -> None:
        sure = world.confidences(model)
        scores = {
            "loss threshold": model_inference.by_loss(sure),
            "shadow models": model_inference.by_shadows(
                sure, world.labels.astype(float), shadows.confidences, shadows.members
            ),
            "LiRA": model_inference.by_likelihood(sure, shadows.confidences, shadows.members),
        }
        for name, all_of_them in scores.items():
            self._rates[name].append(self._found(world, members, all_of_them, _RANK))
        self._curve.append([self._found(world, members, scores["LiRA"], rank) for rank in _RANKS])
        self._right["members"].append(float(np.mean(sure[members] > 0.5)))
        self._right["others"].append(float(np.mean(sure[~members] > 0.5)))
        found_by = ", ".join(f"{name} {100 * rates[-1]:.1f} %" for name, rates in self._rates.items())
        ends = [
            Step(
                "known", f"{world.people:,} candidates, their features and labels; {_OUTSIDERS} people not in the data"
            ),
            *steps,
            Step("note", f"{len(shadows.members)} shadow models, trained on data known to the attacker"),
            Step("guess", "people who score above all but three of the outsiders are members"),
            Step("truth", f"members found: {found_by}"),
        ]
        self._tally.add(self._rates["LiRA"][-1], ends)

    def _found(self, world: World, members: Bits, scores: Floats, rank: int) -> float:
        """Return the share of members who score above all but `rank` - 1 of the outsiders."""
        inside, outside = scores[members], scores[world.people :]
        found = model_inference.above_outsiders(inside, outside, rank=rank, rng=self._game.rng)
        return float(np.mean(found)) if found.size else 0.0

    def outcome(self, *, bound: Bound | None) -> Outcome:
        details = {f"found by {name}": float(np.mean(rates)) for name, rates in self._rates.items()}
        details |= {f"model is right on {who}": float(np.mean(shares)) for who, shares in self._right.items()}
        rates = tuple(rank / (_OUTSIDERS + 1) for rank in _RANKS)
        found = tuple(np.mean(self._curve, axis=0).tolist())
        curve = Series("members found (LiRA), by the rate of false positives", rates, found)
        return self._tally.outcome(baseline=_FPR, bound=bound, details=details, series=[curve])


def _table(world: World, members: Bits) -> dict[str, object]:
    columns: dict[str, object] = {"id": np.flatnonzero(members), "label": world.labels[members]}
    return columns | {f"f{j}": world.features[members, j] for j in range(_FEATURES)}


def _catalog(game: Game) -> str:
    columns = "".join(f'columns.f{j} = {{ type = "boolean" }}\n' for j in range(_FEATURES))
    last = game.people + _OUTSIDERS
    return (
        '[tables.rows]\nprivacy_unit = "id"\n'
        f'columns.id = {{ type = "integer", lower = 0, upper = {last} }}\n'
        f'columns.label = {{ type = "boolean" }}\n{columns}'
    )


ATTACKS = (
    Attack(
        name="model-membership",
        title="Was I in the training data?",
        wants="who was in the training data of a model",
        sees="the confidences of a model in people's labels, and models that the attacker trained in the same way",
        lesson="A model is an answer about its training data. A model that memorizes people reveals who they are.",
        citation=(
            "Harvard slides, Membership Attacks on ML as a Service; Shokri et al. 2017 (arXiv:1610.05820); Yeom et al. "
            "2018 (arXiv:1709.01604); Carlini et al. 2022 (arXiv:2112.03570)"
        ),
        releases={
            "forest": "a random forest of deep trees, with its confidences",
            "neighbours": "the ten nearest neighbours, weighted by distance, with their confidences",
        },
        bound="TPR at 1 % FPR",
        small=Size(200, 4),
        full=Size(400, 25),
        play=play,
        measure="members found at 1 % false positives",
        options={"shadows": 24, "trees": 50},
        needs=("sklearn",),
    ),
)
