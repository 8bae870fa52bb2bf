"""Begin a watch, and find it again."""

from __future__ import annotations

from discreet.api.context import Context
from discreet.api.operations.ask import plan_query
from discreet.api.requests.watch import WatchRequest
from discreet.pipeline.threshold_watch import Watch, WatchRun, resume, start, watch_run
from discreet.sql.reader.query_text import wording


def run(request: WatchRequest, context: Context) -> Watch:
    """Charge for a watch and draw its threshold, or find it as it is in the ledger."""
    return start(_watch_run(request, context), context.pipeline, context.call, version=context.version)


def recall(request: WatchRequest, context: Context) -> Watch:
    """Return the watch with the same parameters that was charged earlier, or refuse. Free."""
    return resume(_watch_run(request, context), context.pipeline, context.call, version=context.version)


def _watch_run(request: WatchRequest, context: Context) -> WatchRun:
    with context.planning():
        plan = plan_query(request.sql, context, epsilon=request.epsilon, parameters=request.parameters)
    return watch_run(
        plan,
        threshold=request.threshold,
        neighbours=context.catalog.neighbours,
        run=request.run,
        label=wording(str(request.sql)),
    )
