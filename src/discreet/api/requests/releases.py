"""`releases`, `release` and `publish`: finished releases by their names."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar, Never

from discreet.api.requests.base import Request, param, request

if TYPE_CHECKING:
    from discreet.measurement.run_release import RunRelease


@request
class ReleasesRequest(Request["list[str]", Never]):
    """List the names of finished releases: your own and published ones; all of them for the data owner."""

    http_method: ClassVar[str] = "GET"
    http_path: ClassVar[str] = "/v1/releases"


@request
class ReleaseRequest(Request["RunRelease", Never]):
    """Load a release by its name: synthetic data, tables, a model or an evaluation. Nothing is spent."""

    http_method: ClassVar[str] = "GET"
    http_path: ClassVar[str] = "/v1/releases/{name}"

    name: str = param("As it was given.")


@request
class PublishRequest(Request[None, Never]):
    """Show a finished release to everybody, free, from now on. Only the data owner can do it, and it cannot be undone."""

    http_method: ClassVar[str] = "PUT"
    http_path: ClassVar[str] = "/v1/releases/{name}/published"

    name: str = param("As it was given.")
    _: KW_ONLY
    given_by: str | None = param("The analyst who gave it, if several did.", default=None)
