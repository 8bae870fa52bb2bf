"""Routes for runs over protected rows: synthetic data, tables, models and evaluations; load releases by name, and draw rows."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi import Query as UrlParameter
from fastapi.responses import JSONResponse

from discreet.api.requests.evaluate import EvaluateRequest
from discreet.api.requests.learn import LearnRequest
from discreet.api.requests.synthesize import SynthesizeRequest
from discreet.api.requests.tabulate import TabulateRequest
from discreet.api.stored_releases import stored_release
from discreet.core.number_format import CONFIDENCE
from discreet.errors import BadInput, TooLarge
from discreet.measurement.release_files import MEDIA_TYPE
from discreet.measurement.run_release import RunRelease
from discreet.pipeline.call import Call
from discreet.server.auth.service import holder_of, service_of
from discreet.server.http.error_responses import RESPONSES
from discreet.server.http.route_class import SharedRoute
from discreet.server.http.serializers import (
    CSV,
    JSON,
    PARQUET,
    TABLES,
    Form,
    bytes_response,
    json_response,
    render_json,
)
from discreet.server.http.streaming import SpooledAnswer
from discreet.server.http.verb_routes import add_verb
from discreet.server.jobs.recent_releases import RecentReleases
from discreet.synthetic.quality.quality_report import html_report, summary
from discreet.synthetic.synthetic_release import SyntheticRelease

HTML = "text/html"
routes = APIRouter(prefix="/v1", responses=RESPONSES, route_class=SharedRoute)
MOST_ROWS = 1_000_000
MOST_VALUES = 40_000_000
"""Maximum values in a table of rows. Rows are drawn together, as their counts must match the model's expectation."""


@routes.get("/releases")
def list_releases(request: Request) -> Response:
    """List the names of your releases; of all releases for the owner."""
    return JSONResponse(
        {"releases": service_of(request).curator.as_analyst(holder_of(request).charged_analyst).releases()}
    )


@routes.get("/releases/{name}")
async def find_release(name: str, request: Request) -> Response:
    """Return a summary of one of your releases; with `Accept: application/vnd.discreet.release`, the release itself."""
    return await _release_response(name, request, _form_of(request))


@routes.get("/releases/{name}/rows")
async def draw_rows(
    name: str, request: Request, count: Annotated[int | None, UrlParameter(ge=0, le=MOST_ROWS)] = None
) -> Response:
    """Return synthetic rows as CSV, or as Parquet if accepted: `count` rows, at most 1,000,000. Default: the estimated size of the table."""
    kind = PARQUET if PARQUET in request.headers.get("accept", "") else CSV
    write = partial(_rows, kind=kind, count=count, recent=service_of(request).recent)
    return await _release_response(name, request, Form(kind, write), is_long=True)


@routes.get("/releases/{name}/report")
async def quality_report(
    name: str, request: Request, level: Annotated[float, UrlParameter(gt=0, lt=1)] = CONFIDENCE
) -> Response:
    """Return the quality of synthetic data: the counts of each column with error bounds, and a bound for each pair of columns; as a page with `Accept: text/html`."""
    is_page = HTML in request.headers.get("accept", "")
    write = partial(_quality, level=level, is_page=is_page, recent=service_of(request).recent)
    return await _release_response(name, request, Form(HTML if is_page else JSON, write), is_long=True)


@routes.put("/releases/{name}/published", status_code=204)
def publish(name: str, request: Request, given_by: str | None = None) -> None:
    """Show a release to everybody from now on, on the card too; `given_by` is the analyst who gave it the name. It cannot be undone."""
    owner = service_of(request).curator.with_call(Call(actor=holder_of(request).id))
    owner.publish(name, given_by=given_by)


@routes.get("/published/{name}")
def find_published(name: str, request: Request) -> Response:
    """Return a summary of a published release; public. With `Accept: application/vnd.discreet.release`, return the release itself."""
    release = stored_release(service_of(request).curator.ledger.published_answer(name), name=name)
    if MEDIA_TYPE in request.headers.get("accept", ""):
        return bytes_response(request, MEDIA_TYPE, [release.as_bytes()])
    return json_response(request, release.summary)


async def _release_response(name: str, request: Request, form: Form[RunRelease], *, is_long: bool = False) -> Response:
    """Return a release by its name; free. To draw rows a model is fitted, which takes seconds: each analyst has one slot for that."""
    service, holder = service_of(request), holder_of(request)
    service.long_answers.check(holder.name)
    prepared = await service.queries.look_up(
        lambda curator: curator.as_analyst(holder.charged_analyst).release(name),
        holder=holder,
        then=partial(form.prepare, service=service, analyst=holder.name),
        is_long=is_long,
    )
    return prepared.response(service)


def _form_of(request: Request) -> Form[Any]:
    if MEDIA_TYPE in request.headers.get("accept", ""):
        return Form(MEDIA_TYPE, _release)
    return Form(JSON, _facts)


def _facts(release: RunRelease, file: SpooledAnswer) -> None:
    file.write(render_json(release.details).encode())


def _release(release: RunRelease, file: SpooledAnswer) -> None:
    file.write(release.as_bytes())


def _rows(release: RunRelease, file: SpooledAnswer, *, kind: str, count: int | None, recent: RecentReleases) -> None:
    fitted = _fitted(release, recent)
    most = min(MOST_ROWS, MOST_VALUES // len(fitted.domain.columns))
    rows = min(most, max(0, round(fitted.total))) if count is None else count
    if rows > most:
        raise TooLarge(
            f"The server draws at most {most:,} rows from a release with this many columns.",
            next_step=f"Request {most:,} rows or fewer.",
        )
    TABLES[kind](iter([fitted.sample(rows)]), file)


def _quality(release: RunRelease, file: SpooledAnswer, *, level: float, is_page: bool, recent: RecentReleases) -> None:
    fitted = _fitted(release, recent)
    file.write((html_report(fitted, level) if is_page else render_json(summary(fitted, level))).encode())


def _fitted(release: RunRelease, recent: RecentReleases) -> SyntheticRelease:
    """Return the release with its fitted model, from the cache if possible."""
    if not isinstance(release, SyntheticRelease):
        raise BadInput(
            "This release has no synthetic rows.", next_step="Request it as application/vnd.discreet.release."
        )
    return recent.the_same_as(release)


for _kind in (SynthesizeRequest, TabulateRequest, LearnRequest, EvaluateRequest):
    add_verb(routes, _kind, _form_of, more=f"With `Accept: {MEDIA_TYPE}`, the result is the release itself.")
