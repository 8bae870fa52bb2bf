"""Run an attack: check the arguments, run the trials and return the result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from discreet.attacks.lab.attack import DISCREET, Attack, Game, Size
from discreet.attacks.lab.attack_registry import find
from discreet.attacks.lab.result import Result
from discreet.attacks.lab.scene import LAB, Scene
from discreet.core.exact import Number, finite, read_epsilon
from discreet.core.loss import Loss
from discreet.core.optional_imports import check_installed
from discreet.errors import BadEpsilon, BadInput

Sizes = Literal["small", "full"]


def run(
    name: str,
    *,
    against: str = "weak",
    epsilon: Number | None = None,
    delta: Number | None = None,
    people: int | None = None,
    trials: int | None = None,
    size: Sizes = "full",
    seed: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    scene: Scene | None = None,
    **options: float,
) -> Result:
    """Run an attack against a weak release, a peer package or Discreet.

    Args:
        name: The name of an attack: see `names()`.
        against: "weak" for the attack's default weak release, a release by name, a peer package, or "discreet".
        epsilon: The attacker's whole budget for one trial. Releases without a guarantee need none.
        delta: The delta of this budget; without it, the budget is pure epsilon.
        people: The number of people in the generated data.
        trials: The number of trials.
        size: "small" for a quick run, "full" for the sizes in the lectures.
        seed: Seeds the generated data and the attackers, never Discreet's noise.
        on_progress: Called with the number of finished trials and of all trials.
        scene: The generated people: the lab's own, or `scene_of(catalog)` for people in the shape of a catalog.
        **options: Other options of the attack.
    """
    attack = find(name)
    target = attack.weak if against == "weak" else against
    loss = _loss(attack, target, epsilon, delta)
    _check_packages(attack, target)
    usual: Size = {"small": attack.small, "full": attack.full}[size]
    game = Game(
        against=target,
        loss=loss,
        people=_whole("people", people, usual.people),
        trials=_whole("trials", trials, usual.trials),
        rng=np.random.default_rng(seed),
        options=_options(attack, options),
        on_progress=on_progress,
        scene=_scene(attack, scene),
    )
    started = time.perf_counter()
    outcome = attack.play(game)
    bound = None if target in attack.releases else outcome.bound
    return Result(
        attack=attack.name,
        against=target,
        scores=tuple(float(score) for score in outcome.scores),
        baseline=outcome.baseline,
        bound=None if bound is None else bound.value,
        bound_at=None if bound is None else bound.row,
        epsilon=None if loss is None else loss.epsilon,
        delta=None if loss is None or delta is None else loss.delta,
        people=game.people,
        measure=attack.measure,
        whole_runs=attack.whole_runs,
        transcript=tuple(outcome.transcript),
        seconds=time.perf_counter() - started,
        seed=seed,
        options=game.options,
        details=outcome.details,
        series=tuple(outcome.series),
        sample=game.sample,
    )


def _loss(attack: Attack, target: str, epsilon: Number | None, delta: Number | None) -> Loss | None:
    if target in attack.releases and target not in attack.priced:
        return None
    if target not in (*attack.releases, *attack.peers, DISCREET):
        choices = ", ".join(("weak", *attack.releases, *attack.peers, DISCREET))
        raise BadInput("This attack has no such target.", next_step=f"Choose one of: {choices}.")
    if epsilon is None:
        raise BadEpsilon(
            "The attacker's budget is missing.",
            next_step="Give epsilon, the whole budget of one trial, such as 1.",
        )
    return Loss(float(read_epsilon(epsilon)), float(finite(delta) or 0) if delta is not None else 0.0)


def _scene(attack: Attack, scene: Scene | None) -> Scene:
    if scene is not None and not attack.any_catalog:
        raise BadInput("This attack needs its own generated people.", next_step="Leave out the scene or catalog.")
    return LAB if scene is None else scene


def _check_packages(attack: Attack, target: str) -> None:
    for package in (*attack.needs, *([target] if target in attack.peers else [])):
        check_installed(package)


def _whole(name: str, given: int | None, usual: int) -> int:
    number = usual if given is None else given
    if number < 1 or number != int(number):
        raise BadInput(f"{name} must be a whole number of at least 1.", next_step=f"Give {name}={usual}.")
    return int(number)


def _options(attack: Attack, given: Mapping[str, float]) -> dict[str, float]:
    unknown = sorted(set(given) - set(attack.options))
    if unknown:
        known = ", ".join(attack.options) or "none"
        raise BadInput(f"This attack has no option {unknown[0]}.", next_step=f"Its options are: {known}.")
    for name, value in given.items():
        is_whole = isinstance(attack.options[name], int)
        if not math.isfinite(value) or (is_whole and value != int(value)):
            kind = "a whole number" if is_whole else "a number"
            raise BadInput(f"{name} must be {kind}.", next_step=f"Give {name}={attack.options[name]:g}, for example.")
    return {**attack.options, **given}
