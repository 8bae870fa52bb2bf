"""Routes for the attack lab: generated worlds only, so nothing here costs budget or touches the data."""

from __future__ import annotations

from typing import Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request

from discreet import attacks
from discreet.errors import BadInput
from discreet.server.bodies import Attempt
from discreet.server.refusals import RESPONSES
from discreet.server.service import holder_of, service_of

routes = APIRouter(prefix="/v1", responses=RESPONSES)
_MOST_TRIALS = 100
_ONE_AT_A_TIME = CapacityLimiter(1)


@routes.get("/attacks")
async def list_attacks(request: Request) -> dict[str, Any]:
    """Every attack: what it wants, what it sees, what falls to it, and what can be turned."""
    await run_sync(holder_of, request)
    return {"attacks": [attack.as_dict() for attack in attacks.list_attacks()]}


@routes.post("/attacks/{name}")
async def play(name: str, body: Attempt, request: Request) -> dict[str, Any]:
    """Play an attack at a small size, in a world of its own, and see all of it."""
    service, holder = service_of(request), await run_sync(holder_of, request)
    async with service.guard.admit(holder.analyst):
        return await run_sync(_played, name, body, limiter=_ONE_AT_A_TIME)


def _played(name: str, body: Attempt) -> dict[str, Any]:
    attack = attacks.find(name)
    most = 2 * max(attack.small.people, 256)
    people = body.people or attack.small.people
    if people > most:
        raise BadInput(
            f"Here this attack plays with at most {most:,} people.", next_step="Use `discreet attack run` for more."
        )
    result = attacks.run(
        name,
        against=body.against,
        epsilon=body.epsilon,
        delta=body.delta,
        people=people,
        trials=min(body.trials or attack.small.trials, _MOST_TRIALS),
        size="small",
        seed=body.seed,
        **body.options,
    )
    return {**result.as_dict(), "plot": result.plot().svg}
