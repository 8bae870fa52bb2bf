"""Routes for the attack lab. Attacks use generated data only: they cost no budget and never read the protected data."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from discreet import attacks
from discreet.attacks.lab import lab
from discreet.attacks.lab.attack import DISCREET
from discreet.attacks.lab.scene import scene_of
from discreet.catalog import Catalog
from discreet.concurrency.fair_semaphore import FairSemaphore
from discreet.errors import BadInput
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.route_class import SharedRoute
from discreet.server.schemas.attack_bodies import Console
from discreet.server.schemas.query_bodies import Attempt

routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)
_LONGEST = 10.0
"""Seconds after which an attack is stopped between two trials."""
_PLAY_SLOTS = FairSemaphore(1, each=1, long=0)
"""One attack runs at a time; analysts take turns, so many attacks of one analyst delay another by one attack only."""
_WAITING = CapacityLimiter(64)
_EPSILONS = tuple(10 ** (step / 20 - 1) for step in range(41))
"""From 0.1 to 10: the epsilons at which the privacy bound is drawn."""


@routes.get("/attacks")
def list_attacks(request: Request) -> Response:
    """List the attacks: goal, view, vulnerable releases, and parameters with their ranges; and whether people can be generated in the shape of this catalog."""
    about = [_summary(attack) for attack in attacks.list_attacks()]
    return JSONResponse({"attacks": about, "catalog": _shape(service_of(request).curator.declared)})


@routes.post("/attacks/{name}")
async def play(name: str, body: Attempt, request: Request) -> dict[str, Any]:
    """Run an attack at a small size on generated data, and return all of its steps.

    With `earlier`, the scores of previous trials at the same settings, the success and its interval are over all trials together.
    """
    service, holder = service_of(request), holder_of(request)
    with service.rate_limit.admit(holder.name):
        return await run_sync(_play_in_turn, name, body, holder.name, service.curator.declared, limiter=_WAITING)


def _play_in_turn(name: str, body: Attempt, analyst: str, catalog: Catalog) -> dict[str, Any]:
    with _PLAY_SLOTS.slot(analyst, cancelled=threading.Event()):
        return _play(name, body, catalog)


def _shape(catalog: Catalog) -> dict[str, str | None]:
    """Describe generated data in the shape of this catalog, or say why it is not possible. Uses names of the catalog only."""
    try:
        scene = scene_of(catalog)
    except BadInput as refusal:
        return {"table": None, "secret": None, "refused": str(refusal)}
    return {"table": scene.declared.name, "secret": scene.secret, "refused": None}


def _summary(attack: attacks.Attack) -> dict[str, Any]:
    return {**attack.as_dict(), **Console(attack).as_dict(), "missing": lab.missing(attack)}


def _play(name: str, body: Attempt, catalog: Catalog) -> dict[str, Any]:
    attack = attacks.find(name)
    console, target = Console(attack), attack.weak if body.against == "weak" else body.against
    turned = console.check(body.options if body.people is None else {**body.options, "people": body.people})
    result = attacks.run(
        name,
        against=target,
        epsilon=body.epsilon,
        delta=body.delta,
        people=int(turned.pop("people")),
        trials=_trials(body, console.trials(target)),
        size="small",
        seed=body.seed,
        on_progress=_until(time.monotonic() + _LONGEST),
        scene=scene_of(catalog) if body.people_of == "catalog" else None,
        **turned,
    )
    together = replace(result, scores=(*body.earlier, *result.scores))
    return {**together.as_dict(), "scores": list(result.scores), "allowed": _allowed(result)}


def _trials(body: Attempt, most: int) -> int:
    if body.trials is not None and body.trials > most:
        raise BadInput(
            f"The server runs at most {most} trials of this attack at once.",
            next_step="Run it again with the scores as `earlier`, or use `discreet attack run` for more.",
        )
    return body.trials or most


def _until(end: float) -> Callable[[int, int], None]:
    def go_on(done: int, trials: int) -> None:
        if done < trials and time.monotonic() > end:
            raise BadInput(
                f"The attack was stopped: it took longer than {_LONGEST:g} seconds.",
                next_step="Use fewer people or trials, or `discreet attack run`.",
            )

    return go_on


def _allowed(result: attacks.Result) -> Sequence[tuple[float, float]]:
    """Return the privacy bound on the attack's success, at many epsilons."""
    if result.bound_at is None or result.against != DISCREET:
        return []
    return [(epsilon, result.bound_at(epsilon, result.delta or 0.0)) for epsilon in _EPSILONS]
