"""List, load and publish finished releases."""

from __future__ import annotations

from typing import Any

from discreet.api.context import Context
from discreet.api.requests.releases import PublishRequest, ReleaseRequest, ReleasesRequest
from discreet.api.stored_releases import stored_release
from discreet.errors import Forbidden
from discreet.measurement.run_release import RunRelease


def run(request: ReleasesRequest | ReleaseRequest | PublishRequest, context: Context) -> Any:
    """Look up what is stored, or write to the ledger that a release is published."""
    match request:
        case ReleasesRequest():
            return context.ledger.named_releases(analyst=context.analyst)
        case ReleaseRequest():
            return load_release(request.name, context)
    if context.analyst is not None:
        raise Forbidden("Only the data owner publishes a release.", next_step="Ask the owner to publish it.")
    return context.ledger.publish(request.name, analyst=request.given_by, by=context.call.actor)


def load_release(name: str, context: Context) -> RunRelease:
    """A release by its name. Nothing is spent."""
    return stored_release(context.ledger.named_answer(name, analyst=context.analyst), name=name)
